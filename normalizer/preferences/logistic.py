"""Logistic regression by Newton's method, with standard errors that take clusters as a whole.

Outcomes may lie between 0 and 1: a draw counts as half a win. The likelihood is concave, so that the maximum is unique
where it exists; where outcomes can be separated it does not exist, and `fit` says so: `fit_penalized` has one then.
`fit_lasso` adds the sum of the coefficients' absolute values, as the board does that publishes such ratings.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]
    Places = np.ndarray[Any, np.dtype[np.int64]]

_STEPS = 100
_SINGULAR = 1e12
"""The condition of an information that determines no coefficients."""
_LARGE = 15.0
"""A coefficient beyond this has run off to infinity: odds of three million to one."""
FOLDS = 5
STRENGTHS = tuple(10 ** (-4 + 8 * step / 9) for step in range(10))
"""Ten from 1e-4 to 1e4, evenly on the scale of their logarithms: scikit-learn's default."""
_LASSO_STEPS = 200
_SURE = 1e-15


@dataclass(frozen=True, slots=True)
class Fit:
    """Coefficients, their cluster-robust covariance (NaN with one cluster), and the number of clusters."""

    coefficients: "Array"
    covariance: "Array"
    clusters: int


def fit(design: "Array", outcomes: "Array", clusters: "Places", weights: "Array | None" = None) -> Fit | None:
    """Maximize the likelihood; None where there is no maximum.

    `clusters` has a whole number for each row, `weights` how much the row counts (1 without them).
    """
    import numpy as np

    rows, columns = design.shape
    weights = np.ones(rows) if weights is None else weights
    found = maximize(design, outcomes, weights)
    if found is None:
        return None
    beta, information = found
    groups = int(clusters.max()) + 1 if rows else 0
    sums = np.zeros((groups, columns))
    np.add.at(sums, clusters, design * (weights * (outcomes - predict(design, beta)))[:, None])
    return Fit(beta, robust_covariance(information, sums.T @ sums, groups), groups)


def maximize(design: "Array", outcomes: "Array", weights: "Array") -> "tuple[Array, Array] | None":
    """Return the coefficients of the greatest likelihood and their information; None where there is no maximum."""
    import numpy as np

    beta = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        fitted = predict(design, beta)
        gradient = design.T @ (weights * (outcomes - fitted))
        information = (design * (weights * fitted * (1 - fitted))[:, None]).T @ design
        try:
            step = np.linalg.solve(information, gradient)
        except np.linalg.LinAlgError:
            return None
        length = 1.0
        before = _likelihood(design, outcomes, weights, beta)
        while length > 1e-8 and _likelihood(design, outcomes, weights, beta + length * step) < before - 1e-12:
            length /= 2
        beta = beta + length * step
        if not np.isfinite(beta).all() or np.abs(beta).max() > _LARGE:
            return None
        if np.abs(length * step).max() < 1e-11:
            return None if np.linalg.cond(information) > _SINGULAR else (beta, information)
    return None


def robust_covariance(information: "Array", squares: "Array", clusters: int) -> "Array":
    """Return the sandwich with G / (G - 1), given the squares of the clusters' residuals; NaN with one cluster."""
    import numpy as np

    if clusters < 2:
        return np.full(information.shape, np.nan)
    inverse = np.linalg.inv(information)
    return np.asarray(inverse @ squares @ inverse * clusters / (clusters - 1))


def fit_penalized(design: "Array", outcomes: "Array", weights: "Array") -> "Array":
    """Return the coefficients with Firth's penalty (1993), which are finite for all outcomes.

    The likelihood is multiplied by the root of the information's determinant: each row counts as if it had a half of
    its leverage more of each outcome (Heinze and Schemper 2002). `weights` has how many rows are alike. Columns must be
    independent.
    """
    import numpy as np

    beta = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        fitted = predict(design, beta)
        spread = fitted * (1 - fitted)
        inverse = np.linalg.inv((design * (weights * spread)[:, None]).T @ design)
        leverage = spread * ((design @ inverse) * design).sum(axis=1)
        step = inverse @ (design.T @ (weights * (outcomes - fitted + leverage * (0.5 - fitted))))
        beta = beta + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-11:
            break
    return beta


def predict(design: "Array", beta: "Array") -> "Array":
    """Return the probability of each row."""
    import numpy as np

    return np.asarray(1 / (1 + np.exp(-np.clip(design @ beta, -500, 500))))


def _likelihood(design: "Array", outcomes: "Array", weights: "Array", beta: "Array") -> float:
    import numpy as np

    values = design @ beta
    return float((weights * (outcomes * values - np.logaddexp(0, values))).sum())


def fit_lasso(design: "Array", outcomes: "Array", weights: "Array", strength: float) -> "Array":
    """Return the coefficients, by Newton's steps with the penalty taken exactly in each (proximal Newton)."""
    import numpy as np

    beta = np.zeros(design.shape[1])
    for _ in range(_LASSO_STEPS):
        fitted = predict(design, beta)
        slope = strength * (design.T @ (weights * (fitted - outcomes)))
        bend = strength * (design * (weights * fitted * (1 - fitted))[:, None]).T @ design
        step = _newton_step(beta, slope, bend + _SURE * np.eye(len(beta)))
        length, before = 1.0, _loss(design, outcomes, weights, strength, beta)
        while length > 1e-8 and _loss(design, outcomes, weights, strength, beta + length * step) > before + 1e-12:
            length /= 2
        beta = beta + length * step
        if np.abs(step).max(initial=0) < 1e-10:
            break
    return beta


def choose_strength(design: "Array", outcomes: "Array", weights: "Array") -> float:
    """Return the strength whose mean log loss on the rows left out is least; of equals the first.

    Rows go to the folds in turn, from the last one on.
    """
    import numpy as np

    folds = np.arange(len(outcomes))[::-1] % FOLDS
    losses = []
    for strength in STRENGTHS:
        total = 0.0
        for fold in range(FOLDS):
            rest, out = folds != fold, folds == fold
            beta = fit_lasso(design[rest], outcomes[rest], weights[rest], strength)
            fitted = np.clip(predict(design[out], beta), _SURE, 1 - _SURE)
            each = outcomes[out] * np.log(fitted) + (1 - outcomes[out]) * np.log(1 - fitted)
            total -= float((weights[out] * each).mean())
        losses.append(total)
    return STRENGTHS[losses.index(min(losses))]


def _newton_step(beta: "Array", slope: "Array", bend: "Array") -> "Array":
    """Return the step that minimizes the quadratic form plus the penalty, coefficient by coefficient."""
    import numpy as np

    step = np.zeros(len(beta))
    for _ in range(10_000):
        before = step.copy()
        for place in range(len(beta)):
            own = bend[place, place]
            others = slope[place] + bend[place] @ step - own * step[place]
            target = beta[place] - others / own
            step[place] = np.sign(target) * max(abs(target) - 1 / own, 0.0) - beta[place]
        if np.abs(step - before).max(initial=0) < 1e-13:
            break
    return step


def _loss(design: "Array", outcomes: "Array", weights: "Array", strength: float, beta: "Array") -> float:
    import numpy as np

    values = design @ beta
    return float(np.abs(beta).sum() + strength * (weights * (np.logaddexp(0, values) - outcomes * values)).sum())
