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

    `clusters` has a whole number for each row, `weights` how much the row counts (1 without them). The covariance is
    the sandwich with G / (G - 1).
    """
    import numpy as np

    rows, columns = design.shape
    weights = np.ones(rows) if weights is None else weights
    beta = np.zeros(columns)
    information = np.eye(columns)
    for _ in range(_STEPS):
        fitted = _sigmoid(design @ beta)
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
            break
    else:
        return None
    groups = int(clusters.max()) + 1 if rows else 0
    if np.linalg.cond(information) > 1e12:
        return None
    if groups < 2:
        return Fit(beta, np.full((columns, columns), np.nan), groups)
    residuals = design * (weights * (outcomes - _sigmoid(design @ beta)))[:, None]
    sums = np.zeros((groups, columns))
    np.add.at(sums, clusters, residuals)
    inverse = np.linalg.inv(information)
    covariance = inverse @ (sums.T @ sums) @ inverse * groups / (groups - 1)
    return Fit(beta, covariance, groups)


def fit_penalized(design: "Array", outcomes: "Array") -> "Array":
    """Return the coefficients with Firth's penalty (1993), which are finite for all outcomes.

    The likelihood is multiplied by the root of the information's determinant: each row counts as if it had a half of
    its leverage more of each outcome (Heinze and Schemper 2002). Columns must be independent.
    """
    import numpy as np

    beta = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        fitted = _sigmoid(design @ beta)
        spread = fitted * (1 - fitted)
        inverse = np.linalg.inv((design * spread[:, None]).T @ design)
        leverage = spread * ((design @ inverse) * design).sum(axis=1)
        step = inverse @ (design.T @ (outcomes - fitted + leverage * (0.5 - fitted)))
        beta = beta + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-11:
            break
    return beta


def _sigmoid(values: "Array") -> "Array":
    import numpy as np

    return np.asarray(1 / (1 + np.exp(-np.clip(values, -500, 500))))


def _likelihood(design: "Array", outcomes: "Array", weights: "Array", beta: "Array") -> float:
    import numpy as np

    values = design @ beta
    return float((weights * (outcomes * values - np.logaddexp(0, values))).sum())
