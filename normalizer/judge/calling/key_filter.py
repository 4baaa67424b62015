"""Cut the API key out of everything that an endpoint sends back, before any of it is kept or shown.

An endpoint may repeat the key as JSON escapes (`\\/`, `\\u002f`), escaped several times, percent-encoded, as HTML
entities, in Base64 or as hexadecimal digits: all of these are cut out. Content in which the key still appears once its
JSON strings are decoded, once it is read as UTF-16 or UTF-32, or once it is unpacked is refused. An endpoint that
disguises the key on purpose in another way is not noticed.
"""

import base64
import html
import json
import re
import zlib
from typing import Any
from urllib.parse import unquote

HIDDEN = "[key]"
_LONGEST = 16
"""Bytes that one character of the key may take in an encoding that is cut out."""


_BASE64 = {"+": "[+-]", "/": r"(?:\\*/|_|%2[Ff])"}
"""Characters that are written otherwise in URLs and in JSON."""


_SHORT = 8
"""Shorter keys are not cut out in Base64: ordinary text would match the few characters that are certain."""


_WRAPPINGS = 4
_UNPACKED = 1 << 24
"""How often content is unpacked to look for the key, and the bytes that are looked at each time."""


class KeyRepeated(Exception):
    """The content repeats the key in a form that cannot be cut out."""


class KeyFilter:
    """Removes one key from bytes and texts. An empty key removes nothing."""

    def __init__(self, key: str) -> None:
        self._key = key
        spelled = "".join(map(_any_spelling, key))
        self._pattern = re.compile("|".join([spelled, *_as_a_whole(key)]).encode()) if key else None

    @property
    def margin(self) -> int:
        """Length of the longest spelling of the key. Read this many bytes beyond a limit before cutting there."""
        return len(self._key) * _LONGEST

    def clean(self, data: bytes) -> bytes:
        """The content without the key. Raises KeyRepeated if it still has it when decoded."""
        if self._pattern is None:
            return data
        cleaned = self._pattern.sub(HIDDEN.encode(), data)
        if any(self._key in text for text in _decoded(cleaned)):
            raise KeyRepeated
        for content in _unwrapped(cleaned):
            if self._pattern.search(content) or any(self._key in text for text in _decoded(content)):
                raise KeyRepeated
        return cleaned

    def text(self, text: str) -> str:
        """A message without the key, or only a note that it repeats the key."""
        try:
            return self.clean(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")
        except KeyRepeated:
            return f"(a message that repeats the key: {HIDDEN})"


def _any_spelling(char: str) -> str:
    code = ord(char)
    return (
        rf"(?:\\*{re.escape(char)}|\\+u00(?i:{code:02x})|%(?:25)*(?i:{code:02x})|&#0*{code};|&#(?i:x)0*(?i:{code:x});)"
    )


def _as_a_whole(key: str) -> list[str]:
    """Patterns of the key in hexadecimal digits and in Base64, whatever stands before it in the encoded text."""
    data = key.encode()
    if len(data) < _SHORT:
        return []
    patterns = [f"(?i:{data.hex()})"]
    for before in range(3):
        # Six bits make a character: leave out those that also hold bits of the text before or after the key.
        whole = base64.b64encode(b"\0" * before + data).decode()
        first, last = (before * 8 + 5) // 6, (before + len(data)) * 8 // 6
        patterns.append("".join(_BASE64.get(char, char) for char in whole[first:last]))
    return patterns


def _unwrapped(data: bytes) -> list[bytes]:
    """The content unpacked, and without the zero bytes of wide characters: nothing for plain text."""
    found = []
    for _ in range(_WRAPPINGS):
        if b"\0" in data:
            found.append(data.replace(b"\0", b""))
        try:
            # Cut content is unpacked as far as it goes.
            data = zlib.decompressobj(wbits=47).decompress(data, _UNPACKED)
        except zlib.error:
            break
        found.append(data)
    return found


def _decoded(data: bytes) -> list[str]:
    """The content as text, decoded in the usual ways, and every string in it if it is JSON."""
    text = data.decode("utf-8", "replace")
    found = [text, unquote(text), html.unescape(text)]
    try:
        waiting: list[Any] = [json.loads(text)]
    except (ValueError, RecursionError):
        return found
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str):
            found += [value, unquote(value), html.unescape(value)]
    return found
