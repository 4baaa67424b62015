"""Cut the API key out of everything that an endpoint sends back, before any of it is kept or shown.

An endpoint may repeat the key as JSON escapes (`\\/`, `\\u002f`), escaped several times, percent-encoded, as HTML
entities, in Base64 or as hexadecimal digits: all of these are cut out. Content in which the key still appears once it
is decoded (`KeySearch`) is refused, and so is content that is no text, such as compressed content: it cannot be told
what it holds. An endpoint that disguises the key on purpose in another way is not noticed.
"""

import base64
import html
import json
import re

HIDDEN = "[key]"
_LONGEST = 16
"""Bytes that one character of the key may take in an encoding that is cut out whole at a limit."""


_BASE64 = {"+": "[+-]", "/": r"(?:\\*+/|_|%2[Ff])"}
"""Characters that are written otherwise in URLs and in JSON."""


_SHORT = 8
"""Shorter keys are not looked for in Base64: ordinary text would match the few characters that are certain."""


class KeyRepeated(Exception):
    """The content repeats the key in a form that cannot be cut out, or is no text in which it could be found."""


class KeyFilter:
    """Removes one key from bytes and texts. An empty key removes nothing."""

    def __init__(self, key: str) -> None:
        self._length = len(key)
        whole = _as_a_whole(key) if len(key) >= _SHORT else []
        self._pattern = re.compile("|".join([_spell_key(key), *whole]).encode()) if key else None
        self._search = KeySearch(key, whole)

    @property
    def margin(self) -> int:
        """Length of the longest spelling of the key. Read this many bytes beyond a limit before cutting there."""
        return self._length * _LONGEST

    def clean(self, data: bytes, limit: int | None = None) -> bytes:
        """The first `limit` bytes of the content, all without one, and without the key.

        A key that begins before the limit is cut out whole: give `margin` bytes beyond it. Raises KeyRepeated if the
        key still appears in the content once it is decoded, or a part of it at the end of the result.
        """
        end = len(data) if limit is None else min(limit, len(data))
        if self._pattern is None:
            return data[:end]
        kept, done = bytearray(), 0
        for match in self._pattern.finditer(data):
            if match.start() >= end:
                break
            kept += data[done : match.start()] + HIDDEN.encode()
            done = match.end()
        kept += data[done:end]
        cut = end < len(data)
        # Most of a key that is encoded and stands across the limit would be kept: it is looked for in all content.
        if self._search.finds(self._pattern.sub(HIDDEN.encode(), data), cut=cut):
            raise KeyRepeated
        if cut and self._search.finds(bytes(kept), cut=True, parts=True):
            raise KeyRepeated
        return bytes(kept)

    def text(self, text: str) -> str:
        """A message without the key, or only a note that it repeats the key."""
        try:
            return self.clean(text.encode("utf-8", "replace")).decode("utf-8", "replace")
        except KeyRepeated:
            return f"(a message that repeats the key: {HIDDEN})"


def _spell_key(key: str) -> str:
    """A pattern of the key, each character escaped or encoded or not.

    Backslashes are taken all at once, from the first of them: tried one by one, a megabyte of them would take hours.
    """
    return "".join(_any_spelling(char, r"(?<!\\)" if at == 0 else "") for at, char in enumerate(key))


def _any_spelling(char: str, start: str) -> str:
    code = ord(char)
    # A key that has backslashes itself is rare; each of them may be doubled a few times.
    plain = r"\\{1,32}" if char == "\\" else rf"{start}\\*+{re.escape(char)}"
    return (
        rf"(?:{plain}|{start}\\++u00(?i:{code:02x})"
        rf"|%(?:25)*(?!25)(?i:{code:02x})|&#0*+{code};|&#(?i:x)0*+(?i:{code:x});)"
    )


def _as_a_whole(key: str) -> list[str]:
    """Patterns of the key in hexadecimal digits and in Base64, whatever stands before it in the encoded text."""
    data = key.encode()
    patterns = [f"(?i:{data.hex()})"]
    for before in range(3):
        # Six bits make a character: leave out those that also hold bits of the text before or after the key.
        whole = base64.b64encode(b"\0" * before + data).decode()
        first, last = (before * 8 + 5) // 6, (before + len(data)) * 8 // 6
        spelled = "".join(_BASE64.get(char, char) for char in whole[first:last])
        patterns.append(rf"(?<!\\){spelled}" if spelled.startswith(r"(?:\\") else spelled)
    return patterns


_ROUNDS = 8
"""How often content is decoded. Each round decodes everything once, however deep it is nested."""

_SHORTEST_PART = 6
"""Fewer characters of the key at the end of cut content are no finding."""

_INVISIBLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]+")
_BREAKS = re.compile(r"(?<!\\)\\++[nrtbf]")
_CODES = re.compile(
    r"(?<!\\)\\++(?:u\{0*([0-9a-f]{1,2})\}|u00([0-9a-f]{2})|U000000([0-9a-f]{2})|x([0-9a-f]{2}))", re.IGNORECASE
)
_PERCENT = re.compile(r"%(?:25)*(?!25)([0-9a-f]{2})", re.IGNORECASE)
_LEADING_ZEROS = re.compile(r"(&#x?)0++", re.IGNORECASE)
_LONG_ENTITY = re.compile(r"&#x?[0-9a-f]{8,}", re.IGNORECASE)
_NOT_HEXADECIMAL = re.compile(r"0x|[^0-9a-f]", re.IGNORECASE)


class KeySearch:
    """Finds one key. `wholes` are patterns of the key as a whole, in hexadecimal digits and in Base64."""

    def __init__(self, key: str, wholes: list[str]) -> None:
        self._key = key
        self._wholes = re.compile("|".join(wholes)) if wholes else None
        self._digits = key.encode().hex() if wholes else None

    def finds(self, data: bytes, *, cut: bool, parts: bool = False) -> bool:
        """Whether the key is in the content once it is decoded, or could be because the content is no text.

        Content that is `cut` may end within a character. With `parts`, a part of the key at the end is found too.
        """
        try:
            text = data.decode(json.detect_encoding(data), "surrogatepass")
        except UnicodeDecodeError as error:
            if not cut or error.start < len(data) - 4:
                return True
            text = data[: error.start].decode(error.encoding, "surrogatepass")
        for _ in range(_ROUNDS):
            if self._stands_in(text, parts=parts):
                return True
            decoded = _decode(text)
            if decoded == text:
                return False
            text = decoded
        return self._stands_in(text, parts=parts)

    def _stands_in(self, text: str, *, parts: bool) -> bool:
        # Characters of a short key stand side by side in ordinary text, but for white space.
        squeezed = text if self._wholes is None else _INVISIBLE.sub("", text)
        if self._key in squeezed:
            return True
        lengths = range(_SHORTEST_PART, len(self._key)) if parts else range(0)
        if any(squeezed.endswith(self._key[:length]) for length in lengths):
            return True
        if self._wholes is None or self._digits is None:
            return False
        return bool(self._wholes.search(squeezed)) or self._digits in _NOT_HEXADECIMAL.sub("", squeezed).lower()


def _decode(text: str) -> str:
    """The text with one level of every usual encoding undone. Escaped line ends become spaces."""
    text = _BREAKS.sub(" ", text)
    text = _CODES.sub(lambda match: chr(int(match[match.lastindex or 0], 16)), text)
    text = text.replace("\\", "")
    text = _PERCENT.sub(lambda match: chr(int(match[1], 16)), text)
    # Python refuses to read numbers of thousands of digits.
    return html.unescape(_LONG_ENTITY.sub(" ", _LEADING_ZEROS.sub(r"\1", text)))
