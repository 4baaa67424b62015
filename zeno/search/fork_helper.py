"""Do one list of work with two processes, which start from both ends. Walking and searching a tree on disk takes half
as long.

Threads would not help, since only one of them runs Python at a time. A forked copy of this process works from the last
part of the list backwards and sends its results at its end. Parts without a result, because the copy failed or was
killed, are left to this process, so no answer depends on the copy.
"""

import marshal
import os
from collections.abc import Callable, Iterator
from typing import Any

from zeno.forked import Forked
from zeno.options import is_without

# Each part is one byte in a pipe; this many fit into the smallest pipe.
MAX_PARTS = 4096

PartialWork = Callable[[range], Any]
"""Does the items with these indexes and returns the result: lists, tuples, texts, numbers and None."""


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
        self._part = max(part, -(-count // MAX_PARTS))
        self._parts = -(-count // self._part)
        self._copy: Forked | None = None
        self._tickets = -1
        parent = os.getpid()

        def help_from_the_end() -> bytes:
            results: list[Any] = []
            while self._claim() and os.getppid() == parent:
                results.append(work(self._items(self._parts - 1 - len(results))))
            return marshal.dumps(results[::-1]) if sure() else b""

        try:
            self._tickets, tickets = os.pipe()
            # A process that reads a ticket has claimed a part: this one from the front, the other from the back.
            os.write(tickets, b"." * self._parts)
            os.close(tickets)
            self._copy = Forked(help_from_the_end, lasting=False)
        except OSError:
            self.close()

    def __enter__(self) -> "ForkHelper":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def results(self) -> Iterator[tuple[range, Any]]:
        """Yield each part, in order, with the other process's result; None if this process has to do it."""
        done = 0
        while done < self._parts and self._copy is not None and self._claim():
            yield self._items(done), None
            done += 1
        rest = self._parts - done
        sent = self._receive() if rest else []
        for number in range(rest):
            yield self._items(done + number), sent[number] if len(sent) == rest else None

    def close(self) -> None:
        """Kill the other process if it is still running."""
        if self._copy is not None:
            self._copy.close()
            self._copy = None
        if self._tickets >= 0:
            os.close(self._tickets)
            self._tickets = -1

    def _items(self, number: int) -> range:
        return range(number * self._part, min((number + 1) * self._part, self._count))

    def _claim(self) -> bool:
        return os.read(self._tickets, 1) != b""

    def _receive(self) -> list[Any]:
        """Return all results of the other process after it has ended; none if it failed."""
        data = self._copy.wait(None) if self._copy is not None else None
        try:
            sent: list[Any] = marshal.loads(data) if data else []  # noqa: S302 - from a copy of this process
        except (EOFError, ValueError, TypeError):
            return []
        return sent
