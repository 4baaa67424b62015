"""What an evaluated file says: the text of a PDF, of Markdown or plain text, and the ways to read it leniently."""

import io
import re
import unicodedata
from dataclasses import dataclass

_QUOTES = re.compile("[\"'`\u00b4\u2018-\u201f\u2032-\u2037\u2039\u203a\u00ab\u00bb\u300c-\u300f]+")
_UNSEEN = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
"""Soft hyphens and characters without width."""
_BROKEN_WORD = re.compile(r"(?<=\w)-[ \t]*\r?\n[ \t]*(?=\w)")
_LINE_MARK = re.compile(r"^[ \t]{0,3}(?:#{1,6}|>|[-*+]|[0-9]{1,9}[.)])[ \t]+", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^)\n]{0,2000}\)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_SPAN_MARKS = ("***", "**", "*", "___", "__", "_", "~~", "```", "``", "`")
_SPAN_OPENS = re.compile(r"[*_`]|~~")
_SPAN_ENDS = {mark: re.compile(rf"(?<=\S){re.escape(mark)}") for mark in _SPAN_MARKS}


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
    text = _LINK.sub(r"\1", _LINE_MARK.sub("", text))
    return _ESCAPE.sub(r"\1", "\n".join(map(_without_spans, text.split("\n"))))


def _without_spans(line: str) -> str:
    """A line without the marks around emphasized words and code. A mark whose end was looked for in vain is looked for
    no more, so that a line of nothing but marks takes no longer than another."""
    kept: list[str] = []
    vain: set[str] = set()
    done = at = 0
    while opened := _SPAN_OPENS.search(line, at):
        at = opened.start() + 1
        for mark in _SPAN_MARKS:
            begin = opened.start() + len(mark)
            if mark in vain or not line.startswith(mark, opened.start()) or not line[begin : begin + 1].strip():
                continue
            if ended := _SPAN_ENDS[mark].search(line, begin + 1):
                kept += [line[done : opened.start()], line[begin : ended.start()]]
                done = at = ended.end()
                break
            vain.add(mark)
    return "".join([*kept, line[done:]])


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
