"""Scores as other boards publish them, by named recipes. A recipe counts comparisons; a rate of ours counts items.

Every recipe is a weighted mean of A's shares, moved to the board's scale. Its 95 % interval is ours: that of a mean on
a scale, the comparisons of one item being one cluster.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any, NamedTuple

from normalizer.documents.exact import rounded
from normalizer.errors import CannotRun
from normalizer.estimation.clusters import Clusters
from normalizer.estimation.intervals import mean_interval
from normalizer.preferences.comparisons import DECIDED, Comparison

_FIVE = frozenset(Fraction(quarter, 4) for quarter in range(5))
"""The shares of five grades: much better, better, as good, worse, much worse."""


class Recipe(NamedTuple):
    """How a board makes its score from A's shares."""

    formula: str
    source: str
    lacks: str | None
    grades: frozenset[Fraction] | None = None
    """The shares that may occur; None: all."""
    strong: int | None = None
    """How often a share of 0 or 1 counts, where verdicts are wins, ties and losses; None: shares count, each once."""
    low: int = 0
    """The score of a share of 0; that of 1 is 100."""


RECIPES = {
    "alpaca-eval": Recipe(
        "100 times the mean preference, each comparison counting once",
        "AlpacaEval 2, win_rate: github.com/tatsu-lab/alpaca_eval",
        "The length-controlled rate needs the difficulty of each instruction, which AlpacaEval estimated from many "
        "models.",
    ),
    "arena-hard": Recipe(
        "100 times the share of wins, > being one win, >> three and a tie half a win: Bradley-Terry against one "
        "baseline",
        "Arena-Hard-Auto v0.1, score: github.com/lmarena/arena-hard-auto",
        "Style control needs counts of tokens, headers, lists and bold text. Version 2.0 leaves out both verdicts on a "
        "question where one is missing, and publishes the mean of 100 resamples.",
        _FIVE,
        3,
    ),
    "wildbench": Recipe(
        "the mean of 100, 50, 0, -50 and -100 for much better, better, as good, worse and much worse",
        "WildBench, WB-Reward: github.com/allenai/WildBench",
        "With its length penalty, WildBench makes a slight win of an answer longer by more than K characters a tie. "
        "Its table counts truncated and empty answers as ties. WB Reward-Mix is the mean against three models.",
        _FIVE,
        low=-100,
    ),
}


def score_pair(name: str, comparisons: list[Comparison]) -> dict[str, Any]:
    """Return the score of A by a recipe, over comparisons that are all turned to it.

    Raises CannotRun where a decided verdict has no grade, or one that the recipe does not know.
    """
    recipe = RECIPES[name]
    sums: dict[str, Fraction] = defaultdict(Fraction)
    sizes: Counter[str] = Counter()
    decided = [one for one in comparisons if one.winner in DECIDED]
    for one in decided:
        share = one.score if one.winner == "draw" else one.share
        if share is None or (recipe.grades is not None and share not in recipe.grades):
            has = "none" if share is None else f"a preference of {float(2 - share):g}"
            raise CannotRun(
                f"--recipe {name} needs graded verdicts, and item {one.item} has {has}: see the page preferences"
            )
        weight = recipe.strong if recipe.strong is not None and share in (0, 1) else 1
        sums[one.item] += weight * (share if recipe.strong is None else one.score)
        sizes[one.item] += weight
    if not decided:
        return {"n": 0, "score": None, "ci95": None}
    clusters = Clusters(Counter((sums[item], sizes[item]) for item in sums))
    ends = mean_interval(clusters, (Fraction(0), Fraction(1))) if clusters.clusters > 1 else None

    def scaled(share: Fraction) -> Any:
        return rounded(recipe.low + (100 - recipe.low) * share)

    ci = None if ends is None else [scaled(end) for end in ends]
    return {"n": len(decided), "score": scaled(clusters.mean), "ci95": ci}


def describe(name: str) -> dict[str, Any]:
    """Return what a document says about a recipe."""
    recipe = RECIPES[name]
    return {"name": name, "formula": recipe.formula, "source": recipe.source, "lacks": recipe.lacks}
