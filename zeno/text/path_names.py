"""Convert file names between the bytes of the file system and the text that clients see, without loss.

A byte that is not part of valid UTF-8 is printed as U+0000 and two lower-case hexadecimal digits. No file name
contains a NUL, so different names are printed differently.
"""

import hashlib
import os
import re
from collections.abc import Callable
from functools import cached_property

from zeno.errors import InvalidArgs
from zeno.text.symbols import language_of

_ESCAPE = re.compile("\0(?:([89a-f][0-9a-f]))?")
_LONE = re.compile("[\udc80-\udcff]")


def decode_name(name: bytes) -> str:
    """Return a name as results print it."""
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        text = name.decode("utf-8", "surrogateescape")
        return _LONE.sub(lambda found: f"\0{ord(found[0]) - 0xDC00:02x}", text)


def decode_entry(name: str) -> str:
    """Return a name as results print it, given as `os.scandir` decodes it."""
    return name if name.isascii() else decode_name(os.fsencode(name))


def decode_word(word: str) -> str:
    """Return a name as results print it, given as a command-line word with surrogates for bytes not in UTF-8."""
    return decode_name(os.fsencode(word)) if _LONE.search(word) else word


def raw(path: str, field: str) -> bytes:
    """Return the bytes of a printed path. Raises InvalidArgs, naming `field`, if no name is printed like that."""
    if "\0" not in path:
        try:
            return path.encode("utf-8")
        except UnicodeEncodeError:
            raise InvalidArgs(f"{field} holds half a surrogate pair; no printed name does") from None

    def byte(found: re.Match[str]) -> str:
        if found[1] is None:
            raise InvalidArgs(f"{field} holds a NUL that is no escaped byte; no file name does")
        return chr(0xDC00 + int(found[1], 16))

    name = _ESCAPE.sub(byte, path).encode("utf-8", "surrogateescape")
    if decode_name(name) != path:
        raise InvalidArgs(f"{field} escapes bytes that are valid UTF-8; write those as they are")
    return name


def is_hidden(path: str) -> bool:
    """Whether any component of a path begins with a dot."""
    return path.startswith(".") or "/." in path


class Paths(list[str]):
    """Printed paths in order, which can be searched as one text."""

    @cached_property
    def text(self) -> bytes | None:
        """The paths, each followed by a line feed; None if a path contains one."""
        text = "\n".join([*self, ""])
        return text.encode() if text.count("\n") == len(self) else None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the names as the file system has them, each followed by a NUL."""
        text = "\0".join([*self, ""])
        # No NUL but ours: no path has escaped bytes.
        if text.count("\0") == len(self):
            return hashlib.sha256(text.encode()).hexdigest()
        return hashlib.sha256(b"".join(raw(path, "path") + b"\0" for path in self)).hexdigest()

    @cached_property
    def of_no_language(self) -> int:
        """How many of the files are in no known language."""
        return sum(language_of(path) is None for path in self)

    def find(self, scan: Callable[[bytes, int, int], tuple[int, int]]) -> list[str]:
        """Return the paths in which the scan finds a match. `text` must not be None."""
        text = self.text
        assert text is not None  # noqa: S101 - checked by the caller
        found: list[str] = []
        position, end = 0, len(text)
        while position < end:
            start = scan(text, position, end)[0]
            if start < 0 or start >= end:
                break
            stop = text.index(b"\n", start)
            found.append(text[text.rfind(b"\n", position, start) + 1 or position : stop].decode())
            position = stop + 1
        return found
