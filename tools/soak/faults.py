"""Disturbances that a server must survive without a wrong answer."""

import os
import random
import signal
import socket
from collections.abc import Callable
from contextlib import suppress

from tools.soak.servers import Http, Stdio

_HEAD = b"POST /v1/jsonl HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/jsonl\r\n"
_QUESTION = b'{"id":"1","op":"grep","args":{"pattern":"a"}}\n'


class Faults:
    """One disturbance at a time, counted by name."""

    def __init__(self, stdio: Stdio, http: Http, chance: random.Random) -> None:
        self._stdio, self._http, self._chance = stdio, http, chance
        self._stuck: socket.socket | None = None
        self._kinds: list[Callable[[], None]] = [self.kill_helpers, self.stop_and_go, self.never_read, self.leave]
        self.counts = {kind.__name__: 0 for kind in self._kinds}
        self.killed = 0

    def one(self) -> None:
        """Disturb the servers in one way."""
        kind = self._chance.choice(self._kinds)
        kind()
        self.counts[kind.__name__] += 1

    def kill_helpers(self) -> None:
        """Kill the processes that compute the index."""
        for pid in [*self._stdio.helpers(), *self._http.helpers()]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                self.killed += 1

    def stop_and_go(self) -> None:
        """Stop a server and let it go on."""
        server = self._chance.choice([self._stdio, self._http])
        for number in (signal.SIGSTOP, signal.SIGCONT):
            os.kill(server.process.pid, number)

    def never_read(self) -> None:
        """Ask over HTTP and never read the answers; at most one such client at a time."""
        self.close()
        self._stuck = socket.create_connection(("127.0.0.1", self._http.port))
        body = _QUESTION * 20
        self._stuck.sendall(_HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def leave(self) -> None:
        """Leave in the middle of a body."""
        with socket.create_connection(("127.0.0.1", self._http.port)) as client:
            client.sendall(_HEAD + b"Content-Length: 1000\r\n\r\n" + _QUESTION)

    def close(self) -> None:
        """Let the client that never reads go."""
        if self._stuck is not None:
            self._stuck.close()
            self._stuck = None
