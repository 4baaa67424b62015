"""Text from files, made safe to show: characters that a terminal or a reader would obey are escaped.

Escaped are control characters but line feed and tab, marks that reorder text (bidirectional controls), the line and
paragraph separators U+2028 and U+2029, annotation marks, and every character that Unicode calls default-ignorable:
joiners, fillers, variation selectors and tag characters, which show nothing, make two names look the same and can carry
hidden text. A carriage return is one of them, so no file can begin a row of its own in the middle of a line.
"""

import json
import re

_UNSAFE = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """Return the text with unsafe characters written as \\xNN, \\uNNNN or \\UNNNNNNNN. Line feeds and tabs stay."""
    return _UNSAFE.sub(_escape, text)


def one_line(text: str) -> str:
    """Return a name as it is if it can be printed on a line, else as a JSON string in ASCII."""
    return text if text.isprintable() and not _UNSAFE.search(text) else json.dumps(text)


def visible_json(text: str) -> str:
    """Return JSON text that is not ASCII with unsafe characters as JSON escapes, so that its value stays the same."""
    return _UNSAFE.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
