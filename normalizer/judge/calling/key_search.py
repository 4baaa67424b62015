"""Look for a key in content that is decoded again and again: JSON escapes, percent signs, HTML entities.

White space and invisible characters are dropped first, so that Base64 in lines, digits in groups and wide characters
are found too. Every step takes time linear in the content, and there are few of them.
"""

import html
import json
import re

_ROUNDS = 8
"""How often content is decoded. Each round decodes everything once, however deep it is nested."""

_SHORTEST_PART = 6
"""Fewer characters of the key at the end of cut content are no finding."""

_INVISIBLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]+")
_BREAKS = re.compile(r"(?<!\\)\\++[nrtbf]")
_CODES = re.compile(
    r"(?<!\\)\\++(?:u\{0*([0-9a-f]{1,2})\}|u00([0-9a-f]{2})|U000000([0-9a-f]{2})|x([0-9a-f]{2}))", re.IGNORECASE
)
_PERCENT = re.compile(r"%(?:25)*+([0-9a-f]{2})", re.IGNORECASE)
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
