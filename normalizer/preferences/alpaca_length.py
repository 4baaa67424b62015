"""AlpacaEval's length-controlled win rate: the preference that a logistic model predicts at equal lengths.

logit = a * tanh(d / sd) + b * difficulty + c, where d is B's length minus A's, sd its standard deviation, and A the
model. The difficulties come from a file of the recipe, and so do the verdicts on versions of the baseline that were
told to be verbose or concise. For these there is no c, and each counts as a tenth of a verdict: they pull the effects
of length and difficulty towards those of the baseline. AlpacaEval names three variants by what there is.
"""

from fractions import Fraction
from math import log, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from normalizer.aggregate.intervals import quantile
from normalizer.aggregate.recipes import Recipe, RecipeRow
from normalizer.documents.exact import round_exact
from normalizer.errors import CannotRun
from normalizer.preferences.comparisons import DECIDED, Comparison
from normalizer.preferences.lengths import sigmoid
from normalizer.preferences.logistic import choose_strength, fit_lasso, predict

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

LEAST_ITEMS = 10
_PULL = 0.1
"""The weight of a verdict on a version of the baseline: 0.2 for the two of them."""
_PLAIN, _DIFFICULT, _PULLED = "length_controlled_minimal", "length_controlled_noreg", "length_controlled_v1"


class Difficulties(NamedTuple):
    """The difficulty of each item, and the rows about versions of the baseline."""

    by_place: dict[int, float]
    """By the place in the bundle, from 0, as AlpacaEval numbers its instructions."""
    by_item: dict[str, float]
    versions: list[tuple[float, float, float]]
    """Standardized difference of lengths, difficulty and preference."""

    @property
    def variant(self) -> str:
        """Return AlpacaEval's name of the model that can be fitted."""
        if not self.by_place and not self.by_item:
            return _PLAIN
        return _PULLED if self.versions else _DIFFICULT

    def find(self, one: Comparison) -> float:
        """Return the difficulty of a comparison's item. Raises CannotRun where it has none."""
        found = self.by_item.get(one.item, self.by_place.get(one.place))
        if found is None:
            raise CannotRun(f"the file of the recipe has no instruction_difficulty for item {one.item}")
        return found


def read_difficulties(recipe: Recipe) -> Difficulties:
    """Return what the files of the recipe say, by their columns `index` or `item`. Raises CannotRun."""
    found = Difficulties({}, {}, [])
    for row in recipe.rows:
        difficulty = _number(row, "instruction_difficulty")
        if row.get("item") is not None:
            found.by_item[str(row["item"])] = difficulty
        else:
            found.by_place[int(_number(row, "index"))] = difficulty
        if row.get("std_delta_len") is not None:
            found.versions.append((_number(row, "std_delta_len"), difficulty, _number(row, "preference")))
    return found


def score_at_equal_lengths(pair: list[Comparison], known: Difficulties) -> dict[str, Any]:
    """Return the score of A over comparisons that are all turned to it, with an interval by item and the coefficients.

    The interval allows for the fit and for the choice of items; the verdicts on versions of the baseline and the
    difficulties are taken as given.
    """
    import numpy as np

    # The folds of cross-validation go by the order of the file, as AlpacaEval's do, and not by names.
    rows = sorted((one for one in pair if one.winner in DECIDED), key=lambda one: one.place)
    if any(one.lengths is None for one in rows):
        raise CannotRun("--recipe alpaca-eval-lc needs the lengths of both answers: see `length` of the bundle")
    outcomes = np.array([float(_share(one)) for one in rows])
    gaps = np.array([one.lengths[1] - one.lengths[0] for one in rows if one.lengths is not None])
    items = {item: number for number, item in enumerate(sorted({one.item for one in rows}))}
    spread = float(gaps.std(ddof=1)) if len(gaps) > 1 else 0.0
    document = {"n": len(rows), "score": None, "ci95": None, "coefficients": None}
    if len(items) < LEAST_ITEMS or not spread:
        return document
    used = known.variant != _PLAIN
    difficulty = np.array([known.find(one) if used else 0.0 for one in rows])
    columns = [0, 1, 2] if used else [0, 2]
    own = np.column_stack([np.tanh(gaps / spread), difficulty, np.ones(len(rows))])[:, columns]
    pulled = np.array([[np.tanh(gap), hard, 0.0] for gap, hard, _ in known.versions]).reshape(-1, 3)[:, columns]
    design = np.vstack([pulled, own])
    wins = np.concatenate([[share for _, _, share in known.versions], outcomes])
    weights = np.concatenate([np.full(len(pulled), _PULL), np.ones(len(rows))])
    beta = fit_lasso(design, wins, weights, choose_strength(design, wins, weights))
    level = own.copy()
    level[:, 0] = 0.0
    predicted = predict(level, beta)
    score = float(predicted.mean())
    fitted = predict(design, beta)
    bend = np.linalg.pinv((design * (weights * fitted * (1 - fitted))[:, None]).T @ design)
    slope = (level * (predicted * (1 - predicted))[:, None]).sum(axis=0) / len(rows)
    fitted = predict(own, beta)
    # Each row has pulled the fit to itself by its leverage: what is left is made up for that (HC3).
    leverage = fitted * (1 - fitted) * ((own @ bend) * own).sum(axis=1)
    residuals = own * ((outcomes - fitted) / (1 - np.minimum(leverage, 0.9)))[:, None]
    half = _half(predicted, residuals @ bend @ slope * len(rows), [items[one.item] for one in rows])
    names = [("length", "difficulty", "constant")[column] for column in columns]
    return {
        **document,
        "score": round_exact(Fraction(100 * score)),
        "ci95": [round_exact(Fraction(100 * end)) for end in _ends(score, half)],
        "coefficients": {name: round_exact(Fraction(float(each))) for name, each in zip(names, beta, strict=True)},
    }


def _half(predicted: "Array", moved: "Array", items: list[int]) -> float:
    """Return half of the interval of the mean prediction: that of the mean of its influences, by item."""
    import numpy as np

    influence = predicted - predicted.mean() + moved
    sums = np.zeros(max(items) + 1)
    np.add.at(sums, items, influence)
    error = sqrt(float((sums**2).sum()) * len(sums) / (len(sums) - 1)) / len(predicted)
    return quantile(len(sums) - 1) * error


def _ends(score: float, half: float) -> tuple[float, float]:
    """Return the ends, symmetric in log-odds so that they stay between 0 and 1."""
    centre, reach = log(score / (1 - score)), half / (score * (1 - score))
    return sigmoid(centre - reach), sigmoid(centre + reach)


def _share(one: Comparison) -> Fraction:
    share = one.score if one.winner == "draw" else one.share
    if share is None:
        raise CannotRun(
            f"--recipe alpaca-eval-lc needs graded verdicts, and item {one.item} has none: see the page preferences"
        )
    return share


def _number(row: RecipeRow, name: str) -> float:
    try:
        return float(row[name])
    except (KeyError, TypeError, ValueError):
        raise CannotRun(
            f"a row of the recipe's file has no number in {name}: it needs instruction_difficulty and index (from 0) "
            "or item, and for versions of the baseline std_delta_len and preference (0 to 1)"
        ) from None
