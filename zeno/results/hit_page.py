"""The hits of one answer of grep, added one by one until a limit on hits or characters is reached."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from contract_models.zeno.ops.grep import GrepArgs, GrepHit, GrepLine
from pydantic import MISSING

from zeno.code.facts import NOTHING
from zeno.code.table import FactTable
from zeno.meter import Meter
from zeno.results.clip import clip, fitting
from zeno.results.definitions import ScopeFinder
from zeno.results.receipts import receipt
from zeno.search.sink import MatchedLines, SearchedFile
from zeno.text.pattern_list import Combined
from zeno.text.regex import Finds, finder

# The shortest that the JSON of a hit can be, without its path and text.
_FRAME = len('{"path":"","line":1,"text":""}')
# The shortest that the JSON of a line of context can be, without its text.
_LINE_FRAME = len('{"line":1,"text":""}')


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
        self._scopes = None if facts is None else ScopeFinder()
        self._scoped: SearchedFile | None = None
        self._found = NOTHING
        """The file whose scopes were found last, and its facts."""
        self._sought = sought
        self._meter = meter
        self._line_chars = None if args.max_line_chars is MISSING else args.max_line_chars
        self._room = None if args.max_chars is MISSING else args.max_chars
        limited = self._line_chars is not None or self._room is not None
        self._only_lines = not (limited or args.context or args.receipts or args.multiline)
        """Whether hits are whole lines and nothing else: the usual case."""
        self.hits: list[GrepHit] = []
        self.full_by: list[str] = []
        """The limit that was reached, if any."""

    @property
    def end(self) -> str | None:
        """The position after the last hit, for a cursor, if a limit ended the page."""
        return f"{_last_line(self.hits[-1])}:{self.hits[-1].path}" if self.full_by else None

    def add(self, found: SearchedFile, span: MatchedLines) -> None:
        """Add a hit. If it does not fit, set `full_by` instead."""
        if self._only_lines:
            self._add_line(found, span.first)
            return
        if self._args.context and not self._holds_context(found, span):
            return
        hit = self._hit(found, span, self._line_chars)
        if self._room is not None and _chars(hit) > self._room:
            if self.hits:
                self.full_by = ["max_chars"]
                return
            hit = self._squeeze(found, span, self._room, len(_context(hit)))
        if self._room is not None:
            self._room -= _chars(hit)
        self._meter.charge_text(_chars(hit) + len(hit.path) + _FRAME + _LINE_FRAME * len(_context(hit)))
        self._meter.charge_lines(len(_context(hit)) or span.last - span.first + 1)
        self._append(hit)

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
        if self.hits and self._room is not None:
            limit = self._line_chars
            sizes = (len(line.decode()) for line in found.lines[first:stop])
            if sum(size if limit is None else min(size, limit) for size in sizes) > self._room:
                self.full_by = ["max_chars"]
                return False
        self._meter.charge_text(_LINE_FRAME * count)
        return True

    def _add_line(self, found: SearchedFile, index: int) -> None:
        line = found.lines[index]
        text = line.decode()
        self._meter.charge_text(len(text) + len(found.path) + _FRAME)
        self._meter.charge_lines(1)
        patterns = self._indexes(line)
        scope = self._scope(found, index)
        self._append(_make_hit(path=found.path, line=index + 1, text=text, scope=scope, patterns=patterns))

    def _scope(self, found: SearchedFile, index: int) -> Any:
        """Return the scope of a line, if scopes are asked for."""
        if self._facts is None or self._scopes is None:
            return MISSING
        if self._scoped is not found:
            self._scoped, self._found = found, self._facts.of(found.path, found.lines.text, self._meter.check)
        return self._scopes.find(self._found, index + 1)

    def _append(self, hit: GrepHit) -> None:
        self.hits.append(hit)
        if len(self.hits) == self._args.max_hits:
            self.full_by = ["max_hits"]

    def _squeeze(self, found: SearchedFile, span: MatchedLines, room: int, context: int) -> GrepHit:
        """Return a hit that would fit on no page: its lines share the room, `context` lines beside its own."""
        line_feeds = span.last - span.first
        each = (room - line_feeds) // (1 + line_feeds + context)
        if each > 0 or not line_feeds:
            return self._hit(found, span, max(0, each))
        # More lines than characters: the text has the first of them, and those of the context are empty.
        hit = self._hit(found, span, 0)
        lines = [line.decode() for line in found.lines[span.first : span.last + 1]]
        return hit.model_copy(update={"text": "\n".join(fitting(lines, room)), "clipped": True})

    def _hit(self, found: SearchedFile, span: MatchedLines, limit: int | None) -> GrepHit:
        """Make a hit of lines, each clipped to `limit` characters."""
        single = span.first == span.last
        raw = [found.lines[span.first]] if single else found.lines[span.first : span.last + 1]
        lines = [line.decode() for line in raw]
        texts = lines
        if limit is not None and max(map(len, lines)) > limit:
            ranges = self._ranges(raw, span)
            texts = [clip(line, limit, around) for line, around in zip(lines, ranges, strict=True)]
        return _make_hit(
            path=found.path,
            line=span.first + 1,
            end_line=span.last + 1 if self._args.multiline else MISSING,
            text=texts[0] if single else "\n".join(texts),
            clipped=MISSING if texts is lines else True,
            scope=self._scope(found, span.first),
            patterns=self._indexes(raw[0]),
            sha256=receipt("\n".join(lines)) if self._args.receipts else MISSING,
            context=self._around(found, span, lines, texts, limit) if self._args.context else MISSING,
        )

    def _around(
        self, found: SearchedFile, span: MatchedLines, lines: list[str], texts: list[str], limit: int | None
    ) -> Any:
        """Return the context of a hit: its own lines, with their clipped `texts`, and its neighbours.

        The model of the hit makes models of them all, in less time than each takes by itself.
        """
        count = self._args.context
        first, last = max(0, span.first - count), span.last + 1
        before, after = found.lines[first : span.first], found.lines[last : last + count]
        return [
            *(_clip(at, line.decode(), limit) for at, line in enumerate(before, first)),
            *(_line(at, text, line) for at, (text, line) in enumerate(zip(texts, lines, strict=True), span.first)),
            *(_clip(at, line.decode(), limit) for at, line in enumerate(after, last)),
        ]

    @cached_property
    def _find(self) -> Finds:
        """Finds where a line matches; used only for lines that are clipped."""
        pattern, regex, field, _ = self._sought
        return finder(pattern, field, case_sensitive=self._args.case_sensitive, literal=not regex)

    def _indexes(self, line: bytes) -> list[int] | MISSING:
        """Return which patterns match a line; MISSING where there is only one."""
        return MISSING if self._sought.combined is None else self._sought.combined.find_indexes(line)

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


def _make_hit(**members: Any) -> GrepHit:
    """Return a hit of the members that are not missing: each that is stated as missing takes as long as the others."""
    return GrepHit(**{name: value for name, value in members.items() if value is not MISSING})


def _clip(at: int, line: str, limit: int | None) -> dict[str, Any]:
    return _line(at, line if limit is None else clip(line, limit), line)


def _line(at: int, text: str, line: str) -> dict[str, Any]:
    found = {"line": at + 1, "text": text}
    return found if text == line else {**found, "clipped": True}


def _last_line(hit: GrepHit) -> int:
    return hit.line if hit.end_line is MISSING else hit.end_line


def _context(hit: GrepHit) -> list[GrepLine]:
    return [] if hit.context is MISSING else hit.context


def _chars(hit: GrepHit) -> int:
    return len(hit.text) + sum(len(line.text) for line in _context(hit))
