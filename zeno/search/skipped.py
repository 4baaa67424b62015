"""The files that a request selects and that cannot be searched: how many for each reason, and some of their names."""

from collections import Counter
from typing import Literal

SkipReason = Literal["binary", "large", "unreadable"]

MAX_NAMED = 5
"""How many files a result names."""
# Names are sorted and cut when so many have come together.
_ROOM = 256


class Skipped(Counter[SkipReason]):
    """Numbers of files by reason. A search adds to it until it has been iterated to its end."""

    def __init__(self) -> None:
        super().__init__()
        self._named: list[tuple[str, SkipReason]] = []

    def add(self, path: str, reason: SkipReason) -> None:
        """Count a file."""
        self[reason] += 1
        # A binary file has no lines: that it was not searched is no gap.
        if reason != "binary":
            self._named.append((path, reason))
            if len(self._named) > _ROOM:
                self._named = self.named

    def add_all(self, others: "Skipped", prefix: str = "") -> None:
        """Count files that were counted elsewhere, with a prefix before their paths."""
        self.update(others)
        self._named += [(prefix + path, reason) for path, reason in others._named]

    @property
    def named(self) -> list[tuple[str, SkipReason]]:
        """The first files that make an answer incomplete, sorted by path, with their reasons."""
        return sorted(self._named)[:MAX_NAMED]
