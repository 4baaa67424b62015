"""grep: which lines match."""

from collections import Counter
from functools import cached_property

import contract_spec as spec
from contract_models.zeno.ops.grep import (
    GrepArgs,
    GrepFileCount,
    GrepHit,
    GrepLine,
    GrepResult,
    GrepSkipped,
    GrepTotal,
)
from pydantic import MISSING

from zeno.meter import Meter
from zeno.results import cursors
from zeno.results.clip import clip
from zeno.results.hints import on_pattern, why_nothing
from zeno.results.left_out import left_out
from zeno.results.receipts import receipt
from zeno.search.corpus import Corpus, Found, Query
from zeno.search.selection import EVERYTHING, under
from zeno.text.regex import Finds, finder, searcher

MAX_BYTES: int = spec.resource("rules/request_limits.json")["max_searched_file_bytes"]
"""Larger files are skipped whatever a request says: a file is searched in memory, whole."""


def grep(args: GrepArgs, corpus: Corpus, meter: Meter) -> GrepResult:
    """Search the selected files in order until a limit on hits or text is reached."""
    matches = searcher(args.pattern, "args.pattern", case_sensitive=args.case_sensitive, literal=not args.regex)
    max_bytes = min(args.max_bytes, MAX_BYTES)
    query = Query(args.pattern, args.regex, args.case_sensitive, meter.guard(matches), max_bytes)
    selection = EVERYTHING if args.paths is MISSING else under(corpus.tree, args.paths, "args.paths")
    start, seen = ("", 0) if args.cursor is MISSING else _position(args)
    snapshot = corpus.snapshot(args, start)
    candidates = snapshot.candidates
    paths = snapshot.paths(selection)
    skipped: Counter[str] = Counter()
    page = _Page(args, meter)
    tally = _Tally(args)
    search = snapshot.search(selection, query, meter, skipped)
    # Taken to its end even when the page is full: what was skipped is counted over all files.
    for found in search:
        if args.output != "hits":
            tally.add(found)
            if tally.full_by:
                search.count_only()
            continue
        for index in found.matching:
            if index < seen and found.path == start:
                continue
            page.add(found, index)
            if page.full_by:
                search.count_only()
                break
    problems = selection.problems(candidates)
    told = GrepSkipped(
        binary=skipped["binary"],
        too_large=skipped["large"],
        unreadable=skipped["unreadable"] + problems["unreadable"],
        not_regular=problems["not_regular"],
    )
    truncated_by = sorted([*(["max_files"] if candidates.cut else []), *page.full_by, *tally.full_by])
    end = page.end or tally.end
    hints = None
    if not paths and not start:
        globs = [] if args.paths is MISSING else args.paths
        hints = why_nothing(args, "args.paths" if globs else "", globs, selection, candidates, corpus)
    elif not args.regex and not start and not page.hits and not tally.counts:
        hints = on_pattern(args.pattern)
    return GrepResult(
        hits=page.hits,
        counts=tally.counts if args.output == "files" else MISSING,
        total=GrepTotal(files=len(tally.counts), lines=tally.lines) if args.output == "count" else MISSING,
        truncated=bool(truncated_by),
        truncated_by=truncated_by or MISSING,
        cursor=cursors.issue("grep", args, end or f"0:{candidates.paths[-1]}") if truncated_by else MISSING,
        complete=bool(paths) and not (truncated_by or start or skipped or problems),
        skipped=told,
        files_selected=len(paths),
        left_out=left_out(selection, candidates),
        files_digest=candidates.paths.digest,
        hints=hints or MISSING,
        metrics=meter.stop(
            hits=len(page.hits),
            files_skipped_binary=skipped["binary"],
            files_skipped_large=skipped["large"],
            files_skipped_unreadable=skipped["unreadable"],
        ),
    )


def _position(args: GrepArgs) -> tuple[str, int]:
    """Where to go on: the first path to look at, and how many of its lines were dealt with."""
    line, _, path = cursors.position("grep", args, str(args.cursor)).partition(":")
    seen = cursors.number(line)
    # With nothing said of lines the whole file is done, and the next path there can be comes next.
    return (path, seen) if seen else (path + "\0", 0)


