"""Logistic regression by Newton's method, with standard errors that take clusters as a whole.

Outcomes may lie between 0 and 1: a draw counts as half a win. The likelihood is concave, so that the maximum is unique
where it exists; where outcomes can be separated it does not exist, and `fit` says so: `fit_penalized` has one then.
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
