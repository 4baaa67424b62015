"""Find a quotation in a text: exactly, folded, or with parts left out."""

import re
from typing import Literal

from normalizer.checks.artifact_text import Text

How = Literal["exact", "folded", "elided"]

_ELLIPSIS = re.compile(r"\[\s*(?:\.{3,}|…)\s*\]|\(\s*(?:\.{3,}|…)\s*\)|\.{3,}|…")
_OPENING = "\"'`\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u2039"
_CLOSING = "\"'`\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00bb\u203a"


def is_empty(quote: str) -> bool:
    """Whether a quotation has nothing but white space and punctuation."""
    return not any(char.isalnum() for char in quote)


def find_quote(quote: str, text: Text) -> How | None:
    """Return the strictest way in which the text contains the quotation; None if it does not."""
    if quote in text.exact:
        return "exact"
    if any(spelling in reading for spelling in _spellings(quote, text) for reading in text.readings):
        return "folded"
    parts = [text.fold(part) for part in _ELLIPSIS.split(_bare(quote))]
    parts = [part for part in parts if not is_empty(part)]
    if parts and _ELLIPSIS.search(quote) and any(_in_order(parts, reading) for reading in text.readings):
        return "elided"
    return None


def _spellings(quote: str, text: Text) -> set[str]:
    return {text.fold(quote), text.fold(_bare(quote))} - {""}


def _bare(quote: str) -> str:
    """Remove the quotation marks that a judge put around a quotation."""
    within = quote.strip()
    begun = within.lstrip(_OPENING)
    ended = begun.rstrip(_CLOSING)
    return ended if len(ended) < len(begun) < len(within) else quote


def _in_order(parts: list[str], reading: str) -> bool:
    at = 0
    for part in parts:
        found = reading.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True
