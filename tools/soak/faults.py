"""Disturbances that a server must survive without a wrong answer."""

import errno
import os
import random
import resource
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tools.soak.odd_server import OddServer
from tools.soak.servers import Answer, Http, Question, Server, Stdio

_HEAD = b"POST /v1/jsonl HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/jsonl\r\n"
_QUESTION = b'{"id":"1","op":"grep","args":{"pattern":"a"}}\n'
_UNREAD = 20
_HELPERS_START_WITHIN = 2.0
# A request event of a trace is longer than this.
_ROOM = 60

KINDS = (
    *("kill_helpers", "stop_and_go", "never_read", "leave", "full_log", "full_disk", "few_descriptors"),
    *("restart", "set_clock"),
)
"""The disturbances: methods of `Faults`."""


class Faults:
    """One disturbance at a time, counted by name. Failures are kept in `wrong`."""

    def __init__(
        self,
        servers: dict[str, Server],
        http: Http,
        odd: OddServer,
        logs: dict[str, Path],
        rewrite: Callable[[], None],
        chance: random.Random,
    ) -> None:
        self._servers, self._http, self._odd, self._logs = servers, http, odd, logs
        self._rewrite, self._chance = rewrite, chance
        self._stuck: socket.socket | None = None
        # Without libfaketime setting the clock would change nothing, and must not be counted.
        self.counts = dict.fromkeys((kind for kind in KINDS if kind != "set_clock" or odd.has_clock), 0)
        self.killed = 0
        self.wrong: list[str] = []

    @property
    def left(self) -> int:
        """Return the number of requests whose clients left."""
        return self.counts["never_read"] * _UNREAD + self.counts["leave"]

    def one(self, question: Question, expected: Answer) -> None:
        """Disturb the servers in one way. Some disturbances ask the question, whose answer should be `expected`."""
        kind = self._chance.choice(list(self.counts))
        getattr(self, kind)(question, expected)
        self.counts[kind] += 1

    def kill_helpers(self, _question: Question, _expected: Answer) -> None:
        """Change enough text to have the index computed again, and kill the processes that compute it."""
        self._rewrite()
        # A server looks for changes when it is asked.
        for server in self._servers.values():
            server.ask([("grep", {"pattern": "needle", "max_hits": 1})])
        until = time.monotonic() + _HELPERS_START_WITHIN
        waiting = list(self._servers.values())
        while waiting and time.monotonic() < until:
            for server in list(waiting):
                for pid in server.seen.helpers():
                    waiting = [other for other in waiting if other is not server]
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                        self.killed += 1
            time.sleep(0.01)

    def stop_and_go(self, _question: Question, _expected: Answer) -> None:
        """Stop a server and let it go on."""
        server = self._chance.choice(list(self._servers.values()))
        for number in (signal.SIGSTOP, signal.SIGCONT):
            os.kill(server.seen.pid, number)

    def never_read(self, _question: Question, _expected: Answer) -> None:
        """Ask over HTTP and never read the answers; at most one such client at a time."""
        self.close()
        self._stuck = socket.create_connection(("127.0.0.1", self._http.port))
        body = _QUESTION * _UNREAD
        self._stuck.sendall(_HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def leave(self, _question: Question, _expected: Answer) -> None:
        """Leave in the middle of a body."""
        with socket.create_connection(("127.0.0.1", self._http.port)) as client:
            client.sendall(_HEAD + b"Content-Length: 1000\r\n\r\n" + _QUESTION)

    def full_log(self, question: Question, _expected: Answer) -> None:
        """Let the log of a running server grow no further, at times in the middle of a line, for one request."""
        name, server = self._some()
        size = self._logs[name].stat().st_size + self._chance.choice((0, _ROOM))
        with _limit(server.seen.pid, resource.RLIMIT_FSIZE, size):
            self._must_be(name, question, server.ask([question])[0], {"code": "trace_failed"})

    def full_disk(self, question: Question, _expected: Answer) -> None:
        """Start a server whose log is a device without room (ENOSPC)."""
        server = Stdio(Path(__file__).parent, "--log", "/dev/full")
        self._must_be("/dev/full", question, server.ask([question])[0], {"code": "trace_failed"})
        server.close()

    def few_descriptors(self, question: Question, expected: Answer) -> None:
        """Leave a server none to three descriptors for one request: the answer is right, or says what it lacks."""
        name, server = self._some()
        number = server.seen.cost().descriptors + self._chance.randrange(4)
        with _limit(server.seen.pid, resource.RLIMIT_NOFILE, number):
            answer = server.ask([question])[0]
        if not _tells_what_it_lacks(answer):
            self._must_be(f"{name} with {number} descriptors", question, answer, expected)

    def restart(self, _question: Question, _expected: Answer) -> None:
        """Restart the odd server."""
        self._odd.restart()

    def set_clock(self, _question: Question, _expected: Answer) -> None:
        """Set the clock of the odd server."""
        self._odd.set_clock()

    def close(self) -> None:
        """Let the client that never reads go."""
        if self._stuck is not None:
            self._stuck.close()
            self._stuck = None

    def _some(self) -> tuple[str, Server]:
        name = self._chance.choice(sorted(self._logs))
        return name, self._servers[name]

    def _must_be(self, where: str, question: Question, answer: Answer, right: Answer) -> None:
        if answer != right:
            self.wrong.append(f"{where}: {question}: {str(answer)[:1500]} instead of {str(right)[:1500]}")


def _tells_what_it_lacks(answer: Answer) -> bool:
    if answer.get("complete") is False or answer.get("code") == "permission_denied":
        return True
    not_counted = any(directory["files_not_counted"] for directory in answer.get("tree", ()))
    return not_counted or os.strerror(errno.EMFILE) in str(answer)


@contextmanager
def _limit(pid: int, kind: int, soft: int) -> Iterator[None]:
    """Lower a soft limit of another process for a while."""
    before = resource.prlimit(pid, kind)
    resource.prlimit(pid, kind, (soft, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, kind, before)
