"""Scores as other boards publish them, by named recipes. A recipe counts comparisons; a rate of ours counts items.

Most recipes are a weighted mean of A's shares, moved to the board's scale; the others are models of their own modules.
The 95 % interval is ours: that of a mean on a scale, the comparisons of one item being one cluster.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any, NamedTuple

from normalizer.aggregate.recipes import Recipe, read_tasks, weigh
from normalizer.documents.exact import round_exact
from normalizer.errors import CannotRun
from normalizer.estimation.clusters import Clusters
from normalizer.estimation.intervals import mean_interval
from normalizer.preferences.alpaca_length import read_difficulties, score_at_equal_lengths
from normalizer.preferences.arena_style import read_styles, score_at_equal_style
from normalizer.preferences.comparisons import DECIDED, Comparison

_FIVE = frozenset(Fraction(quarter, 4) for quarter in range(5))
"""The shares of five grades: much better, better, as good, worse, much worse."""
TurnedPairs = dict[tuple[str, str], list[Comparison]]
"""The comparisons of pairs of generators, turned so that the first is A."""


class _Mean(NamedTuple):
    """How a board makes a mean of A's shares."""

    grades: frozenset[Fraction] | None = None
    """The shares that may occur; None: all."""
    strong: int | None = None
    """How often a share of 0 or 1 counts, where verdicts are wins, ties and losses; None: shares count, each once."""
    low: int = 0
    """The score of a share of 0; that of 1 is 100."""


_MEANS = {
    "alpaca-eval": _Mean(),
    "arena-hard": _Mean(_FIVE, 3),
    "arena-hard-style": _Mean(_FIVE, 3),
    "wildbench": _Mean(_FIVE, low=-100),
    "wildbench-macro": _Mean(_FIVE, low=-100),
}


def score_pairs(recipe: Recipe, pairs: TurnedPairs) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the score of the first generator of each pair by a recipe.

    Raises CannotRun where a decided verdict has no grade, or one that the recipe does not know.
    """
    if recipe.name == "alpaca-eval-lc":
        known = read_difficulties(recipe)
        return {pair: score_at_equal_lengths(members, known) for pair, members in pairs.items()}
    for members in pairs.values():
        _shares(recipe.name, members)
    if recipe.name == "arena-hard-style":
        scores = score_at_equal_style(pairs, read_styles(recipe))
        return {pair: scores[pair[0]] for pair in pairs}
    return {pair: _score(recipe, members) for pair, members in pairs.items()}


def describe(recipe: Recipe) -> dict[str, Any]:
    """Return what a document says about a recipe; the variant of the model is the one that its files allow."""
    variant = read_difficulties(recipe).variant if recipe.name == "alpaca-eval-lc" else None
    return {**recipe.describe(), "variant": variant}


def _score(recipe: Recipe, comparisons: list[Comparison]) -> dict[str, Any]:
    mean = _MEANS[recipe.name]
    values: dict[str, list[Fraction]] = defaultdict(list)
    for one, share in _shares(recipe.name, comparisons):
        times = mean.strong if mean.strong is not None and share in (0, 1) else 1
        values[one.item] += [share if mean.strong is None else one.score] * times
    document: dict[str, Any] = {"n": sum(one.winner in DECIDED for one in comparisons), "score": None, "ci95": None}
    document["coefficients"] = None
    if not values:
        return document
    if recipe.name == "wildbench-macro":
        clusters = weigh(values, read_tasks(recipe))
    else:
        clusters = Clusters(Counter((sum(each, Fraction(0)), len(each)) for each in values.values()))
    ends = mean_interval(clusters, (Fraction(0), Fraction(1))) if clusters.clusters > 1 else None

    def scale(share: Fraction) -> Any:
        return round_exact(mean.low + (100 - mean.low) * share)

    return {**document, "score": scale(clusters.mean), "ci95": None if ends is None else [scale(end) for end in ends]}


def _shares(name: str, comparisons: list[Comparison]) -> list[tuple[Comparison, Fraction]]:
    """Return the decided comparisons with A's share of each."""
    grades = _MEANS[name].grades
    found = []
    for one in comparisons:
        if one.winner not in DECIDED:
            continue
        share = one.score if one.winner == "draw" else one.share
        if share is None or (grades is not None and share not in grades):
            has = "none" if share is None else f"a preference of {float(2 - share):g}"
            raise CannotRun(
                f"--recipe {name} needs graded verdicts, and item {one.item} has {has}: see the page preferences"
            )
        found.append((one, share))
    return found
