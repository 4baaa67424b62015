"""Measure one operation: time, bytes, files, lines, and the size of its answer so far."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from contract_models.zeno.metrics import Metrics

from zeno.errors import ResponseTooLarge
from zeno.options import Terms

Clock = Callable[[], float]
T = TypeVar("T")
A = TypeVar("A")

# Text whose lines are counted in some ten milliseconds.
MUCH_TEXT = 8 << 20


class Overrun(Exception):
    """An operation has taken longer than it may in this process. Nothing of its work is kept."""


class Meter:
    """Counts for one request, on the terms of its session. The clock is a parameter, so that tests can stop it.

    `patience` returns the seconds that the operation may take at this moment; without it there is no limit.
    """

    def __init__(
        self,
        clock: Clock = time.monotonic,
        terms: Terms | None = None,
        patience: Callable[[], float] | None = None,
    ) -> None:
        self._clock = clock
        self._patience = patience
        self._start = clock()
        self.terms = terms or Terms()
        self._room = self.terms.max_response_bytes
        self.bytes_read = 0
        self.files_scanned = 0
        self.lines = 0

    def scanned(self, size: int) -> None:
        """A file was looked at, and so many of its bytes were read."""
        self.files_scanned += 1
        self.bytes_read += size
        self.check()

    def check(self) -> None:
        """Raise `Overrun` if the operation has taken too long. Loops call it where they can be left safely."""
        if self._patience is not None and self._clock() - self._start > self._patience():
            raise Overrun

    def expect(self, size: int) -> None:
        """Raise `Overrun` if so many bytes of text are too many to go through in this process."""
        if self._patience is not None and size > MUCH_TEXT:
            raise Overrun

    def guard(self, function: Callable[[A], T]) -> Callable[[A], T]:
        """Return the function with a check at every 64th call: for loops that only call it."""
        if self._patience is None:
            return function
        calls = 0

        def guarded(argument: A) -> T:
            nonlocal calls
            calls += 1
            if not calls & 63:
                self.check()
            return function(argument)

        return guarded

    def checked(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items, with a check before each."""
        for item in items:
            self.check()
            yield item

    def keep(self, size: int) -> None:
        """So many bytes of text go into the answer: stop as soon as it cannot fit any more, not when memory is full."""
        self._room -= size
        if self._room < 0:
            raise ResponseTooLarge("the answer holds more text than a response may")

    def returned(self, lines: int) -> None:
        """So many lines of files are in the answer."""
        self.lines += lines

    def stop(self, **counts: int) -> Metrics:
        """The metrics of the result, with what only some operations count."""
        elapsed = max(0, int((self._clock() - self._start) * 1000))
        return Metrics(time_ms=elapsed, bytes_read=self.bytes_read, files_scanned=self.files_scanned, **counts)
