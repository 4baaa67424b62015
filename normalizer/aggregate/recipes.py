"""Scores of groups as another board publishes them, by a named recipe: WildBench's, from scores between 1 and 10."""

from collections import Counter, defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from normalizer.aggregate.eligibility import Levels
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.units import Numbers, prepare_records
from normalizer.documents.exact import round_exact
from normalizer.documents.recipes import Recipe
from normalizer.errors import CannotRun
from normalizer.estimation.clusters import Clusters
from normalizer.estimation.intervals import mean_interval
from normalizer.estimation.task_weights import read_tasks, weigh
from normalizer.ledger.open_ledgers import OpenLedgers

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
