"""Two processes look through many files from both ends: a search of files that nobody holds takes half as long.

Threads would not help, since only one of them runs Python at a time. So a copy of this process looks through the files
from the last one backwards, sends one number for each through a pipe, and ends. It decides nothing: whoever asked reads
each file again that it does not rule out. What it does not tell, because it failed or was ended, this process looks at
itself, so that no answer depends on it.

The copy runs the same code on the same open root: it can reach no more than this process can.
"""

import gc
import os
import signal
from array import array
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import NoReturn

from zeno.options import is_without

# How many files one of the two takes at a time: few, so that neither waits long for the other in the end.
PART = 64
# Each part is a byte in a pipe, and this many fit into the smallest one.
MAX_PARTS = 4096

Look = Callable[[int], int]
"""Looks at the file with this index, and says in one number all there is to know."""


def possible() -> bool:
    """Whether a copy of this process can help: there is a core for it, and no thread that would be missing in it."""
    if is_without("fork"):
        return False
    try:
        # As the system counts threads: libraries may have some that Python knows nothing of.
        return len(os.sched_getaffinity(0)) > 1 and len(os.listdir("/proc/self/task")) == 1
    except (AttributeError, OSError):
        return False


class ForkHelper:
    """What another process says of some files while this one looks at the others. To be closed wherever one stops."""

    def __init__(self, count: int, look: Look, part: int = PART, sure: Callable[[], bool] = lambda: True) -> None:
        """Start the other process. At its end it asks `sure` whether what it says holds; if not, it says nothing."""
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

    def told(self) -> Iterator[int | None]:
        """For each file, in order, what the other process says of it; None where one has to look oneself."""
        rest = self._count
        while rest > 0 and self._process and self._claim():
            mine = min(self._part, rest)
            yield from repeat(None, mine)
            rest -= mine
        said = self._said() if rest > 0 and self._process else array("q")
        yield from said if len(said) == rest else repeat(None, rest)

    def close(self) -> None:
        """End the other process, if it has not ended yet."""
        if self._process:
            try:
                if os.waitpid(self._process, os.WNOHANG) == (0, 0):
                    os.kill(self._process, signal.SIGKILL)
                    os.waitpid(self._process, 0)
            except ChildProcessError:
                # Where nobody wants to know of ended children, the system forgets them by itself.
                pass
            self._process = 0
        while self._open:
            os.close(self._open.pop())

    def _start(self, look: Look) -> None:
        self._tickets, tickets = os.pipe()
        self._open += [self._tickets, tickets]
        self._answer, answer = os.pipe()
        self._open += [self._answer, answer]
        # Who takes a ticket takes a part, this process from the front, the other one from the back, until none is left.
        os.write(tickets, b"." * self._parts)
        self._close(tickets)
        parent = os.getpid()
        # No signal may find the copy with this process's handlers.
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

    def _said(self) -> "array[int]":
        """Everything that the other process said, once it has ended. One that failed said too little."""
        pieces = [os.read(self._answer, 1 << 20)]
        while pieces[-1]:
            pieces.append(os.read(self._answer, 1 << 20))
        self.close()
        said = b"".join(pieces)
        return array("q", said if len(said) % 8 == 0 else b"")

    def _help(self, look: Look, answer: int, blocked: "set[signal.Signals | int]", parent: int) -> NoReturn:
        """All that the other process ever does. It never returns into what this one was doing."""
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
