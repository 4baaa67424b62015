"""Comparisons that count, read from ledgers of comparisons and grouped by keys."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from math import isfinite
from operator import itemgetter
from typing import Any, NamedTuple

from normalizer.aggregate import keys
from normalizer.aggregate.eligibility import Kind, Levels, Rules
from normalizer.documents.phases import is_self_judged
from normalizer.errors import CannotRun
from normalizer.ledger.open_ledgers import conserved
from normalizer.ledger.reader import Ledger

ALSO = ("criterion", "eval_id")
"""Keys of comparisons besides those of single scores."""
DECIDED = ("a", "b", "draw")
_SWAPPED = {"a": "b", "b": "a"}


class Comparison(NamedTuple):
    """One verdict. `a` and `b` are generators; `winner` is a, b, draw, both_bad or missing."""

    item: str
    a: str
    b: str
    winner: str
    share: Fraction | None
    first: str
    """Which answer was shown first: a, b or unknown."""
    judge: str | None
    repeat: int
    criterion: str | None
    lengths: tuple[float, float] | None
    self_judged: bool
    place: int = 0
    """The place of its entry in the bundle, from 0."""

    @property
    def score(self) -> Fraction:
        """Score of A: 1 for a win, 1/2 for a draw, 0 for a loss. Only for decided comparisons."""
        return {"a": Fraction(1), "draw": Fraction(1, 2), "b": Fraction(0)}[self.winner]

    def turn(self) -> "Comparison":
        """This comparison with the names A and B swapped."""
        return Comparison(
            self.item,
            self.b,
            self.a,
            _SWAPPED.get(self.winner, self.winner),
            None if self.share is None else 1 - self.share,
            _SWAPPED.get(self.first, self.first),
            self.judge,
            self.repeat,
            self.criterion,
            None if self.lengths is None else (self.lengths[1], self.lengths[0]),
            self.self_judged,
            self.place,
        )


@dataclass(slots=True)
class Compared:
    """The comparisons of each group, and counts of those in no group."""

    groups: dict[Levels, list[Comparison]]
    left_out: dict[str, int]
    records: int
    flags: list[str]


@dataclass(slots=True)
class _Reading:
    """Counts and comparisons collected while ledgers are read."""

    groups: dict[Levels, list[Comparison]] = field(default_factory=lambda: defaultdict(list))
    kinds: Counter[Kind] = field(default_factory=Counter)
    out: Counter[str] = field(default_factory=Counter)
    criteria: set[str | None] = field(default_factory=set)
    instruments: dict[Any, set[tuple[Any, ...]]] = field(default_factory=lambda: defaultdict(set))
    """Prompts, versions and settings of each judge of each group."""


def read_comparisons(
    ledgers: list[Ledger],
    by: tuple[str, ...],
    where: dict[str, keys.Level],
    rules: Rules,
    split: tuple[str, ...] = (),
) -> Compared:
    """Read the comparisons of opened ledgers that are VALID, selected and eligible, grouped by `by` and by `split`.

    Keys of `split` tell groups apart and allow no mixing.

    Raises CannotRun for a ledger of single scores, for a factor that no record has, and where phases, protocol
    versions, legs or criteria would be mixed.
    """
    found = _Reading()
    seen: dict[str, dict[str, str]] = {}
    records = 0
    for ledger in ledgers:
        skip, promised = _bundles(ledger, seen, found.out)
        records += sum(promised)
        _read(ledger, skip, promised[0], found, (*by, *split), where, rules)
        found.out["invalid"] += _invalid(ledger, skip, promised[1], where, found.out)
    _refuse_unknown_factors(ledgers, by, where, found)
    rules.check_mixing(found.kinds, by)
    if len(found.criteria) > 1 and "criterion" not in by:
        names = sorted(str(name) for name in found.criteria)
        raise CannotRun(
            f"the comparisons are by the criteria {' and '.join(names[:5])}, which are not mixed: "
            f"group --by criterion, or choose one with --where criterion={names[0]}"
        )
    groups = {levels: _sort(found.groups[levels]) for levels in sorted(found.groups, key=keys.sort_key)}
    left_out = {
        name: found.out[name]
        for name in (
            "not_selected",
            "duplicate",
            "invalid",
            "diagnostic",
            "other_judge_kind",
            "unreadable_bundles",
            "files_without_entry",
        )
    }
    flags = rules.flags_of_all(found.kinds)
    if any(len(each) > 1 for each in found.instruments.values()):
        flags = sorted([*flags, "mixed_instruments"])
    if found.out["files_without_entry"]:
        flags = sorted([*flags, "partial"])
    return Compared(groups, left_out, records + found.out["duplicate"], flags)


def _refuse_unknown_factors(
    ledgers: list[Ledger], by: tuple[str, ...], where: dict[str, keys.Level], found: _Reading
) -> None:
    """Check the named factors of which no level was found."""
    named = [name for place, name in enumerate(by) if all(levels[place] is None for levels in found.groups)]
    named += [name for name, level in where.items() if level is None or not found.groups]
    keys.refuse_unknown(
        named, (record for ledger in ledgers for kind in ("records", "invalid") for record in ledger.items(kind))
    )


def level_of(record: dict[str, Any], name: str) -> keys.Level:
    """The level of a comparison."""
    return keys.level_in(record, name)


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


def _read(
    ledger: Ledger,
    skip: set[str],
    promised: int,
    found: _Reading,
    by: tuple[str, ...],
    where: dict[str, keys.Level],
    rules: Rules,
) -> None:
    count = 0
    for record in ledger.items("records"):
        if record["source"]["bundle_sha256"] in skip:
            continue
        count += 1
        if any(level_of(record, name) != level for name, level in where.items()):
            found.out["not_selected"] += 1
            continue
        own = is_self_judged(record)
        judges = record.get("judge_kind", "model")
        kind = Kind(int(record["phase"]), record.get("protocol_version"), own, False, judges, record.get("leg"))
        reason = rules.refusal(kind)
        if reason is not None:
            found.out[reason] += 1
            continue
        found.kinds[kind] += 1
        found.criteria.add(record.get("criterion"))
        levels = tuple(level_of(record, name) for name in by)
        found.instruments[levels, record.get("judge_model")].add(tuple(map(record.get, keys.INSTRUMENT)))
        found.groups[levels].append(_comparison(record, own=own))
    conserved("valid", count, promised)


def _invalid(ledger: Ledger, skip: set[str], promised: int, where: dict[str, keys.Level], out: Counter[str]) -> int:
    records = [item for item in ledger.items("invalid") if item["source"]["bundle_sha256"] not in skip]
    conserved("invalid", len(records), promised)
    selected = sum(all(level_of(item, name) == level for name, level in where.items()) for item in records)
    out["not_selected"] += len(records) - selected
    return selected


def _comparison(record: dict[str, Any], *, own: bool) -> Comparison:
    outcome = record["outcome"]
    return Comparison(
        item=record["artifact"],
        a=outcome["a"],
        b=outcome["b"],
        winner=outcome["winner"],
        share=Fraction(str(outcome["share"])) if "share" in outcome else None,
        first=outcome["shown_first"],
        judge=record.get("judge_model"),
        repeat=int(record.get("repeat", 0)),
        criterion=record.get("criterion"),
        lengths=_lengths(record.get("length")),
        self_judged=own,
        place=int(record["source"]["index"]),
    )


def _lengths(given: dict[str, Any] | None) -> tuple[float, float] | None:
    """Both lengths; None where they are not recorded, or too large for arithmetic."""
    found = (0.0, 0.0) if given is None else (float(given["a"]), float(given["b"]))
    return found if given is not None and all(map(isfinite, found)) else None


def _sort(comparisons: list[Comparison]) -> list[Comparison]:
    """Sort by all fields. The first four tell most comparisons apart; only those that are alike need the others."""
    by_names = sorted(comparisons, key=itemgetter(0, 1, 2, 3))
    groups = (list(alike) for _, alike in groupby(by_names, key=itemgetter(0, 1, 2, 3)))
    return [one for alike in groups for one in (sorted(alike, key=_order) if len(alike) > 1 else alike)]


def _order(comparison: Comparison) -> tuple[Any, ...]:
    return tuple((value is None, str(value)) for value in comparison)


def facing(comparisons: list[Comparison], one: str, other: str | None = None) -> Iterator[Comparison]:
    """Return the comparisons of `one` with `other`, or with any generator, turned so that `one` is A."""
    for comparison in comparisons:
        if one not in (comparison.a, comparison.b):
            continue
        seen = comparison if comparison.a == one else comparison.turn()
        if other is None or seen.b == other:
            yield seen
