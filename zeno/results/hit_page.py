"""The hits of one answer of grep, added one by one until a limit on hits or characters is reached."""

import sys
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from contract_models.zeno.ops.grep import GrepArgs
from pydantic import MISSING

from zeno.code.kept_facts import KeptFacts
from zeno.code.table import FactTable
from zeno.meter import Meter
from zeno.results.clip import clip, fit_lines
from zeno.results.definitions import find_scope
from zeno.search.sink import MatchedLines, SearchedFile
from zeno.text.file_lines import receipt
from zeno.text.pattern_list import Combined
from zeno.text.regex import Finds, finder

# The shortest that the JSON of a hit can be, without its path and text.
_FRAME = len('{"path":"","line":1,"text":""}')
# The shortest that the JSON of a line of context can be, without its text.
_LINE_FRAME = len('{"line":1,"text":""}')


Hit = dict[str, Any]
"""The members of a hit, or of a line of context. The result makes models of all hits at once, in half the time."""


class Sought(NamedTuple):
    """The pattern of a request, or its patterns made one."""

    pattern: str
    regex: bool
    field: str
    """Where the request has it."""
    combined: Combined | None
    """The patterns one by one; None where there is one."""


class HitPage:
    """The hits of one answer."""

    def __init__(self, args: GrepArgs, meter: Meter, sought: Sought, facts: FactTable | None = None) -> None:
        """Add the scopes of hits if there are `facts` to find them in."""
        self._args = args
        self._facts = facts
        self._scoped: tuple[SearchedFile, KeptFacts] | None = None
        """The file whose scopes were found last, and its facts."""
        self._sought = sought
        self._meter = meter
        self._line_chars = sys.maxsize if args.max_line_chars is MISSING else args.max_line_chars
        self._room = sys.maxsize if args.max_chars is MISSING else args.max_chars
        """Characters of text that may still be added."""
        self.takes_lines = not (args.context or args.receipts or args.multiline)
        """Whether hits are lines: the usual case, for which `add_lines` is faster."""
        self.hits: list[Any] = []
        self.full_by: list[str] = []
        """The limit that was reached, if any."""

    @property
    def end(self) -> str | None:
        """The position after the last hit, for a cursor, if a limit ended the page."""
        return f"{_last_line(self.hits[-1])}:{self.hits[-1]['path']}" if self.full_by else None

    def add_lines(self, found: SearchedFile, indexes: Iterable[int]) -> None:
        """Add a hit for each of some lines of a file, until the page is full."""
        path, lines, hits, charge = found.path, found.lines, self.hits, self._meter.charge_text
        frame, whole = len(path) + _FRAME, 0
        told = self._facts is not None or self._sought.combined is not None
        for index in islice(indexes, self._args.max_hits - len(hits)):
            line = lines[index]
            text = line.decode()
            size = len(text)
            if size > self._line_chars or size > self._room:
                self.add(found, MatchedLines(index, index, (0, 0)))
                if self.full_by:
                    break
                continue
            whole += 1
            self._room -= size
            charge(size + frame)
            hit: Hit = {"path": path, "line": index + 1, "text": text}
            hits.append({**hit, **self._tell_more(found, index, line)} if told else hit)
        self._meter.charge_lines(whole)
        self._close_if_full()

    def add(self, found: SearchedFile, span: MatchedLines) -> None:
        """Add a hit. If it does not fit, set `full_by` instead."""
        if self._args.context and not self._holds_context(found, span):
            return
        hit = self._hit(found, span, self._line_chars)
        chars, context = _chars(hit), len(_context(hit))
        if chars > self._room:
            if self.hits:
                self.full_by = ["max_chars"]
                return
            hit = self._squeeze(found, span, self._room, context)
            chars = _chars(hit)
        self._room -= chars
        self._meter.charge_text(chars + len(found.path) + _FRAME + _LINE_FRAME * context)
        self._meter.charge_lines(context or span.last - span.first + 1)
        self.hits.append(hit)
        self._close_if_full()

    def _close_if_full(self) -> None:
        if len(self.hits) == self._args.max_hits:
            self.full_by = ["max_hits"]

    def _holds_context(self, found: SearchedFile, span: MatchedLines) -> bool:
        """Whether a hit's context may be made: even of empty lines, millions of them would exhaust memory.

        Raises ResponseTooLarge if the answer cannot hold it, unless the hit would be the next page's first anyway.
        """
        first, stop = max(0, span.first - self._args.context), span.last + 1 + self._args.context
        # Mostly there is room for all that may be asked for, and the lines of the file need not be counted.
        if self._meter.can_charge_text(_LINE_FRAME * (stop - first)):
            return True
        count = min(stop, len(found.lines)) - first
        if self._meter.can_charge_text(_LINE_FRAME * count):
            return True
        if self.hits and self._args.max_chars is not MISSING:
            sizes = (min(len(line.decode()), self._line_chars) for line in found.lines[first:stop])
            if sum(sizes) > self._room:
                self.full_by = ["max_chars"]
                return False
        self._meter.charge_text(_LINE_FRAME * count)
        return True

    def _tell_more(self, found: SearchedFile, index: int, line: bytes) -> Hit:
        """Return the scope of a line and the patterns that match it, each if it is asked for."""
        more: Hit = {}
        if self._facts is not None:
            if self._scoped is None or self._scoped[0] is not found:
                self._scoped = found, self._facts.of(found.source, self._meter.check)
            more["scope"] = find_scope(self._scoped[1], index + 1)
        if self._sought.combined is not None:
            more["patterns"] = self._sought.combined.find_indexes(line)
        return more

    def _squeeze(self, found: SearchedFile, span: MatchedLines, room: int, context: int) -> Hit:
        """Return a hit that would fit on no page: its lines share the room, `context` lines beside its own."""
        line_feeds = span.last - span.first
        each = (room - line_feeds) // (1 + line_feeds + context)
        if each > 0 or not line_feeds:
            return self._hit(found, span, max(0, each))
        # More lines than characters: the text has the first of them, and those of the context are empty.
        hit = self._hit(found, span, 0)
        lines = [line.decode() for line in found.lines[span.first : span.last + 1]]
        return {**hit, "text": "\n".join(fit_lines(lines, room)), "clipped": True}

    def _hit(self, found: SearchedFile, span: MatchedLines, limit: int) -> Hit:
        """Make a hit of lines, each clipped to `limit` characters."""
        args, around = self._args, self._args.context
        first = max(0, span.first - around)
        # The lines of the hit and those around it at once: to find a line again takes time.
        every = found.lines[first : span.last + 1 + around] if around or span.last > first else [found.lines[first]]
        own = slice(span.first - first, span.last - first + 1)
        raw, whole = every[own], list(map(bytes.decode, every))
        lines = shown = whole[own]
        if max(map(len, lines)) > limit:
            shown = [clip(line, limit, at) for line, at in zip(lines, self._ranges(raw, span), strict=True)]
        hit: Hit = {"path": found.path, "line": span.first + 1, "text": "\n".join(shown)}
        if args.multiline:
            hit["end_line"] = span.last + 1
        if shown is not lines:
            hit["clipped"] = True
        if args.receipts:
            hit["sha256"] = receipt("\n".join(lines))
        if around:
            hit["context"] = [{"line": at, "text": text} for at, text in enumerate(whole, first + 1)]
            if max(map(len, whole)) > limit:
                clipped = [clip(line, limit) for line in whole]
                clipped[own] = shown
                for one, text in zip(hit["context"], clipped, strict=True):
                    if text != one["text"]:
                        one.update(text=text, clipped=True)
        hit.update(self._tell_more(found, span.first, raw[0]))
        return hit

    @cached_property
    def _find(self) -> Finds:
        """Finds where a line matches; used only for lines that are clipped."""
        pattern, regex, field, _ = self._sought
        return finder(pattern, field, case_sensitive=self._args.case_sensitive, literal=not regex)

    def _ranges(self, lines: Sequence[bytes], span: MatchedLines) -> list[tuple[int, int]]:
        """Return for each line of a hit where in it, in characters, the first match is."""
        start, end = span.match if self._args.multiline else self._find(lines[0]) or (0, 0)
        found = []
        for line in lines:
            # A match of bytes (`\\C`) may begin or end inside a character.
            low = len(line[: max(0, start)].decode(errors="ignore"))
            found.append((low, max(low, len(line[: max(0, end)].decode(errors="replace")))))
            start -= len(line) + 1
            end -= len(line) + 1
        return found


def _last_line(hit: Hit) -> int:
    return int(hit.get("end_line") or hit["line"])


def _context(hit: Hit) -> Sequence[Hit]:
    context: Sequence[Hit] = hit.get("context", ())
    return context


def _chars(hit: Hit) -> int:
    return len(hit["text"]) + sum(len(line["text"]) for line in _context(hit))
