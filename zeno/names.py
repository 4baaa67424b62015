"""File names as clients see them: bytes of the file system to text and back, without loss, purely.

A byte that is no part of valid UTF-8 is printed as U+0000 and its two lower-case hexadecimal digits. No real name holds
a NUL, so no two names are printed alike.
"""

import re

from zeno.errors import InvalidArgs

_ESCAPE = re.compile("\0(?:([89a-f][0-9a-f]))?")
_LONE = re.compile("[\udc80-\udcff]")


def printed(name: bytes) -> str:
    """A name as results print it."""
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        text = name.decode("utf-8", "surrogateescape")
        return _LONE.sub(lambda found: f"\0{ord(found[0]) - 0xDC00:02x}", text)


def raw(path: str, field: str) -> bytes:
    """The bytes of a printed path; `field` names the argument in errors."""
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
    if printed(name) != path:
        raise InvalidArgs(f"{field} escapes bytes that are valid UTF-8; write those as they are")
    return name
