"""What one operation costs: time, bytes, files, lines, and how much text its answer holds so far."""

import time
from collections.abc import Callable

from contract_models.zeno.metrics import Metrics

from zeno.errors import ResponseTooLarge
from zeno.options import Terms

Clock = Callable[[], float]


class Meter:
    """Counts for one request, on the terms of its session. The clock is a parameter, so that tests can stop it."""

    def __init__(self, clock: Clock = time.monotonic, terms: Terms | None = None) -> None:
        self._clock = clock
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
