"""Refuse to take different answers for one artifact because their files have the same name."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.keys import FACTOR, sort_key
from normalizer.aggregate.query import Query
from normalizer.errors import CannotRun


def refuse_shared_names(engine: Engine, query: Query, names: str, eligible: str) -> None:
    """Raise CannotRun if records that would be one unit differ in a factor, and only the file's name makes them one.

    `names` is SQL for the artifacts whose records are not all alike. A factor that only some of the records have is no
    difference. A manifest that names artifacts says itself which files are one, and so does the key of a dialect.
    """
    if (found := _first_difference(engine.rows(query.factors_of_names(names, eligible)))) is not None:
        file, key, one, other = found
        raise CannotRun(
            f"records of the file {file} differ in {key} ({one} and {other}), so it is the name of several answers: "
            f"group --by {key}, choose one with --where {key}={other}, or give each answer its own artifact in a "
            "manifest"
        )


def refuse_doubtful_repeats(rows: Iterable[Sequence[Any]], repeats: frozenset[str]) -> None:
    """Raise CannotRun if labels of one file differ in a factor whose levels were not called repeats.

    Rows are units, beginning with the name of the file, with the factors of a record as their last member.
    """
    if (found := _first_difference(rows, repeats)) is not None:
        file, key, one, other = found
        raise CannotRun(
            f"labels of the file {file} differ in {key} ({one} and {other}): if these are repeats of one answer, say "
            f"--repeats {key}; if they are several answers, choose one with --where {key}={other}, or give each its "
            "own artifact in a manifest"
        )


def _first_difference(
    rows: Iterable[Sequence[Any]], but: frozenset[str] = frozenset()
) -> tuple[str, str, str, str] | None:
    """Return file, key and two levels of the first unit whose records differ in a factor; None if there is none."""
    alike = {(tuple(unit), tuple(sorted(factors.items()))) for *unit, factors in rows}
    seen: dict[tuple[Any, ...], dict[str, str]] = {}
    for unit, factors in sorted(alike, key=lambda each: (sort_key(each[0]), each[1])):
        levels = seen.setdefault(unit, {})
        for name, level in factors:
            key = f"{FACTOR}{name}"
            if key not in but and levels.setdefault(key, level) != level:
                return json.dumps(unit[0], ensure_ascii=False), key, levels[key], level
    return None
