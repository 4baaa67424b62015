"""Read ledgers of comparisons on an engine: which comparisons count, and these in columns or one by one."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from math import isfinite
from operator import itemgetter
from typing import Any

from normalizer.aggregate import keys
from normalizer.aggregate.eligibility import Kind, Levels, Rules
from normalizer.aggregate.engines.interface import Engine, RecordFiles
from normalizer.aggregate.engines.start import start_engine
from normalizer.errors import CannotRun
from normalizer.ledger.open_ledgers import check_conserved
from normalizer.ledger.reader import Ledger
from normalizer.preferences.comparison_query import FIELDS, ComparisonQuery, orders, parse_comparisons, verdicts
from normalizer.preferences.comparisons import Compared, Comparison
from normalizer.preferences.verdicts import ComparisonGroup, make_orders, make_verdicts

MEMORY = "1200MB"
_LEFT_OUT = (
    "not_selected",
    "duplicate",
    "invalid",
    "diagnostic",
    "other_judge_kind",
    "unreadable_bundles",
    "files_without_entry",
)


@dataclass(frozen=True, slots=True)
class ComparisonReading:
    """The comparisons of ledgers that count, on an engine, and counts of the others."""

    engine: Engine
    query: ComparisonQuery
    left_out: dict[str, int]
    records: int
    flags: list[str]

    def groups(self) -> dict[Levels, ComparisonGroup]:
        """Return the comparisons of each group in columns."""
        import numpy as np

        engine, query = self.engine, self.query
        if not next(iter(engine.rows(f"SELECT COUNT(*) FROM {query.table} WHERE {query.eligible}")))[0]:
            return {}
        names = engine.table("names", query.number_texts("a", "b"))
        items = engine.table("items", query.number_texts("item"))
        groups = engine.table("groups", query.groups()) if query.by else None
        levels: dict[Levels, int] = {(): 0}
        if groups is not None:
            levels = {tuple(row[:-1]): int(row[-1]) for row in engine.rows(f"SELECT * FROM {groups}")}
        coded = engine.table("coded", query.select_coded(items, names, groups))
        texts = [
            text for _, text in sorted((int(number), text) for text, number in engine.rows(f"SELECT * FROM {names}"))
        ]
        group, *columns = engine.columns(verdicts(coded))
        asked_group, *asked = engine.columns(orders(coded))
        found = {}
        for key in sorted(levels, key=keys.sort_key):
            which, of_asked = group == levels[key], asked_group == levels[key]
            table = make_verdicts([column[which] for column in columns])
            present = np.unique(np.concatenate([table.a, table.b]))
            table = replace(table, a=np.searchsorted(present, table.a), b=np.searchsorted(present, table.b))
            own = [texts[place] for place in present.tolist()]
            found[key] = ComparisonGroup(own, table, make_orders([column[of_asked] for column in asked]))
        return found

    def comparisons(self) -> dict[Levels, list[Comparison]]:
        """Return the comparisons of each group one by one."""
        width = len(self.query.by)
        found: dict[Levels, list[Comparison]] = defaultdict(list)
        for row in self.engine.rows(self.query.rows()):
            found[tuple(row[:width])].append(_comparison(row[width:]))
        return {levels: _sort(found[levels]) for levels in sorted(found, key=keys.sort_key)}


@contextmanager
def read_on_engine(
    ledgers: list[Ledger],
    by: tuple[str, ...],
    where: dict[str, keys.Level],
    rules: Rules,
    split: tuple[str, ...] = (),
    engine: str = "duckdb",
    memory: str = MEMORY,
) -> Iterator[ComparisonReading]:
    """Read the comparisons of opened ledgers that are VALID, selected and eligible, grouped by `by` and by `split`.

    Keys of `split` tell groups apart and allow no mixing.

    Raises CannotRun for a ledger of single scores, for a factor that no record has, and where phases, protocol
    versions, legs or criteria would be mixed.
    """
    out: Counter[str] = Counter()
    seen: dict[str, dict[str, str]] = {}
    files, records, promised = [], 0, 0
    for ledger in ledgers:
        skip, (valid, invalid) = _bundles(ledger, seen, out)
        records += valid + invalid
        promised += valid
        files.append(RecordFiles(ledger.paths("records"), frozenset(skip)))
        out["invalid"] += _invalid(ledger, skip, invalid, where, out)
    with start_engine(engine, memory, sum(ledger.size("records") for ledger in ledgers)) as running, running.call():
        parsed = running.parse(files, FIELDS, parse_comparisons)
        query = ComparisonQuery((*by, *split), where, rules.condition())
        query = replace(query, table=running.view("comparisons", query.comparisons(parsed)))
        kinds = _count_kinds(running, query, rules, out, promised)
        _refuse_unknown_factors(ledgers, running, query, by)
        rules.check_mixing(kinds, by)
        _refuse_mixed_criteria(running, query, by)
        flags = rules.flags_of_all(kinds)
        if next(iter(running.rows(query.count_mixed_instruments())))[0]:
            flags = sorted([*flags, "mixed_instruments"])
        if out["files_without_entry"]:
            flags = sorted([*flags, "partial"])
        yield ComparisonReading(
            running, query, {name: out[name] for name in _LEFT_OUT}, records + out["duplicate"], flags
        )


def read_comparisons(
    ledgers: list[Ledger],
    by: tuple[str, ...],
    where: dict[str, keys.Level],
    rules: Rules,
    split: tuple[str, ...] = (),
) -> Compared:
    """Return the comparisons that `read_on_engine` reads one by one."""
    with read_on_engine(ledgers, by, where, rules, split) as found:
        return Compared(found.comparisons(), found.left_out, found.records, found.flags)


def _count_kinds(
    engine: Engine, query: ComparisonQuery, rules: Rules, out: Counter[str], promised: int
) -> Counter[Kind]:
    """Return the comparisons that count, by what the rules look at, and count the others in `out`."""
    kinds: Counter[Kind] = Counter()
    there = 0
    for chosen, phase, protocol, own, judge_kind, leg, count in engine.rows(query.kinds()):
        there += int(count)
        kind = Kind(int(phase), protocol, bool(own), False, judge_kind, leg)
        reason = rules.refusal(kind) if chosen else "not_selected"
        if reason is None:
            kinds[kind] += int(count)
        else:
            out[reason] += int(count)
    check_conserved("valid", there, promised)
    return kinds


def _refuse_unknown_factors(ledgers: list[Ledger], engine: Engine, query: ComparisonQuery, by: tuple[str, ...]) -> None:
    """Check the named factors of which no level was found."""
    counts = ", ".join(["COUNT(*)", *(f"COUNT({key})" for key in query.keys)])
    [(there, *levels)] = engine.rows(f"SELECT {counts} FROM {query.table} WHERE {query.eligible}")
    named = [name for name, count in zip(query.by, levels, strict=True) if not count and name in by]
    named += [name for name, level in query.where.items() if level is None or not there]
    keys.refuse_unknown(
        named, (record for ledger in ledgers for kind in ("records", "invalid") for record in ledger.items(kind))
    )


def _refuse_mixed_criteria(engine: Engine, query: ComparisonQuery, by: tuple[str, ...]) -> None:
    names = sorted(str(name) for (name,) in engine.rows(query.distinct("criterion")))
    if len(names) > 1 and "criterion" not in by:
        raise CannotRun(
            f"the comparisons are by the criteria {' and '.join(names[:5])}, which are not mixed: "
            f"group --by criterion, or choose one with --where criterion={names[0]}"
        )


def find_duplicates(ledgers: list[Ledger]) -> list[frozenset[str]]:
    """Return for each ledger of comparisons the bundles that an earlier one has. Raises CannotRun as reading does."""
    seen: dict[str, dict[str, str]] = {}
    return [frozenset(_bundles(ledger, seen, Counter())[0]) for ledger in ledgers]


def _bundles(ledger: Ledger, seen: dict[str, dict[str, str]], out: Counter[str]) -> tuple[set[str], tuple[int, int]]:
    """Bundles to skip because an earlier ledger has them, and the VALID and INVALID records promised by the others."""
    skip: set[str] = set()
    valid = invalid = 0
    for kind in ("headers", "audit"):
        for item in ledger.items(kind):
            if kind == "headers" and item.get("kind") != "comparison":
                raise CannotRun(f"{ledger.folder} holds single scores, not comparisons: see `normalizer aggregate`")
            sha256, settings = item["bundle_sha256"], item["settings"]
            if sha256 in seen:
                if seen[sha256] != settings:
                    raise CannotRun(
                        f"bundle {sha256} is in two of the ledgers under different settings: give one of them"
                    )
                skip.add(sha256)
                out["duplicate"] += item.get("entries", 0)
                continue
            seen[sha256] = settings
            valid += item.get("valid", 0)
            invalid += item.get("invalid", 0)
            out["unreadable_bundles"] += kind == "audit"
            out["files_without_entry"] += sum(reason["code"] == "file_without_entry" for reason in item["reasons"])
    return skip, (valid, invalid)


def _invalid(ledger: Ledger, skip: set[str], promised: int, where: dict[str, keys.Level], out: Counter[str]) -> int:
    """Return how many INVALID comparisons are selected."""
    there = selected = 0
    for item in ledger.items("invalid"):
        if item["source"]["bundle_sha256"] not in skip:
            there += 1
            selected += all(keys.level_in(item, name) == level for name, level in where.items())
    check_conserved("invalid", there, promised)
    out["not_selected"] += there - selected
    return selected


def _comparison(row: tuple[Any, ...]) -> Comparison:
    item, a, b, winner, share, first, judge, repeat, criterion, length_a, length_b, own, place = row
    return Comparison(
        item=item,
        a=a,
        b=b,
        winner=winner,
        share=None if share < 0 else Fraction(str(share)),
        first=first,
        judge=judge,
        repeat=int(Decimal(repeat)),
        criterion=criterion,
        lengths=(length_a, length_b) if all(isfinite(each) and each >= 0 for each in (length_a, length_b)) else None,
        self_judged=bool(own),
        place=int(place),
    )


def _sort(comparisons: list[Comparison]) -> list[Comparison]:
    """Sort by all fields. The first four tell most comparisons apart; only those that are alike need the others."""
    by_names = sorted(comparisons, key=itemgetter(0, 1, 2, 3))
    groups = (list(alike) for _, alike in groupby(by_names, key=itemgetter(0, 1, 2, 3)))
    return [one for alike in groups for one in (sorted(alike, key=_order) if len(alike) > 1 else alike)]


def _order(comparison: Comparison) -> tuple[Any, ...]:
    return tuple((value is None, str(value)) for value in comparison)
