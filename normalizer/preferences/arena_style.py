"""Arena-Hard's scores at equal style: Bradley-Terry against one baseline with four terms for style.

The style of an answer is its number of tokens, headers, list entries and bold passages, from the `metadata` of the
board's answer files. A term is (A - B) / (A + B) for tokens and, for the others, counted per token plus one,
(A - B) / (A + B + 1); each is standardized over all verdicts. `>>` counts three times.
"""

from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Any

from normalizer.aggregate.intervals import quantile
from normalizer.aggregate.recipes import Recipe
from normalizer.documents.exact import round_exact
from normalizer.errors import CannotRun
from normalizer.preferences.comparisons import DECIDED, Comparison
from normalizer.preferences.lengths import sigmoid
from normalizer.preferences.logistic import fit

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

LEAST_ITEMS = 10
TERMS = ("tokens", "headers", "lists", "bold")
_MEMBERS = ("token_len", "header_count", "list_count", "bold_count")
_STRONG = 3
Styles = dict[tuple[str, str], tuple[float, ...]]
"""The four counts of an answer, by item and generator."""


def read_styles(recipe: Recipe) -> Styles:
    """Return the styles of the answers in the files of the recipe. Raises CannotRun where a row has none."""
    found: Styles = {}
    for row in recipe.rows:
        item, generator = row.get("uid", row.get("question_id")), row.get("model", row.get("model_id"))
        try:
            counts = tuple(_count(row["metadata"][name]) for name in _MEMBERS)
        except (KeyError, TypeError, ValueError):
            raise CannotRun(
                f"the answer of {generator} to {item} has no metadata with {', '.join(_MEMBERS)}: "
                "utils/add_markdown_info.py of Arena-Hard-Auto adds it"
            ) from None
        found[str(item), str(generator)] = counts
    return found


def score_at_equal_style(pairs: dict[tuple[str, str], list[Comparison]], styles: Styles) -> dict[str, dict[str, Any]]:
    """Return the score of each generator against the one baseline that all pairs share, turned to the generator.

    Raises CannotRun where pairs have several baselines, a verdict has no grade, or an answer no style.
    """
    import numpy as np

    if len({baseline for _, baseline in pairs}) > 1:
        raise CannotRun("--recipe arena-hard-style compares all models with one: name it with --baseline")
    names = sorted(one for one, _ in pairs)
    rows = [
        (names.index(name), one, _STRONG if one.winner != "draw" and one.share in (0, 1) else 1)
        for (name, _), members in sorted(pairs.items())
        for one in members
        if one.winner in DECIDED
    ]
    times = [weight for _, _, weight in rows]
    items = {item: number for number, item in enumerate(sorted({one.item for _, one, _ in rows}))}
    terms = _standardize(np.repeat(np.array([_terms(one, styles) for _, one, _ in rows]).reshape(-1, 4), times, axis=0))
    whose = np.repeat(np.eye(len(names))[[place for place, _, _ in rows]], times, axis=0)
    fitted = None
    if len(items) >= LEAST_ITEMS:
        outcomes = np.repeat([float(one.score) for _, one, _ in rows], times)
        clusters = np.repeat([items[one.item] for _, one, _ in rows], times)
        fitted = fit(np.hstack([whose, terms]), outcomes, clusters)
    counts = [sum(place == at for at, _, _ in rows) for place in range(len(names))]
    if fitted is None:
        empty = {"score": None, "ci95": None, "coefficients": None}
        return {name: {"n": n, **empty} for name, n in zip(names, counts, strict=True)}
    # Few items leave residuals that are too small: each coefficient costs one of them.
    freedom = max(fitted.clusters - len(fitted.coefficients), 1)
    t = quantile(freedom) * sqrt((fitted.clusters - 1) / freedom)
    beta = [float(each) for each in fitted.coefficients]
    told = {name: _number(each) for name, each in zip(TERMS, beta[len(names) :], strict=True)}
    scores = {}
    for place, name in enumerate(names):
        half = t * sqrt(max(float(fitted.covariance[place, place]), 0.0))
        ends = [_number(100 * sigmoid(beta[place] + side * half)) for side in (-1, 1)]
        score = _number(100 * sigmoid(beta[place]))
        scores[name] = {"n": counts[place], "score": score, "ci95": ends, "coefficients": told}
    return scores


def _terms(one: Comparison, styles: Styles) -> list[float]:
    sides = []
    for name in (one.a, one.b):
        if (one.item, name) not in styles:
            raise CannotRun(f"the files of the recipe have no answer of {name} to {one.item}: give its answer file too")
        sides.append(styles[one.item, name])
    a, b = sides
    both = a[0] + b[0]
    dense = [[count / (side[0] + 1) for count in side[1:]] for side in sides]
    rest = [(x - y) / (x + y + 1) for x, y in zip(*dense, strict=True)]
    return [(a[0] - b[0]) / both if both else 0.0, *rest]


def _standardize(terms: "Array") -> "Array":
    """Return the terms with mean 0 and standard deviation 1; a term that never differs is 0 and would not be fitted."""
    import numpy as np

    spread = terms.std(axis=0, ddof=1)
    if not spread.all():
        alike = [name for name, each in zip(TERMS, spread.tolist(), strict=True) if not each]
        raise CannotRun(
            f"the {' and '.join(alike)} of the answers are alike everywhere: there is no such style to control"
        )
    return np.asarray((terms - terms.mean(axis=0)) / spread)


def _count(value: Any) -> float:
    return float(sum(value.values()) if isinstance(value, dict) else value)


def _number(value: float) -> Any:
    return round_exact(Fraction(value))
