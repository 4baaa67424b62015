"""Time as the rest of the program sees it."""

import time


class Clock:
    """The real clock; tests bring their own."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()
