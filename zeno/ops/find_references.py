"""find_references: find every line with an identifier, with its role and its enclosing definition."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from contract_models.zeno.ops.find_references import (
    FindReferencesArgs,
    FindReferencesResult,
    FindReferencesSkipped,
    ReferenceTotals,
)
from contract_models.zeno.ops.grep import GrepArgs
from pydantic import MISSING

from zeno.code.kept_facts import KeptFacts
from zeno.code.tokens import ORDER, Roles
from zeno.meter import Meter
from zeno.results import cursors
from zeno.results.definitions import find_scope
from zeno.results.hit_page import HitPage, Sought
from zeno.results.selected_files import SelectedFiles
from zeno.search.corpus import Corpus, Snapshot
from zeno.search.query import Query
from zeno.search.selection import EVERYTHING, Rules, Selection, under
from zeno.search.sink import MatchedLines, SearchedFile, Skipped, Wish

# Files that are parsed side by side before their lines are classified.
_AT_ONCE = 32
_BYTES_AT_ONCE = 4 << 20
_NO_LIMIT = (1 << 53) - 1

Take = Callable[[SearchedFile, dict[int, str], KeptFacts], None]
"""Takes a file, the roles of its lines with the name by index, and its facts."""


def find_references(args: FindReferencesArgs, corpus: Corpus, meter: Meter) -> FindReferencesResult:
    """Search the selected files to the end: totals are about all of them, and the list until a limit is reached."""
    selection = EVERYTHING if args.paths is MISSING else under(corpus.tree, args.paths, "args.paths")
    start, seen = ("", 0) if args.cursor is MISSING else _position(args)
    finder = _Finder(args, corpus, meter, selection)
    rules = Rules.of(args, start)
    snapshot = corpus.snapshot(rules)
    totals: Counter[str] = Counter()
    partial = bool(start or snapshot.candidates.cut)
    page = _Page(args, meter)

    def count(_found: SearchedFile, roles: dict[int, str], _facts: KeptFacts) -> None:
        totals.update(roles.values())

    def add(found: SearchedFile, roles: dict[int, str], facts: KeptFacts) -> None:
        if not partial:
            count(found, roles, facts)
        page.add(found, roles, facts, seen if found.path == start else 0)

    if partial:
        # Totals are about all files, whatever part of them the list is about.
        finder.find(corpus.snapshot(rules._replace(max_files=_NO_LIMIT, start="")), count)
    skipped = finder.find(snapshot, add)
    truncated_by = sorted([*(["max_files"] if snapshot.candidates.cut else []), *page.full_by])
    selected = SelectedFiles(args, corpus, selection, snapshot, skipped, start)
    end = page.end or (f"0:{snapshot.candidates.paths[-1]}" if truncated_by else "")
    return FindReferencesResult(
        references=page.references,
        totals=ReferenceTotals(**{role: totals[role] for role in ORDER}),
        **selected.fields(truncated_by),
        cursor=cursors.issue("find_references", args, end) if truncated_by else MISSING,
        skipped=FindReferencesSkipped(**selected.count_skipped()),
        metrics=meter.stop(hits=len(page.references), **selected.metrics()),
    )


class _Finder:
    """Finds the lines with the name, with their roles."""

    def __init__(self, args: FindReferencesArgs, corpus: Corpus, meter: Meter, selection: Selection) -> None:
        self._name = args.name
        self._corpus = corpus
        self._meter = meter
        self._selection = selection
        self._query = Query(_pattern(args.name), "args.name", args.max_bytes, meter, regex=True)

    def find(self, snapshot: Snapshot, take: Take) -> Skipped:
        """Pass each file that has the name on, with the roles of its lines by index, and its facts."""
        self._query.require_affordable(snapshot.paths(self._selection), self._corpus.tree)
        sink = _Sink(self._corpus, self._meter, self._name, take)
        skipped = snapshot.search(self._selection, self._query, sink, self._meter)
        sink.flush()
        return skipped


class _Sink:
    """Classifies the lines of files, some files at a time."""

    def __init__(self, corpus: Corpus, meter: Meter, name: str, take: Take) -> None:
        self._corpus = corpus
        self._meter = meter
        self._name = name
        self._pass_on = take
        self._group: list[tuple[SearchedFile, list[int]]] = []
        self._room = _BYTES_AT_ONCE
        self.wish = Wish.MORE

    def take(self, found: SearchedFile) -> None:
        """Take a file that may have the name."""
        if matching := list(found.matching):
            self._group.append((found, matching))
            self._room -= found.lines.size
            if len(self._group) == _AT_ONCE or self._room < 0:
                self.flush()

    def flush(self) -> None:
        """Pass on the files that were taken."""
        group, self._group, self._room = self._group, [], _BYTES_AT_ONCE
        known = self._corpus.facts.of_all([found.source for found, _ in group], self._meter.check)
        for (found, matching), facts in zip(group, known, strict=True):
            roles = Roles(facts, self._name)
            lines = found.lines
            self._pass_on(found, {at: roles.of(at + 1, lines.offset(at), lines[at]) for at in matching}, facts)


class _Page:
    """The lines of one answer, as grep would give them, with role and scope."""

    def __init__(self, args: FindReferencesArgs, meter: Meter) -> None:
        self._roles = None if args.roles is MISSING else frozenset(args.roles)
        self._lines = HitPage(
            GrepArgs(
                pattern=_pattern(args.name),
                regex=True,
                max_hits=args.max_hits,
                context=args.context,
                receipts=args.receipts,
                max_line_chars=args.max_line_chars,
                max_chars=args.max_chars,
            ),
            meter,
            Sought(_pattern(args.name), True, "args.name", None),
        )
        self.references: list[Any] = []

    @property
    def full_by(self) -> list[str]:
        """The limit that was reached, if any."""
        return self._lines.full_by

    @property
    def end(self) -> str | None:
        """The position after the last line, for a cursor, if a limit ended the page."""
        return self._lines.end

    def add(self, found: SearchedFile, roles: dict[int, str], facts: KeptFacts, seen: int) -> None:
        """Add the lines of a file that are asked for, behind its first `seen` lines, until a limit is reached."""
        for at, role in roles.items():
            if self.full_by:
                return
            if at < seen or (self._roles is not None and role not in self._roles):
                continue
            before = len(self._lines.hits)
            if self._lines.takes_lines:
                self._lines.add_lines(found, [at])
            else:
                self._lines.add(found, MatchedLines(at, at, (0, 0)))
            if len(self._lines.hits) > before:
                hit = self._lines.hits[-1]
                self.references.append({**hit, "role": role, "scope": find_scope(facts, at + 1)})


def _pattern(name: str) -> str:
    return rf"\b{name}\b"


def _position(args: FindReferencesArgs) -> tuple[str, int]:
    """Return where to continue: the first path, and how many of its lines are done."""
    line, _, path = cursors.position("find_references", args, str(args.cursor)).partition(":")
    seen = cursors.number(line)
    return (path, seen) if seen else (path + "\0", 0)
