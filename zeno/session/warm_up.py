"""When a server does its background work: imports, models, and the corpus's cache.

All of it is done in small slices between requests. While a client never pauses there are no idle moments, so a server
that is not warm yet also works after each answer, as long as that answer took: the client waits at most twice as long,
and only until everything is prepared.
"""

import time
from collections.abc import Callable, Iterable
from typing import Protocol

from zeno.errors import lacks_descriptor

# Seconds of one slice of idle work: the longest that a request waits for it.
SLICE = 0.002
# Upper limit for the background work after an answer, because other requests wait for it.
MAX_SLICE = 0.5


class Work(Protocol):
    """Background work in steps of a few milliseconds."""

    @property
    def has_pending_work(self) -> bool:
        """Whether there is work to do."""
        ...

    def idle(self) -> bool:
        """Do one step of it; return False when nothing is left."""
        ...


class WarmUp:
    """Runs some steps once, then the work of a corpus and of its commits whenever there is any."""

    def __init__(self, steps: Iterable[Callable[[], object]], *work: Work) -> None:
        """Take the kinds of work, the most urgent first."""
        self._steps = list(steps)[::-1]
        self._work = work
        self.owed = 0.0
        """Seconds that answers took since work was last done."""

    def catch_up(self) -> None:
        """Do the work that is owed, if there is any to do."""
        if self.owed > SLICE and (self._steps or any(work.has_pending_work for work in self._work)):
            self.run()

    def run(self) -> bool:
        """Work for one slice, and for as long as is owed; return False when nothing is left."""
        until = time.monotonic() + max(SLICE, min(self.owed, MAX_SLICE))
        self.owed = 0.0
        while self._step():
            if time.monotonic() >= until:
                return True
        return False

    def _step(self) -> bool:
        try:
            if not self._steps:
                return any(work.idle() for work in self._work)
            self._steps[-1]()
        except Exception as error:
            # An import fails in its own words where no descriptor is left.
            if lacks_descriptor(error):
                return False  # until the next idle moment
            raise
        self._steps.pop()
        return True
