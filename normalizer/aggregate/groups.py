"""The groups of a table: those with records, and those that are expected to have records."""

from collections import Counter
from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any, NamedTuple

from normalizer.aggregate import keys
from normalizer.aggregate.eligibility import Cells, Kind, Levels
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.query import Query
from normalizer.documents import protocol
from normalizer.errors import CannotRun
from normalizer.ledger.open_ledgers import OpenLedgers

_MOST_CELLS = 1_000_000


class Found(NamedTuple):
    """Counts of the records of each group."""

    valid: Cells
    """For every expected group, the VALID records of the selection."""
    invalid: Counter[Levels]
    not_selected: int
    partial: frozenset[Levels] = frozenset()
    """Groups to which files belong that a manifest lists and that have no entry."""

    def kinds(self) -> Counter[Kind]:
        """All VALID records of the selection."""
        total: Counter[Kind] = Counter()
        for cell in self.valid.values():
            total.update(cell)
        return total

    def total(self, sources: OpenLedgers) -> int:
        """All records of the ledgers."""
        return self.kinds().total() + self.invalid.total() + self.not_selected + sources.duplicates


def find_groups(engine: Engine, query: Query, sources: OpenLedgers, where: dict[str, keys.Level]) -> Found:
    """Count the records of all groups, and add the groups that are expected and empty.

    Raises CannotRun for a factor that is named and that no record has.
    """
    valid, not_selected = _count_cells(engine, query)
    invalid: Counter[Levels] = Counter()
    for record in sources.invalid():
        if is_selected(record, where):
            invalid[_levels(record, query.by)] += 1
        else:
            not_selected += 1
    missing = {_levels(item, query.by) for item in sources.expected if is_selected(item, where)}
    keys.refuse_unknown(_never_seen(engine, query, where, {*valid, *invalid, *missing}), _everything(sources))
    for levels in _cross_levels({*valid, *invalid, *missing}, query.by):
        valid.setdefault(levels, Counter())
    return Found(valid, invalid, not_selected, _partial(sources, query.by, where))


def find_whole(engine: Engine, query: Query, sources: OpenLedgers, where: dict[str, keys.Level]) -> Found:
    """Count all records as one group, for keys that have too many groups to be counted. Raises CannotRun as
    `find_groups` does."""
    found = find_groups(engine, query.ungroup(), sources, where)
    counts = ", ".join(f"COUNT({key})" for key in query.keys)
    [levels] = engine.rows(f"SELECT {counts} FROM {query.table} WHERE chosen = 1")
    unseen = (name for name, count in zip(query.by, levels, strict=True) if not count)
    keys.refuse_unknown(unseen, _everything(sources))
    return found


def _partial(sources: OpenLedgers, by: tuple[str, ...], where: dict[str, keys.Level]) -> frozenset[Levels]:
    """The groups that lack an entry of a manifest's file, unless another leg of the run has it in the same group."""

    def name_entry(item: dict[str, Any]) -> tuple[Any, ...]:
        return (_levels(item, by), item.get("eval_id"), item.get("run_id"), item["file"])

    supplied = {name_entry(item) for item in sources.supplied if is_selected(item, where)}
    lacking = {name_entry(item) for item in sources.lacking if is_selected(item, where)}
    return frozenset(levels for levels, *_ in lacking - supplied)


def absent_files(sources: OpenLedgers) -> list[dict[str, Any]]:
    """Return the metadata of each file of a manifest that has no entry in any leg of its run."""

    def name_file(item: dict[str, Any]) -> tuple[Any, ...]:
        return (item.get("eval_id"), item.get("run_id"), item["file"])

    supplied = {name_file(item) for item in sources.supplied}
    return [item for item in sources.lacking if name_file(item) not in supplied]


def _never_seen(engine: Engine, query: Query, where: dict[str, keys.Level], found: set[Levels]) -> Iterator[str]:
    """The keys of which no level was found, so that they may be unknown. Known keys cost no further reading."""
    for place, name in enumerate(query.by):
        if all(levels[place] is None for levels in found):
            yield name
    for name, level in where.items():
        if level is None or not found:
            yield name
    if query.cluster is not None and not next(iter(engine.rows(f"SELECT COUNT(c) FROM {query.table}")))[0]:
        yield query.cluster


def _everything(sources: OpenLedgers) -> Iterator[dict[str, Any]]:
    """All records of the ledgers, and the metadata of entries that are missing."""
    for part in sources.parts:
        yield from part.ledger.items("records")
    yield from sources.invalid()
    yield from sources.expected


def without(judge: str, engine: Engine, query: Query, found: Found) -> Found:
    """Count the groups again without the VALID records of one judge."""
    valid, not_selected = _count_cells(engine, query, judge)
    groups = {levels: valid.get(levels, Counter()) for levels in found.valid}
    return found._replace(valid=groups, not_selected=not_selected)


def _count_cells(engine: Engine, query: Query, judge: str | None = None) -> tuple[Cells, int]:
    valid: Cells = {}
    not_selected = 0
    width = len(query.by)
    for row in engine.rows(query.kinds(without=judge)):
        levels, (chosen, phase, version, self_judged, off, judges, leg, count) = tuple(row[:width]), row[width:]
        if not chosen:
            not_selected += int(count)
            continue
        kind = Kind(int(phase), version, bool(self_judged), bool(off), judges, leg)
        if kind.off_scale and not protocol.may_relax(kind.phase):
            raise CannotRun(f"{count} valid records have scores off their scale: was the ledger edited? See `audit`")
        valid.setdefault(levels, Counter())[kind] += int(count)
    return valid, not_selected


def is_selected(record: dict[str, Any], where: dict[str, keys.Level]) -> bool:
    """Whether a record, or an entry that became none, is selected. One without a rubric belongs to every rubric."""
    if record.get("rubric", where.get("rubric")) != where.get("rubric", record.get("rubric")):
        return False
    return all(
        keys.level_in(record, name) == level for name, level in where.items() if name not in ("rubric", keys.DIMENSION)
    )


def _levels(record: dict[str, Any], by: tuple[str, ...]) -> Levels:
    return tuple(keys.level_in(record, name) for name in by)


def _cross_levels(found: set[Levels], by: tuple[str, ...]) -> set[Levels]:
    """Return the groups that are expected. Keys of the study's design are crossed: every combination of levels is
    expected. A key of a run (its id, phase, versions) or a missing level is combined only with what occurs with it."""
    if not by:
        return {()}
    if not all(map(keys.is_of_design, by)):
        return found
    levels = [{cell[place] for cell in found} - {None} for place in range(len(by))]
    size = prod(map(len, levels))
    if size > _MOST_CELLS:
        raise CannotRun(f"--by {','.join(by)} has {size} cells: name fewer keys")
    return found | set(product(*levels))
