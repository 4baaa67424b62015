"""Measure one operation: time, bytes, files, lines, and the size of its answer so far."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import contract_spec as spec
from contract_models.zeno.metrics import Metrics

from zeno.errors import Cancelled, FileTooLarge, ResponseTooLarge
from zeno.options import Options

Clock = Callable[[], float]
T = TypeVar("T")
Scan = Callable[[bytes | bytearray, int, int], tuple[int, int]]
"""Takes a text and a range; returns start and end of the first match in it, or (-1, -1)."""

# Counting the lines of this many bytes takes about ten milliseconds.
MUCH_TEXT = 8 << 20
# States of a pattern times bytes of text that one call of RE2, which cannot be interrupted, may have in the process
# that serves others: up to 11 ns were measured for each.
MUCH_WORK = 1 << 22
# Seconds between two looks whether the client is still there, each a system call.
LOOK_AFTER = 0.1


class Overrun(Exception):
    """An operation has used up its time in this process. Its work is discarded."""


class Meter:
    """Counts for one request, under the limits of its session. The clock is a parameter, for tests.

    `patience` returns the seconds that the operation may take at this moment; without it there is no limit. `movable`:
    whether an operation that takes longer can go on in another process. `abandoned`: whether the client has left.
    """

    def __init__(
        self,
        clock: Clock = time.monotonic,
        options: Options | None = None,
        patience: Callable[[], float] | None = None,
        *,
        movable: bool = True,
        abandoned: Callable[[], bool] | None = None,
    ) -> None:
        self._clock = clock
        self._patience = patience
        self._movable = movable
        self._abandoned = abandoned
        self._start = self._looked = clock()
        self.options = options or Options()
        self._room = self.options.max_response_bytes
        self.bytes_read = 0
        self.files_scanned = 0
        self.lines = 0
        self._to_scan = 0

    def count_file(self, size: int, files: int = 1) -> None:
        """Count a file, or several, and the bytes that were read of them."""
        self.files_scanned += files
        self.bytes_read += size
        self.check()

    def check(self) -> None:
        """Raise `Overrun` if the operation has taken too long, `Cancelled` if its client has left.

        Loops call it where they can be left safely.
        """
        if self._patience is not None and self._clock() - self._start > self._patience():
            raise Overrun
        if self._abandoned is not None and (now := self._clock()) - self._looked > LOOK_AFTER:
            self._looked = now
            if self._abandoned():
                raise Cancelled

    def expect(self, size: int) -> None:
        """Raise `Overrun` if another process should go through this many bytes of text."""
        if self._patience is not None and self._movable and size > MUCH_TEXT:
            raise Overrun

    def expect_walk(self) -> None:
        """Raise `Overrun` if another process should walk the tree."""
        if self._patience is not None and self._movable:
            raise Overrun

    def expect_work(self, work: int) -> None:
        """Raise `Overrun` if another process should do this work: states of a pattern times bytes, in one call."""
        self.check()
        if work > MUCH_WORK and self._patience is not None and self._movable:
            raise Overrun

    def charge_bytes(self, path: str, size: int, instead: str) -> None:
        """Count bytes of a file that the operation is about to go through. Raises FileTooLarge beyond the limit."""
        before, self._to_scan = self._to_scan, self._to_scan + size
        limit = self.options.max_scan_bytes or spec.resource("rules/request_limits.json")["max_scan_bytes"]
        if self._to_scan > limit:
            raise FileTooLarge(path, size, limit, instead, before)

    def finish(self) -> None:
        """Raise `Overrun` if the operation is done, but too late, and no other process can do it sooner."""
        if not self._movable:
            self.check()

    def guard(self, function: Callable[[bytes], T], states: int = 1) -> Callable[[bytes], T]:
        """Return a test of texts by a pattern of so many states, with a check for each MUCH_WORK: for loops that only
        call it."""
        if self._patience is None:
            return function
        # A call costs as much as some thousand states.
        work, each = 0, MUCH_WORK >> 6

        def check_and_call(text: bytes) -> T:
            nonlocal work
            own = states * len(text)
            work += own + each
            if work > MUCH_WORK:
                work = 0
                self.expect_work(own)
            return function(text)

        return check_and_call

    def guard_scan(self, scan: Scan | None, states: int) -> Scan | None:
        """Return a scan by a pattern of so many states that goes through a text in pieces of whole lines.

        One call of RE2 cannot be interrupted. Between two pieces there is a check; a line that is too long for one call
        in the process that serves others is left to another process.
        """
        if scan is None or self._patience is None:
            return scan
        piece = max(1, MUCH_WORK // max(1, states))

        def scan_pieces(text: bytes | bytearray, start: int, end: int) -> tuple[int, int]:
            found = (-1, -1)
            while found[0] < 0 and start < end:
                stop = text.find(b"\n", start + piece, end) + 1 or end if start + piece < end else end
                # Whole lines: a piece is longer by the rest of its last line.
                self.expect_work(states * max(0, stop - start - piece))
                found, start = scan(text, start, stop), stop
            return found

        return scan_pieces

    def check_each(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items, with a check before each."""
        for item in items:
            self.check()
            yield item

    def can_charge_text(self, size: int) -> bool:
        """Whether the answer has room for that many more bytes of text."""
        return size <= self._room

    def charge_text(self, size: int) -> None:
        """Count bytes of text in the answer. Raises ResponseTooLarge as soon as the answer cannot fit any more."""
        self._room -= size
        if self._room < 0:
            raise ResponseTooLarge("the answer holds more text than a response may")

    def charge_lines(self, lines: int) -> None:
        """Count lines of files in the answer."""
        self.lines += lines

    def stop(self, **counts: int) -> Metrics:
        """Return the metrics of the result, with those that only some operations count."""
        elapsed = max(0, int((self._clock() - self._start) * 1000))
        return Metrics(time_ms=elapsed, bytes_read=self.bytes_read, files_scanned=self.files_scanned, **counts)
