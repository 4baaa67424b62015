"""Streams of request lines, which may be silent for any time: when there are too many, a silent one is ended.

It is one of the address that has the most, and there the one that was silent longest.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from starlette.exceptions import HTTPException

MAX_STREAMS = 256


@dataclass(slots=True, eq=False)
class Stream:
    """One stream that is open."""

    address: str
    end: Callable[[], None]
    """Ends it."""
    silent_since: float | None
    """When its last line was answered; None while one is being answered."""


class Streams:
    """The streams that are open."""

    def __init__(self, limit: int = MAX_STREAMS, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._open: set[Stream] = set()
        self._is_closed = False

    @contextmanager
    def register(self, address: str, end: Callable[[], None]) -> Iterator[Stream]:
        """Count a stream while the block runs; `end` may be called meanwhile. Raises HTTPException if none is silent
        and there are too many."""
        if len(self._open) >= self._limit:
            self._end_one()
        stream = Stream(address, end, self._clock())
        self._open.add(stream)
        if self._is_closed:
            end()
        try:
            yield stream
        finally:
            self._open.discard(stream)

    @contextmanager
    def answer(self, stream: Stream) -> Iterator[None]:
        """Leave a stream alone while one of its lines is answered."""
        stream.silent_since = None
        try:
            yield
        finally:
            stream.silent_since = self._clock()
            if self._is_closed:
                stream.end()

    def close(self) -> None:
        """End every stream: a silent one now, the others when their line is answered."""
        self._is_closed = True
        for stream in self._open:
            if stream.silent_since is not None:
                stream.end()

    def _end_one(self) -> None:
        silent = [one for one in self._open if one.silent_since is not None]
        if not silent:
            raise HTTPException(503, "too many streams are open; close one, or send requests to /v1/ops")
        numbers = Counter(one.address for one in self._open)
        ended = min(silent, key=lambda one: (-numbers[one.address], one.silent_since))
        self._open.discard(ended)
        ended.end()
