"""Progress of a run and the estimated time left, on a terminal only."""

import time
from collections.abc import Callable
from typing import TextIO


class CallProgress:
    """Counts files as they are done. Answers of earlier runs do not enter the estimate."""

    def __init__(self, of: int, done: int, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._of = of
        self._before = self._done = done
        self._without = 0
        self._stream = stream
        self._clock = clock
        self._begun = clock()
        self._shown = stream.isatty()

    def step(self, *, usable: bool) -> None:
        """One more file is done."""
        self._done += 1
        self._without += not usable
        self.show()

    def show(self) -> None:
        """Draw the line anew."""
        if self._shown:
            self._stream.write(f"\r\033[K{self.line()}")
            self._stream.flush()

    def say(self, text: str) -> None:
        """Print a line that stays, also if standard error is no terminal."""
        self.close()
        self._stream.write(f"{text}\n")
        self._stream.flush()
        self.show()

    def line(self) -> str:
        """The text of the progress line."""
        parts = [f"{self._done} of {self._of} judged"]
        if self._without:
            parts.append(f"{self._without} without a usable reply")
        made = self._done - self._before
        if made and self._done < self._of:
            left = (self._clock() - self._begun) / made * (self._of - self._done)
            parts.append(f"about {duration(left)} left")
        return ", ".join(parts)

    def close(self) -> None:
        """Clear the line."""
        if self._shown:
            self._stream.write("\r\033[K")
            self._stream.flush()


def duration(seconds: float) -> str:
    """Return a time span in seconds, minutes, or hours and minutes."""
    whole = round(seconds)
    if whole < 100:
        return f"{whole} s"
    if whole < 5400:
        return f"{round(whole / 60)} min"
    minutes = round(whole / 60)
    return f"{minutes // 60} h {minutes % 60} min"
