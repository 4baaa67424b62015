"""grep: find the lines that match a pattern."""

from collections.abc import Iterator

import contract_spec as spec
from contract_models.zeno.ops.grep import GrepArgs, GrepFileCount, GrepResult, GrepSkipped, GrepTotal
from pydantic import MISSING

from zeno.errors import InvalidArgs
from zeno.meter import Meter, Scan
from zeno.results import cursors
from zeno.results.changed_files import select_changed
from zeno.results.hints import on_pattern
from zeno.results.hit_page import HitPage, Sought
from zeno.results.selected_files import SelectedFiles
from zeno.search.corpus import Corpus
from zeno.search.query import MultilineQuery, Query
from zeno.search.selection import EVERYTHING, Rules, under
from zeno.search.sink import MatchedLines, SearchedFile, Skipped, Wish
from zeno.text.pattern_list import combine
from zeno.text.regex import text_scanner

MAX_MULTILINE_BYTES: int = spec.resource("rules/request_limits.json")["max_multiline_bytes"]
"""Limit on the bytes that a multiline search of one file looks at, counted from each match to the end of the file."""


def grep(args: GrepArgs, corpus: Corpus, meter: Meter) -> GrepResult:
    """Search the selected files in order until a limit on hits or text is reached."""
    sought = _read_pattern(args)
    make = MultilineQuery if args.multiline else Query
    query = make(
        sought.pattern, sought.field, args.max_bytes, meter, regex=sought.regex, case_sensitive=args.case_sensitive
    )
    selection = EVERYTHING if args.paths is MISSING else under(corpus.tree, args.paths, "args.paths")
    start, seen = ("", 0) if args.cursor is MISSING else _position(args)
    snapshot = corpus.snapshot(Rules.of(args, start))
    candidates = snapshot.candidates
    searched = selection
    if args.changed_since is not MISSING:
        searched = select_changed(snapshot.paths(selection), args.changed_since, selection, corpus, meter)
    query.require_affordable(snapshot.paths(searched), corpus.tree)
    page = HitPage(args, meter, sought, corpus.facts if args.scope else None)
    tally = _Tally(args)
    spans = _Spans(args, sought, meter, query.states)
    sink = _HitSink(page, spans, start, seen) if args.output == "hits" else _CountSink(tally, spans)
    skipped = snapshot.search(searched, query, sink, meter)
    skipped.add_all(spans.skipped)
    truncated_by = sorted([*(["max_files"] if candidates.cut else []), *page.full_by, *tally.full_by])
    selected = SelectedFiles(args, corpus, selection, snapshot, skipped, start, searched)
    fields = selected.fields(truncated_by)
    if fields["files_selected"] and not start and not page.hits and not tally.counts:
        fields["hints"] = [
            hint
            for field, one in _patterns(args)
            for hint in on_pattern(one, field, regex=args.regex, multiline=args.multiline)
        ] or MISSING
    end = page.end or tally.end or (f"0:{candidates.paths[-1]}" if truncated_by else "")
    return GrepResult(
        hits=page.hits,
        counts=tally.counts if args.output == "files" else MISSING,
        total=GrepTotal(files=len(tally.counts), lines=tally.lines) if args.output == "count" else MISSING,
        **fields,
        cursor=cursors.issue("grep", args, end) if truncated_by else MISSING,
        skipped=GrepSkipped(**selected.count_skipped()),
        metrics=meter.stop(hits=len(page.hits), **selected.metrics()),
    )


def _read_pattern(args: GrepArgs) -> Sought:
    """Return what to search for. Raises InvalidArgs unless there is a pattern or a list of them."""
    if (args.pattern is MISSING) == (args.patterns is MISSING):
        raise InvalidArgs("give args.pattern, or args.patterns for lines that match any of them, and not both")
    if args.pattern is not MISSING:
        return Sought(args.pattern, args.regex, "args.pattern", None)
    if args.multiline:
        raise InvalidArgs("args.patterns are matched line by line: leave out args.multiline, or search for one pattern")
    listed = [one for _, one in _patterns(args)]
    combined = combine(listed, "args.patterns", regex=args.regex, case_sensitive=args.case_sensitive)
    return Sought(combined.pattern, True, "args.patterns", combined)


def _patterns(args: GrepArgs) -> list[tuple[str, str]]:
    """Return the patterns of a request, each with the name of its field."""
    if args.patterns is MISSING:
        return [("args.pattern", str(args.pattern))]
    return [(f"args.patterns[{index}]", one) for index, one in enumerate(args.patterns)]


