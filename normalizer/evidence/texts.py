"""What an evaluated file says: the text of a PDF, of Markdown or plain text, and the ways to read it leniently."""

import io
import re
import unicodedata
from dataclasses import dataclass

_QUOTES = re.compile("[\"'`\u00b4\u2018-\u201f\u2032-\u2037\u2039\u203a\u00ab\u00bb\u300c-\u300f]+")
_UNSEEN = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
"""Soft hyphens and characters without width."""
_BROKEN_WORD = re.compile(r"(?<=\w)-[ \t]*\r?\n[ \t]*(?=\w)")
_MARKS = [
    (re.compile(r"^[ \t]{0,3}(?:#{1,6}|>|[-*+]|[0-9]{1,9}[.)])[ \t]+", re.MULTILINE), ""),
    (re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)"), r"\1"),
    (re.compile(r"(\*{1,3}|_{1,3}|~~|`{1,3})(?=\S)(.+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"\\([!-/:-@\[-`{-~])"), r"\1"),
]


@dataclass(frozen=True, slots=True)
class Text:
    """One file's text."""

    exact: str
    readings: tuple[str, ...]
    """The text folded, in every way in which a reader may have seen it."""
    spaced: bool
    """False: extraction does not keep white space, so that it is left out of the comparison."""

    def fold(self, quote: str) -> str:
        """A quotation, folded as this text is."""
        return folded(quote, spaced=self.spaced)


class NoText(Exception):
    """The file has no text that can be read."""


def text_of(content: bytes, name: str) -> Text:
    """The text of a file. The name only tells Markdown from other text."""
    if content.startswith(b"%PDF-"):
        text = _pdf(content)
        joined = _BROKEN_WORD.sub("", text)
        return Text(text, _distinct(folded(text, spaced=False), folded(joined, spaced=False)), spaced=False)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NoText("neither a PDF nor UTF-8 text") from None
    readings = [folded(text)]
    if name.lower().endswith((".md", ".markdown")):
        readings.append(folded(_unmarked(text)))
    return Text(text, _distinct(*readings), spaced=True)


def folded(text: str, *, spaced: bool = True) -> str:
    """Compatibility forms, quotation marks, hyphens and white space made one; case and wording stay."""
    text = _UNSEEN.sub("", unicodedata.normalize("NFKC", text))
    text = _QUOTES.sub('"', text).replace("\u2010", "-")
    return (" " if spaced else "").join(text.split())


def _unmarked(text: str) -> str:
    """Markdown without its marks, as a reader of the rendered page sees it."""
    for pattern, kept in _MARKS:
        text = pattern.sub(kept, text)
    return text


def _pdf(content: bytes) -> str:
    import logging

    from pypdf import PdfReader  # heavy, and only PDFs need it

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it tells of every oddity that it gets over
    try:
        return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(content)).pages)
    except Exception as error:  # a broken file can raise nearly anything from inside the reader
        raise NoText(f"the PDF cannot be read: {type(error).__name__}") from None


def _distinct(*readings: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(readings))
