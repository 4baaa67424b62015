"""Files without a watch that changed too recently to be cached, and when each can be read again."""

import time

from zeno.cache.text_store import CachedFile
from zeno.files.batch_open import SETTLED

# A step of background work takes a few milliseconds.
AT_ONCE = 256


class Unsettled:
    """Files to be read again once their change times are settled."""

    def __init__(self) -> None:
        self._files: dict[CachedFile, int] = {}
        """When to read each again, in nanoseconds of the monotonic clock. The first added comes first."""

    def add(self, entry: CachedFile) -> None:
        """Add a file that changed recently."""
        self._files.pop(entry, None)
        self._files[entry] = time.monotonic_ns() + SETTLED

    @property
    def is_due(self) -> bool:
        """Whether some files can be read again now."""
        return bool(self._files) and next(iter(self._files.values())) <= time.monotonic_ns()

    def due(self) -> list[CachedFile]:
        """Remove and return some of the files that can be read again now."""
        found: list[CachedFile] = []
        while self.is_due and len(found) < AT_ONCE:
            entry = next(iter(self._files))
            del self._files[entry]
            found.append(entry)
        return found
