"""Scores of groups as another board publishes them, by a named recipe: WildBench's, from scores between 1 and 10."""

import csv
import hashlib
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import TYPE_CHECKING, Any

import contract_spec as spec

from normalizer.aggregate.eligibility import Levels
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.units import Numbers, prepare_records
from normalizer.documents.exact import round_exact
from normalizer.errors import CannotRun
from normalizer.estimation.clusters import Clusters
from normalizer.estimation.intervals import mean_interval
from normalizer.ledger.open_ledgers import OpenLedgers
from normalizer.regular_files import regular_bytes

RECIPES: dict[str, dict[str, Any]] = spec.resource("rules/recipes.json")

RecipeRow = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A named recipe, with the rows of its files."""

    name: str
    rows: tuple[RecipeRow, ...] = ()
    files: tuple[dict[str, str], ...] = field(default=())
    """Name and digest of each file."""

    def describe(self) -> dict[str, Any]:
        """Return what a document says about the recipe."""
        told = {key: RECIPES[self.name][key] for key in ("formula", "source", "lacks")}
        return {"name": self.name, **told, "files": list(self.files)}


def recipes_of(kind: str) -> list[str]:
    """Return the names of the recipes for `comparisons` or `scores`."""
    return [name for name in sorted(RECIPES) if kind in RECIPES[name]["of"]]


def read_recipe(name: str | None, paths: tuple[Path, ...]) -> Recipe | None:
    """Return the recipe with its files. Raises CannotRun where files are missing, or given without need."""
    if name is None:
        if paths:
            raise CannotRun("--recipe-file goes with --recipe: name the recipe, or leave the file out")
        return None
    need = RECIPES[name]["files"]
    if need == "none" and paths:
        raise CannotRun(f"--recipe {name} needs no file: leave --recipe-file out")
    if need == "needed" and not paths:
        raise CannotRun(f"--recipe {name} needs --recipe-file: the page preferences says which file it is")
    rows: list[RecipeRow] = []
    files = []
    for path in paths:
        try:
            data = regular_bytes(path)
        except OSError as problem:
            raise CannotRun(f"{path} cannot be read: {problem.strerror}") from None
        rows += _read_rows(path, data)
        files.append({"name": path.name, "sha256": hashlib.sha256(data).hexdigest()})
    return Recipe(name, tuple(rows), tuple(files))


def _read_rows(path: Path, data: bytes) -> list[RecipeRow]:
    try:
        text = data.decode("utf-8-sig")
        if path.suffix == ".csv":
            return list(csv.DictReader(io.StringIO(text, newline="")))
        found = (
            json.loads(text)
            if path.suffix == ".json"
            else [json.loads(line) for line in text.split("\n") if line.strip()]
        )
    except (ValueError, csv.Error):
        found = None
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise CannotRun(f"{path} has no rows: give a .csv table, a .json list of objects or .jsonl lines of objects")
    return found


if TYPE_CHECKING:
    from normalizer.aggregate.query import Query
    from normalizer.aggregate.summary import Options

_SCALE = (1, 10)


def score_groups(
    engine: Engine, given: OpenLedgers, query: "Query", options: "Options", recipe: Recipe
) -> dict[Levels, dict[str, Any]]:
    """Return the score of each group that has units, given the query of its items: the last key is the artifact.

    Raises CannotRun for another scale than WildBench's, and for what the recipe's file lacks.
    """
    ends = tuple(map(int, query.rubric.bounds()))
    if ends != _SCALE:
        raise CannotRun(f"--recipe {recipe.name} is for scores from 1 to 10, and {query.rubric.name} is {ends}")
    with prepare_records(engine, query, given, diagnostic=options.rules.diagnostic) as query:
        numbers = Numbers(engine, query, options.rules.condition(), options.unit)
        items: dict[Levels, dict[str, tuple[Fraction, int]]] = defaultdict(dict)
        for (*levels, item), group in numbers.groups().items():
            items[tuple(levels)][str(item)] = group.mean(numbers.denominator) * group.n, group.n
    tasks = read_tasks(recipe) if recipe.name == "wildbench-macro" else None
    return {levels: _score(each, tasks) for levels, each in items.items()}


def _score(items: dict[str, tuple[Fraction, int]], tasks: dict[str, frozenset[str]] | None) -> dict[str, Any]:
    if tasks is None:
        clusters = Clusters(Counter(items.values()))
    else:
        clusters = weigh({item: [total / n] * n for item, (total, n) in items.items()}, tasks)
    ends = mean_interval(clusters, (Fraction(_SCALE[0]), Fraction(_SCALE[1]))) if clusters.clusters > 1 else None

    def scale(mean: Fraction) -> Any:
        return round_exact(20 * (mean - 5))

    return {
        "n": sum(n for _, n in items.values()),
        "score": scale(clusters.mean),
        "ci95": None if ends is None else [scale(end) for end in ends],
    }


_MACRO = RECIPES["wildbench-macro"]
GROUPS: dict[str, str] = _MACRO["groups"]
QUARTERS: dict[str, int] = _MACRO["quarters"]


def read_tasks(recipe: Recipe) -> dict[str, frozenset[str]]:
    """Return the groups of tasks of each item, from its `primary_tag` and `secondary_tags`. Raises CannotRun."""
    found = {}
    for row in recipe.rows:
        item = row.get("id", row.get("session_id"))
        tags = [row.get("primary_tag"), *(row.get("secondary_tags") or [])]
        unknown = [tag for tag in tags if tag not in GROUPS]
        if item is None or unknown:
            raise CannotRun(
                f"a row of the recipe's file has {'no id' if item is None else f'the tag {unknown[0]}'}: it needs id, "
                f"primary_tag and secondary_tags, the tags being {', '.join(sorted(GROUPS))}"
            )
        found[str(item)] = frozenset(GROUPS[tag] for tag in tags)
    return found


def weigh(values: Mapping[str, Iterable[Fraction]], tasks: Mapping[str, frozenset[str]]) -> Clusters:
    """Return the items as clusters whose sizes are their weights, given the values of each item.

    Raises CannotRun for an item without tags, and where a group of tasks has no value.
    """
    lists = {item: list(each) for item, each in values.items()}
    missing = sorted(item for item in lists if item not in tasks)
    if missing:
        raise CannotRun(f"the file of the recipe has no tags for item {missing[0]}")
    sizes: Counter[str] = Counter()
    for item, each in lists.items():
        sizes.update({group: len(each) for group in tasks[item]})
    empty = [group for group in sorted(QUARTERS) if not sizes[group]]
    if lists and empty:
        raise CannotRun(f"no item is of the tasks {' and '.join(empty)}, and the macro score needs all five groups")
    common = lcm(*sizes.values())
    counts: Counter[tuple[Fraction, int]] = Counter()
    for item, each in lists.items():
        weight = sum(QUARTERS[group] * common // sizes[group] for group in tasks[item])
        counts[weight * sum(each, Fraction(0)), weight * len(each)] += 1
    return Clusters(counts)
