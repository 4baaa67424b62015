"""find_references: find every line with an identifier, with its role and its enclosing definition."""

from collections import Counter
from collections.abc import Callable, Collection
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
from zeno.results.callers import FactSink, Take, find_callers, is_unclear
from zeno.results.definitions import find_scope
from zeno.results.hit_page import HitPage, Sought
from zeno.results.selected_files import SelectedFiles
from zeno.search.corpus import Corpus, Snapshot
from zeno.search.query import Query
from zeno.search.selection import EVERYTHING, Rules, Selection, under
from zeno.search.sink import MatchedLines, SearchedFile, Skipped

_NO_LIMIT = (1 << 53) - 1

TakeRoles = Callable[[SearchedFile, dict[int, str], KeptFacts], None]
"""Takes a file, the roles of its lines with the name by index, and its facts."""


def find_references(args: FindReferencesArgs, corpus: Corpus, meter: Meter) -> FindReferencesResult:
    """Search the selected files to the end: totals are about all of them, and the list until a limit is reached."""
    selection = EVERYTHING if args.paths is MISSING else under(corpus.tree, args.paths, "args.paths")
    start, seen = ("", 0) if args.cursor is MISSING else _position(args)
    finder = _Finder(args, corpus, meter, selection)
    rules = Rules.of(args, start)
    snapshot = corpus.snapshot(rules)
    totals: Counter[str] = Counter()
    callers: set[str] = set()
    unclear: set[str] = set()
    partial = bool(start or snapshot.candidates.cut)
    page = _Page(args, meter)

    def count(found: SearchedFile, roles: dict[int, str], facts: KeptFacts) -> None:
        totals.update(roles.values())
        for at, role in roles.items() if args.callers else ():
            symbol = facts.find_scope(at + 1) if role == "call" else None
            if symbol is not None:
                callers.add(symbol.name)
            if is_unclear(found.path, facts, at + 1, role, symbol):
                unclear.add(args.name)

    def add(found: SearchedFile, roles: dict[int, str], facts: KeptFacts) -> None:
        if not partial:
            count(found, roles, facts)
        page.add(found, roles, facts, seen if found.path == start else 0)

    # Totals and callers are about all files, whatever part of them the list is about.
    whole = corpus.snapshot(rules._replace(max_files=_NO_LIMIT, start="")) if partial else snapshot
    if partial:
        finder.find(whole, count)
    skipped = finder.find(snapshot, add)
    above = find_callers(
        callers, args.name, args.callers, lambda names, take: finder.search(whole, names, take), unclear
    )
    meter.charge_text(sum(len(str(one)) for part in above for one in part))
    truncated_by = sorted([*(["max_files"] if snapshot.candidates.cut else []), *page.full_by])
    selected = SelectedFiles(args, corpus, selection, snapshot, skipped, start)
    end = page.end or (f"0:{snapshot.candidates.paths[-1]}" if truncated_by else "")
    fields = selected.fields(truncated_by)
    fields["complete"] &= not above.not_followed
    return FindReferencesResult(
        references=page.references,
        totals=ReferenceTotals(**{role: totals[role] for role in ORDER}),
        callers=above.definitions if args.callers else MISSING,
        not_followed=above.not_followed or MISSING,
        **fields,
        cursor=cursors.issue("find_references", args, end) if truncated_by else MISSING,
        skipped=FindReferencesSkipped(**selected.count_skipped()),
        metrics=meter.stop(hits=len(page.references), **selected.metrics()),
    )


class _Finder:
    """Finds the lines with names."""

    def __init__(self, args: FindReferencesArgs, corpus: Corpus, meter: Meter, selection: Selection) -> None:
        self._args = args
        self._corpus = corpus
        self._meter = meter
        self._selection = selection

    def find(self, snapshot: Snapshot, take: TakeRoles) -> Skipped:
        """Pass each file that has the name on, with the roles of its lines by index, and its facts."""

        def classify(found: SearchedFile, matching: list[int], facts: KeptFacts) -> None:
            roles, lines = Roles(facts, self._args.name), found.lines
            take(found, {at: roles.of(at + 1, lines.offset(at), lines[at]) for at in matching}, facts)

        return self.search(snapshot, [self._args.name], classify)

    def search(self, snapshot: Snapshot, names: Collection[str], take: Take) -> Skipped:
        """Pass each file that has one of the names on, with the indexes of these lines, and its facts."""
        query = Query(_pattern("|".join(names)), "args.name", self._args.max_bytes, self._meter, regex=True)
        query.require_affordable(snapshot.paths(self._selection), self._corpus.tree)
        sink = FactSink(self._corpus, self._meter, take)
        skipped = snapshot.search(self._selection, query, sink, self._meter)
        sink.flush()
        return skipped


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


def _pattern(names: str) -> str:
    return rf"\b(?:{names})\b" if "|" in names else rf"\b{names}\b"


def _position(args: FindReferencesArgs) -> tuple[str, int]:
    """Return where to continue: the first path, and how many of its lines are done."""
    line, _, path = cursors.position("find_references", args, str(args.cursor)).partition(":")
    seen = cursors.number(line)
    return (path, seen) if seen else (path + "\0", 0)
