"""The text of an evaluated file (PDF, Markdown or plain text), and its normalization for comparison."""

import io
import re
import unicodedata
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pypdf import PageObject
    from pypdf.generic import EncodedStreamObject

_MOST_PAGES = 5000
_MOST_WORDS = 2_500_000
"""Words, numbers and operators. A dense page has up to 2,000 of them."""
_MOST_STEPS = 250_000
"""A page of text takes a few hundred operations, so these are some hundreds of dense pages."""
_MOST_BYTES = 1 << 25
"""Decoded content of all pages, and of forms as often as they are drawn. A page of text has some kilobytes."""
_WORD = re.compile(rb"[^\s\[\]<>()/]+|[\[<(/]")
_QUOTES = re.compile("[\"'`\u00b4\u2018-\u201f\u2032-\u2037\u2039\u203a\u00ab\u00bb\u300c-\u300f]+")
_UNSEEN = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
"""Soft hyphens and zero-width characters."""
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
    """The folded text, in each form in which a reader may have seen it."""
    spaced: bool
    """False if extraction does not preserve white space, which is then ignored in comparisons."""

    def fold(self, quote: str) -> str:
        """Return a quotation folded like this text."""
        return fold_text(quote, spaced=self.spaced)


class NoText(Exception):
    """The file has no readable text."""


def text_of(content: bytes, name: str) -> Text:
    """Return the text of a file. Raises NoText. The name is used only to recognize Markdown."""
    if content.startswith(b"%PDF-"):
        text = _pdf(content)
        joined = _BROKEN_WORD.sub("", text)
        return Text(text, _distinct(fold_text(text, spaced=False), fold_text(joined, spaced=False)), spaced=False)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NoText("neither a PDF nor UTF-8 text") from None
    readings = [fold_text(text)]
    if name.lower().endswith((".md", ".markdown")):
        readings.append(fold_text(_remove_markup(text)))
    return Text(text, _distinct(*readings), spaced=True)


def fold_text(text: str, *, spaced: bool = True) -> str:
    """Unify compatibility forms, quotation marks, hyphens and white space. Case and wording are kept."""
    text = _UNSEEN.sub("", unicodedata.normalize("NFKC", text))
    text = _QUOTES.sub('"', text).replace("\u2010", "-")
    return (" " if spaced else "").join(text.split())


def _remove_markup(text: str) -> str:
    """Remove Markdown markup, to get the text of the rendered page."""
    text = _LINK.sub(r"\1", _LINE_MARK.sub("", text))
    return _ESCAPE.sub(r"\1", "\n".join(map(_without_spans, text.split("\n"))))


def _without_spans(line: str) -> str:
    """Remove the marks around emphasis and code from a line. A mark without an end is not searched for again, so that
    a line of marks only takes linear time."""
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


class _TooMuch(BaseException):
    """Raised through the PDF reader, which ignores any `Exception` inside a form."""


class _Budget:
    """Bounds the work on one PDF by its decoded content, so that a small file cannot take minutes.

    The bounds are counts and not seconds: a file that is readable on one machine is readable on all.
    """

    def __init__(self) -> None:
        self._words = self._steps = self._pages = self._bytes = 0

    def page(self, page: "PageObject") -> None:
        """Count a page and its content stream, before it is parsed; its forms are counted when they are drawn."""
        self._pages += 1
        if self._pages > _MOST_PAGES:
            raise _TooMuch(f"{_MOST_PAGES} pages")
        contents = page.get_contents()
        self._content(b"" if contents is None else contents.get_data())
        extract = page.extract_xform_text

        def extract_counted(form: "EncodedStreamObject", *args: Any, **named: Any) -> str:
            self._content(form.get_data())
            return extract(form, *args, **named)

        # The reader parses a form at every drawing and has no hook for it: here it is counted before.
        page.extract_xform_text = extract_counted  # type: ignore[method-assign,assignment]

    def step(self, operator: object, *_: object) -> None:
        """Count a drawing operation, those of forms that a page draws included; each form is parsed anew."""
        self._steps += 20 if operator == b"Do" else 1
        if self._steps > _MOST_STEPS:
            raise _TooMuch(f"{_MOST_STEPS} drawing operations")

    def _content(self, data: bytes) -> None:
        self._bytes += len(data)
        if self._bytes > _MOST_BYTES:
            raise _TooMuch(f"{_MOST_BYTES} bytes of content in its pages")
        self._words += sum(1 for _ in islice(_WORD.finditer(data), _MOST_WORDS + 1))
        if self._words > _MOST_WORDS:
            raise _TooMuch(f"{_MOST_WORDS} words, numbers and operators in its pages")


def _pdf(content: bytes) -> str:
    import logging

    from pypdf import PdfReader  # heavy, and only PDFs need it

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it logs every oddity that it recovers from
    budget = _Budget()
    try:
        texts = []
        for page in PdfReader(io.BytesIO(content)).pages:
            budget.page(page)
            texts.append(page.extract_text(visitor_operand_before=budget.step))
        return "\n".join(texts)
    except _TooMuch as error:
        raise NoText(f"the PDF has more than {error}") from None
    except Exception as error:  # a broken file can raise nearly anything from inside the reader
        raise NoText(f"the PDF cannot be read: {type(error).__name__}") from None


def _distinct(*readings: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(readings))
