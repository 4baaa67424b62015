"""Scan many files with two processes, which start from both ends. A search of files on disk takes half as long.

Threads would not help, since only one of them runs Python at a time. A forked copy of this process scans the files from
the last one backwards, sends one number for each through a pipe, and exits. It only rules files out: the caller reads
the others again. Files without a number, because the copy failed or was killed, are scanned by this process, so no
answer depends on the copy.

The copy runs the same code on the same open root, so it can open no more than this process can.
"""

import gc
import os
import signal
from array import array
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import NoReturn

from zeno.options import is_without

# Number of files that a process claims at a time: small, so that neither waits long for the other at the end.
PART = 64
# Each part is one byte in a pipe; this many fit into the smallest pipe.
MAX_PARTS = 4096

Look = Callable[[int], int]
"""Scans the file with this index and returns the finding as one number."""


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
    """A forked process that scans some of the files while this one scans the others. Has to be closed."""

    def __init__(self, count: int, look: Look, part: int = PART, sure: Callable[[], bool] = lambda: True) -> None:
        """Start the other process for `count` files. At its end it calls `sure` and sends nothing if that is False."""
        self._count = count
        self._sure = sure
        self._part = max(part, -(-count // MAX_PARTS))
        self._parts = -(-count // self._part)
        self._process = 0
        self._open: list[int] = []
        try:
            self._start(look)
        except OSError:
            self.close()

    def __enter__(self) -> "ForkHelper":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def findings(self) -> Iterator[int | None]:
        """Yield for each file, in order, the other process's number; None if this process has to scan the file."""
        rest = self._count
        while rest > 0 and self._process and self._claim():
            mine = min(self._part, rest)
            yield from repeat(None, mine)
            rest -= mine
        said = self._received() if rest > 0 and self._process else array("q")
        yield from said if len(said) == rest else repeat(None, rest)

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

    def _start(self, look: Look) -> None:
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
                self._help(look, answer, blocked, parent)
            self._process = process
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        self._close(answer)

    def _close(self, descriptor: int) -> None:
        self._open.remove(descriptor)
        os.close(descriptor)

    def _claim(self) -> bool:
        return os.read(self._tickets, 1) != b""

    def _received(self) -> "array[int]":
        """Return all numbers of the other process after it has ended; fewer than expected if it failed."""
        pieces = [os.read(self._answer, 1 << 20)]
        while pieces[-1]:
            pieces.append(os.read(self._answer, 1 << 20))
        self.close()
        said = b"".join(pieces)
        return array("q", said if len(said) % 8 == 0 else b"")

    def _help(self, look: Look, answer: int, blocked: "set[signal.Signals | int]", parent: int) -> NoReturn:
        """Run in the other process: scan, send the numbers, exit. Never returns."""
        failed = 1
        try:
            signal.set_wakeup_fd(-1)
            for number in signal.valid_signals():
                if callable(signal.getsignal(number)):
                    signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            gc.disable()
            self._close(self._answer)
            end = self._parts * self._part
            found: list[array[int]] = []
            while self._claim() and os.getppid() == parent:
                end -= self._part
                found.append(array("q", map(look, range(end, min(end + self._part, self._count)))))
            said = memoryview(b"".join(map(array.tobytes, reversed(found))) if self._sure() else b"")
            while said:
                said = said[os.write(answer, said) :]
            failed = 0
        finally:
            os._exit(failed)
