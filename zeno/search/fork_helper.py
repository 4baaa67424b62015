"""Do one list of work with two processes, which start from both ends. Walking and searching a tree on disk takes half
as long.

Threads would not help, since only one of them runs Python at a time. A forked copy of this process works from the last
part of the list backwards, sends its results through a pipe, and exits. Parts without a result, because the copy failed
or was killed, are left to this process, so no answer depends on the copy.

The copy runs the same code on the same open root, so it can open no more than this process can.
"""

import gc
import os
import signal
from collections.abc import Callable, Iterator
from typing import NoReturn

from zeno.options import is_without

# Each part is one byte in a pipe; this many fit into the smallest pipe.
MAX_PARTS = 4096
# Each result is sent behind its length, in so many bytes.
_LENGTH = 8

PartialWork = Callable[[range], bytes]
"""Does the items with these indexes and returns the result."""


def possible() -> bool:
    """Whether a forked copy can help: there is a second core, and no other thread, which the copy would lack."""
    if is_without("fork"):
        return False
    try:
        # Count threads as the system does: libraries may have threads that Python does not know of.
        return len(os.sched_getaffinity(0)) > 1 and len(os.listdir("/proc/self/task")) == 1
    except (AttributeError, OSError):
        return False


class ForkHelper:
    """A forked process that does some parts of a list while this one does the others. Has to be closed."""

    def __init__(self, count: int, work: PartialWork, part: int, sure: Callable[[], bool] = lambda: True) -> None:
        """Start the other process for `count` items. Each process claims at least `part` of them at a time.

        At its end the other process calls `sure` and sends nothing if that is False.
        """
        self._count = count
        self._sure = sure
        self._part = max(part, -(-count // MAX_PARTS))
        self._parts = -(-count // self._part)
        self._process = 0
        self._open: list[int] = []
        try:
            self._start(work)
        except OSError:
            self.close()

    def __enter__(self) -> "ForkHelper":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def results(self) -> Iterator[tuple[range, bytes | None]]:
        """Yield each part, in order, with the other process's result; None if this process has to do it."""
        done = 0
        while done < self._parts and self._process and self._claim():
            yield self._items(done), None
            done += 1
        rest = self._parts - done
        sent = self._receive() if rest and self._process else []
        for number in range(rest):
            yield self._items(done + number), sent[number] if len(sent) == rest else None

    def _items(self, number: int) -> range:
        return range(number * self._part, min((number + 1) * self._part, self._count))

    def close(self) -> None:
        """Kill the other process if it is still running."""
        if self._process:
            try:
                if os.waitpid(self._process, os.WNOHANG) == (0, 0):
                    os.kill(self._process, signal.SIGKILL)
                    os.waitpid(self._process, 0)
            except ChildProcessError:
                # With SIGCHLD ignored, the system reaps children by itself.
                pass
            self._process = 0
        while self._open:
            os.close(self._open.pop())

    def _start(self, work: PartialWork) -> None:
        self._tickets, tickets = os.pipe()
        self._open += [self._tickets, tickets]
        self._answer, answer = os.pipe()
        self._open += [self._answer, answer]
        # A process that reads a ticket has claimed a part: this one from the front, the other from the back.
        os.write(tickets, b"." * self._parts)
        self._close(tickets)
        parent = os.getpid()
        # Signals are blocked until the copy has reset this process's handlers.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            process = os.fork()
            if process == 0:
                self._help(work, answer, blocked, parent)
            self._process = process
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        self._close(answer)

    def _close(self, descriptor: int) -> None:
        self._open.remove(descriptor)
        os.close(descriptor)

    def _claim(self) -> bool:
        return os.read(self._tickets, 1) != b""

    def _receive(self) -> list[bytes]:
        """Return all results of the other process after it has ended; none if it failed."""
        pieces = [os.read(self._answer, 1 << 20)]
        while pieces[-1]:
            pieces.append(os.read(self._answer, 1 << 20))
        self.close()
        sent = b"".join(pieces)
        results, at = [], 0
        while at < len(sent):
            end = at + _LENGTH + int.from_bytes(sent[at : at + _LENGTH], "big")
            if end > len(sent):
                return []
            results.append(sent[at + _LENGTH : end])
            at = end
        return results

    def _help(self, work: PartialWork, answer: int, blocked: "set[signal.Signals | int]", parent: int) -> NoReturn:
        """Run in the other process: do parts from the last one on, send the results, exit. Never returns."""
        failed = 1
        try:
            signal.set_wakeup_fd(-1)
            for number in signal.valid_signals():
                if callable(signal.getsignal(number)):
                    signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            gc.disable()
            self._close(self._answer)
            results: list[bytes] = []
            while self._claim() and os.getppid() == parent:
                result = work(self._items(self._parts - 1 - len(results)))
                results.append(len(result).to_bytes(_LENGTH, "big") + result)
            unsent = memoryview(b"".join(reversed(results)) if self._sure() else b"")
            while unsent:
                unsent = unsent[os.write(answer, unsent) :]
            failed = 0
        finally:
            os._exit(failed)
