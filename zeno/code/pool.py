"""Helper processes that parse texts side by side. Each has one text at a time."""

import os
import select
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import NamedTuple, Protocol

from zeno.code.helper import Crashed, Helper, TextFindings

PROCESSES = 2
# Processes that may end on a text before it is given up. One may be killed for want of memory.
ATTEMPTS = 2
# With so many texts, or so many bytes of text, a second process is worth its start.
MIN_SHARED = 8
MIN_SHARED_BYTES = 1 << 18
# Seconds that a text may take in idle moments. A request for it has its own limit.
MAX_IDLE_SECONDS = 20.0
# Seconds between two looks at the deadline of a request.
PAUSE = 0.05


class Holder(Protocol):
    """Holds a text in memory, which stays as it is."""

    words: int
    """The number of the text among those whose words are kept."""
    digest: bytes
    """The digest of the text; empty until someone asked for it."""


class SourceText:
    """The text of a file in normal form."""

    __slots__ = ("_source", "holder", "path")

    def __init__(self, path: str, source: bytes | Callable[[], bytes], holder: Holder | None = None) -> None:
        """Take the text, or a function that returns it: mostly its facts are known, and nothing reads it."""
        self.path = path
        self._source = source
        self.holder = holder

    @property
    def text(self) -> bytes:
        """The text."""
        return self._source if isinstance(self._source, bytes) else self._source()

    @property
    def digest(self) -> bytes:
        """The digest of the text, computed once for each holder."""
        if self.holder is None:
            return _digest(self.text)
        if not self.holder.digest:
            self.holder.digest = _digest(self.text)
        return self.holder.digest


def _digest(text: bytes) -> bytes:
    # Many processors have instructions for this one: it is the fastest that no two texts are known to share.
    return sha256(text).digest()


class _Task(NamedTuple):
    helper: Helper
    place: int
    file: SourceText
    started: float


class Pool:
    """Some processes, started when they are needed. `close` ends them."""

    def __init__(self, *, ahead: bool = False) -> None:
        self._ahead = ahead
        self._owner = os.getpid()
        self._free: list[Helper] = []
        self._busy: dict[int, _Task] = {}
        """By descriptor."""

    def parse(self, files: Sequence[SourceText], check: Callable[[], object]) -> list[TextFindings | None]:
        """Return the answer about each text; None where processes ended on it, or none could be started.

        `check` is called while waiting, and may raise: then the processes at work are killed.
        """
        self._forget_others()
        answers: list[TextFindings | None] = [None] * len(files)
        attempts = [ATTEMPTS] * len(files)
        sizes = [len(file.text) for file in files]
        waiting = list(range(len(files)))[::-1]
        try:
            while waiting or self._busy:
                while self._can_start(len(waiting), sum(sizes[index] for index in waiting)):
                    index = waiting.pop()
                    self._start(files[index], index)
                for task in self._ready(PAUSE) if self._busy else ():
                    answers[task.place] = self._answer(task, check)
                    attempts[task.place] -= 1
                    if answers[task.place] is None and attempts[task.place]:
                        waiting.append(task.place)
                check()
        finally:
            self._kill_busy()
        return answers

    def parse_ahead(self, files: list[SourceText]) -> tuple[list[tuple[SourceText, TextFindings]], bool]:
        """Collect answers, and give free processes texts from the end of the list. Also returns whether any is at work.

        Waits two milliseconds for an answer if there is nothing to give, or no process to give it to: asking again at
        once would take a processor.
        """
        self._forget_others()
        done = []
        for task in self._ready(0 if self._can_start(len(files)) else 0.002):
            if (answer := self._answer(task, lambda: None)) is not None:
                done.append((task.file, answer))
        now = time.monotonic()
        for descriptor, task in list(self._busy.items()):
            if now - task.started > MAX_IDLE_SECONDS:
                del self._busy[descriptor]
                task.helper.close()
        while self._can_start(len(files)) and self._start(files.pop(), 0):
            pass
        return done, bool(self._busy)

    def _can_start(self, texts: int, size: int = 0) -> bool:
        """Whether to give another process one of so many texts, of this size together.

        A process takes as long to start as to parse some texts.
        """
        if not self._busy or not texts:
            return texts > 0
        enough = bool(self._free) or texts > MIN_SHARED or size > MIN_SHARED_BYTES
        return enough and len(self._busy) < PROCESSES

    def close(self) -> None:
        """End the processes."""
        self._forget_others()
        self._kill_busy()
        self._close_free()

    def _start(self, file: SourceText, index: int) -> bool:
        """Give a text to a process, a new one if none is free; return False if none can be started."""
        try:
            helper = self._free.pop() if self._free else Helper(ahead=self._ahead)
        except OSError:
            return False
        self._busy[helper.descriptor] = _Task(helper, index, file, time.monotonic())
        helper.send(file.path.rpartition("/")[2], file.text)
        return True

    def _ready(self, seconds: float) -> list[_Task]:
        """Return the tasks whose answers have begun, waiting for one that long."""
        if not self._busy:
            return []
        readable = select.select(list(self._busy), [], [], seconds)[0]
        return [self._busy[descriptor] for descriptor in readable]

    def _answer(self, task: _Task, check: Callable[[], object]) -> TextFindings | None:
        """Return the answer of a process; None if it ended."""
        try:
            answer = task.helper.receive(check)
        except Crashed:
            del self._busy[task.helper.descriptor]
            task.helper.close()
            # Idle ones may have been killed as well: another attempt is made with a new process.
            self._close_free()
            return None
        del self._busy[task.helper.descriptor]
        self._free.append(task.helper)
        return answer

    def _kill_busy(self) -> None:
        while self._busy:
            self._busy.popitem()[1].helper.close()

    def _close_free(self) -> None:
        while self._free:
            self._free.pop().close()

    def _forget_others(self) -> None:
        """In a forked copy, leave the processes to the parent: answers would mix."""
        if self._owner != os.getpid():
            self._owner = os.getpid()
            self._free, self._busy = [], {}
