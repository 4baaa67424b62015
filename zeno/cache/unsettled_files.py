"""Files that changed too recently to be held without a watch, until they may be."""

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
        """Take a file that changed just now, or not long ago."""
        self._files.pop(entry, None)
        self._files[entry] = time.monotonic_ns() + SETTLED

    @property
    def is_due(self) -> bool:
        """Whether some may be read again now."""
        return bool(self._files) and next(iter(self._files.values())) <= time.monotonic_ns()

    def due(self) -> list[CachedFile]:
        """Remove and return files that may be read again, some of them at a time."""
        found: list[CachedFile] = []
        while self.is_due and len(found) < AT_ONCE:
            entry = next(iter(self._files))
            del self._files[entry]
            found.append(entry)
        return found