class _Tally:
    """The files that match, and in how many lines."""

    def __init__(self, args: GrepArgs) -> None:
        self._max_files = args.max_hits if args.output == "files" else None
        self.counts: list[GrepFileCount] = []
        self.lines = 0
        self.full_by: list[str] = []
        """The limit that was reached, if any."""

    @property
    def end(self) -> str | None:
        """Where the next page begins, if a limit ended this one: behind the last file."""
        return f"0:{self.counts[-1].path}" if self.full_by else None

    def add(self, found: Found) -> None:
        """Count the matching lines of a file."""
        lines = sum(1 for _ in found.matching)
        if lines:
            self.counts.append(GrepFileCount(path=found.path, lines=lines))
            self.lines += lines
        if len(self.counts) == self._max_files:
            self.full_by = ["max_hits"]


# The shortest that the JSON of a hit can be, without its path and text.
_FRAME = len('{"path":"","line":1,"text":""}')


class _Page:
    """The hits of one answer."""

    def __init__(self, args: GrepArgs, meter: Meter) -> None:
        self._args = args
        self._meter = meter
        self._line_chars = None if args.max_line_chars is MISSING else args.max_line_chars
        self._room = None if args.max_chars is MISSING else args.max_chars
        self.hits: list[GrepHit] = []
        self.full_by: list[str] = []
        """The limit that was reached, if any."""

    @cached_property
    def _find(self) -> Finds:
        """Where a line matches; asked only of lines that are to be clipped."""
        args = self._args
        return finder(args.pattern, "args.pattern", case_sensitive=args.case_sensitive, literal=not args.regex)

    @property
    def end(self) -> str | None:
        """Where the page ends, if a limit ended it."""
        return f"{self.hits[-1].line}:{self.hits[-1].path}" if self.full_by else None

    def add(self, found: Found, index: int) -> None:
        """Take in a hit, or be full without it."""
        hit = self._hit(found, index, self._line_chars)
        if self._room is not None and _chars(hit) > self._room:
            if self.hits:
                self.full_by = ["max_chars"]
                return
            # It would fit on no page: its lines share what room there is.
            hit = self._hit(found, index, self._room // (1 + len(_context(hit))))
        if self._room is not None:
            self._room -= _chars(hit)
        self._meter.keep(_chars(hit) + len(hit.path) + _FRAME)
        self._meter.returned(len(_context(hit)) or 1)
        self.hits.append(hit)
        if len(self.hits) == self._args.max_hits:
            self.full_by = ["max_hits"]

    def _hit(self, found: Found, index: int, limit: int | None) -> GrepHit:
        line = found.lines[index].decode()
        text = line if limit is None or len(line) <= limit else clip(line, limit, self._match(found.lines[index]))
        clipped = True if text != line else MISSING
        context = self._args.context
        first = max(0, index - context)
        around = found.lines[first : index + context + 1] if context else []
        return GrepHit(
            path=found.path,
            line=index + 1,
            text=text,
            clipped=clipped,
            sha256=receipt(line) if self._args.receipts else MISSING,
            context=[
                GrepLine(line=index + 1, text=text, clipped=clipped)
                if at == index
                else _neighbour(at, neighbour.decode(), limit)
                for at, neighbour in enumerate(around, first)
            ]
            or MISSING,
        )

    def _match(self, line: bytes) -> tuple[int, int]:
        """Where in the line, in characters, the first match is. One of bytes (`\\C`) may begin or end inside one."""
        start, end = self._find(line) or (0, 0)
        return len(line[:start].decode(errors="ignore")), len(line[:end].decode(errors="replace"))


def _neighbour(at: int, line: str, limit: int | None) -> GrepLine:
    text = line if limit is None else clip(line, limit)
    return GrepLine(line=at + 1, text=text, clipped=True if text != line else MISSING)


def _context(hit: GrepHit) -> list[GrepLine]:
    return [] if hit.context is MISSING else hit.context


def _chars(hit: GrepHit) -> int:
    return len(hit.text) + sum(len(line.text) for line in _context(hit))