class _HitSink:
    """Adds hits to the page until it is full. In the file at `start`, the first `seen` lines are left out."""

    def __init__(self, page: HitPage, spans: "_Spans", start: str, seen: int) -> None:
        self._page = page
        self._spans = spans
        self._start, self._seen = start, seen
        self.wish = Wish.MORE

    def take(self, found: SearchedFile) -> None:
        """Add the hits of a file."""
        seen = self._seen if found.path == self._start else 0
        if self._page.takes_lines:
            self._page.add_lines(
                found, (index for index in found.matching if index >= seen) if seen else found.matching
            )
        else:
            for span in self._spans.of(found):
                if span.first >= seen:
                    self._page.add(found, span)
                    if self._page.full_by:
                        break
        if self._page.full_by:
            # Skipped files are counted over all files.
            self.wish = Wish.COUNT


class _CountSink:
    """Counts the matching lines of each file until the tally is full."""

    def __init__(self, tally: "_Tally", spans: "_Spans") -> None:
        self._tally = tally
        self._spans = spans
        self.wish = Wish.MORE

    def take(self, found: SearchedFile) -> None:
        """Count the matching lines of a file."""
        self._tally.add(found.path, self._spans.count(found))
        if self._tally.full_by:
            self.wish = Wish.COUNT


def _position(args: GrepArgs) -> tuple[str, int]:
    """Return where to continue: the first path, and how many of its lines are done."""
    line, _, path = cursors.position("grep", args, str(args.cursor)).partition(":")
    seen = cursors.number(line)
    # Without a line number the whole file is done: continue with the next possible path.
    return (path, seen) if seen else (path + "\0", 0)


def _single_line(index: int) -> MatchedLines:
    return MatchedLines(index, index, (0, 0))


class _GiveUp(Exception):
    """A multiline search of a file has gone through too many bytes."""


class _Spans:
    """Finds the lines of matches: single lines, or with `multiline` the lines that matches run over."""

    def __init__(self, args: GrepArgs, sought: Sought, meter: Meter, states: int) -> None:
        self._meter = meter
        self._states = states
        self.skipped = Skipped()
        """Files that took too long."""
        self._left = 0
        self._scan = None
        if args.multiline:
            # Compiled for lines before, so that the pattern is known to be valid.
            self._scan = text_scanner(
                sought.pattern, sought.field, case_sensitive=args.case_sensitive, literal=not sought.regex
            )

    def of(self, found: SearchedFile) -> Iterator[MatchedLines]:
        """Return the lines of each match in a file, in order. A file that takes too long is counted as too large."""
        if self._scan is None:
            return map(_single_line, found.matching)
        return self._over_lines(found, self._scan)

    def _over_lines(self, found: SearchedFile, scan: Scan) -> Iterator[MatchedLines]:
        self._left = MAX_MULTILINE_BYTES
        try:
            yield from found.lines.spans(scan, self._spend)
        except _GiveUp:
            self.skipped.add(found.path, "large")

    def count(self, found: SearchedFile) -> int:
        """Return how many lines of a file match or are part of a match."""
        if self._scan is None:
            return sum(1 for _ in found.matching)
        return sum(span.last - span.first + 1 for span in self.of(found))

    def _spend(self, size: int) -> None:
        self._meter.expect_work(self._states * size)
        self._left -= size
        if self._left < 0:
            raise _GiveUp


class _Tally:
    """The files that match, with their numbers of matching lines."""

    def __init__(self, args: GrepArgs) -> None:
        self._max_files = args.max_hits if args.output == "files" else None
        self._room = args.max_chars if args.output == "files" and args.max_chars is not MISSING else None
        self.counts: list[GrepFileCount] = []
        self.lines = 0
        self.full_by: list[str] = []
        """The limit that was reached, if any."""

    @property
    def end(self) -> str | None:
        """Where the next page begins, if a limit ended this one: behind the last file."""
        return f"0:{self.counts[-1].path}" if self.full_by else None

    def add(self, path: str, lines: int) -> None:
        """Count the matching lines of a file, if there are any, or be full without it."""
        if not lines:
            return
        if self._room is not None:
            self._room -= len(path)
            if self._room < 0 and self.counts:
                self.full_by = ["max_chars"]
                return
        self.counts.append(GrepFileCount(path=path, lines=lines))
        self.lines += lines
        if len(self.counts) == self._max_files:
            self.full_by = ["max_hits"]
