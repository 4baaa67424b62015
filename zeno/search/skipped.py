"""The reasons why a file that a request selects is not searched, and how many files each concerns."""

from collections import Counter
from typing import Literal

SkipReason = Literal["binary", "large", "unreadable"]

Skipped = Counter[SkipReason]
"""Numbers of files by reason. A search adds to it until it has been iterated to its end."""
