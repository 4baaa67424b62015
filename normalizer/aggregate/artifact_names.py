"""Refuse to take different answers for one artifact because their files have the same name."""

import json
from typing import Any

from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.keys import FACTOR
from normalizer.aggregate.query import Query
from normalizer.errors import CannotRun


def refuse_shared_names(engine: Engine, query: Query, eligible: str) -> None:
    """Raise CannotRun if records that would be one unit differ in a factor, and only the file's name makes them one.

    The engine has the table `judged`. A factor that only some of the records have is no difference. A manifest that
    names artifacts says itself which files are one, and so does the key of a dialect.
    """
    seen: dict[tuple[Any, ...], dict[str, str]] = {}
    for *unit, text in engine.rows(query.factors_of_names(eligible)):
        levels = seen.setdefault(tuple(unit), {})
        for factor in json.loads(text):
            name, level = factor["key"], factor["value"]
            if levels.setdefault(name, level) != level:
                key, file = f"{FACTOR}{name}", json.dumps(unit[0], ensure_ascii=False)
                raise CannotRun(
                    f"records of the file {file} differ in {key} ({levels[name]} and {level}), so it is the name of "
                    f"several answers: group --by {key}, choose one with --where {key}={level}, or give each answer "
                    "its own artifact in a manifest"
                )
