"""Extract facts in another process, so that text which crashes a parser costs the facts of one file.

A process that works ahead of requests also counts words.

This module is both ends: `Helper` starts the process and asks it, `main` is the process. It inherits the confinement of
the server, is given text and no path, and its answers are checked by `KeptFacts.check`.
"""

import os
import select
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, NamedTuple, cast

_FRAME = struct.Struct("<II")
_LENGTHS = struct.Struct("<II")
# Seconds between two looks at the deadline of a request.
_PAUSE = 0.05
MAX_ANSWER = 1 << 28
# With this flag a process takes little of the processor, and counts words.
_AHEAD = "--ahead"
# In isolated mode no module is imported from the current directory.
COMMAND = (sys.executable, "-I", "-m", "zeno.code.helper")
# A copy closes inherited pipes at its start, and files that it opens may get their numbers. A stream that is kept for
# as long as the copy lives never closes such a number.
_LEFT_TO_PARENT: list[object] = []


class Crashed(Exception):
    """The process ended, or sent something that is no answer."""


class TextFindings(NamedTuple):
    """The findings in one text, as bytes."""

    facts: bytes
    """As `kept_facts.encode` makes them."""
    words: bytes
    """As `word_table.encode_words` makes them, if the process works ahead."""


class Helper:
    """A process that extracts facts, one text at a time. Raises OSError if it cannot be started."""

    def __init__(self, *, ahead: bool = False) -> None:
        import subprocess

        command = [*COMMAND, *([_AHEAD] if ahead else [])]
        self._process: subprocess.Popen[bytes] = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        self._owner = os.getpid()
        self.descriptor: int = cast(BinaryIO, self._process.stdout).fileno()
        """Becomes readable when an answer begins."""

    @property
    def process_id(self) -> int:
        """The id of the process."""
        return self._process.pid

    def send(self, name: str, text: bytes) -> None:
        """Ask for the facts of a text in a file of this name. A process that has ended shows in its answer."""
        raw = name.encode(errors="replace")
        data = memoryview(_FRAME.pack(len(raw), len(text)) + raw + text)
        sink = cast(BinaryIO, self._process.stdin).fileno()
        with suppress(OSError):
            while data:
                data = data[os.write(sink, data) :]

    def receive(self, check: Callable[[], object]) -> TextFindings:
        """Return the answer, calling `check` while waiting, which may raise."""
        facts, words = _LENGTHS.unpack(self._read(_LENGTHS.size, check))
        if facts + words > MAX_ANSWER:
            raise Crashed
        return TextFindings(self._read(facts, check), self._read(words, check))

    def _read(self, size: int, check: Callable[[], object]) -> bytes:
        pieces = []
        while size:
            while not select.select([self.descriptor], [], [], _PAUSE)[0]:
                check()
            piece = os.read(self.descriptor, min(size, 1 << 20))
            if not piece:
                raise Crashed
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def close(self) -> None:
        """End the process. A forked copy only leaves it: it belongs to the parent."""
        if self._owner != os.getpid():
            _LEFT_TO_PARENT.append(self._process)
            return
        for stream in (self._process.stdin, self._process.stdout):
            cast(BinaryIO, stream).close()
        self._process.kill()
        self._process.wait()

    def __del__(self) -> None:
        """End the process of a table that was not closed."""
        if hasattr(self, "descriptor"):
            self.close()


def main() -> None:
    """Answer texts on standard input until it ends."""
    _end_with_parent()
    from zeno.code.extract import apply_rules, extract
    from zeno.code.kept_facts import encode
    from zeno.ranking.word_table import encode_words

    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while len(header := source.read(_FRAME.size)) == _FRAME.size:
        name_length, text_length = _FRAME.unpack(header)
        name = source.read(name_length).decode()
        text = source.read(text_length)
        try:
            data = encode(extract(name, text))
        except (MemoryError, RecursionError):
            data = encode(apply_rules(name, text))
        words = encode_words(text) if _AHEAD in sys.argv else b""
        sink.write(_LENGTHS.pack(len(data), len(words)) + data + words)
        sink.flush()


def _end_with_parent() -> None:
    """Leave no core file, take no terminal's interrupt, and end with the server even while parsing."""
    import ctypes
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _AHEAD in sys.argv:
        os.nice(10)
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if prctl := getattr(ctypes.CDLL(None), "prctl", None):
        prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


if __name__ == "__main__":
    main()
