"""Logistic regression with an L1 penalty, whose strength cross-validation chooses, as scikit-learn and liblinear do.

The coefficients minimize the sum of their absolute values plus `strength` times the weighted log loss. Outcomes may lie
between 0 and 1. There is no intercept besides the columns of the design.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

FOLDS = 5
STRENGTHS = tuple(10 ** (-4 + 8 * step / 9) for step in range(10))
"""Ten from 1e-4 to 1e4, evenly on the scale of their logarithms: scikit-learn's default."""
_STEPS = 200
_SURE = 1e-15


def fit_lasso(design: "Array", outcomes: "Array", weights: "Array", strength: float) -> "Array":
    """Return the coefficients, by Newton's steps with the penalty taken exactly in each (proximal Newton)."""
    import numpy as np

    beta = np.zeros(design.shape[1])
    for _ in range(_STEPS):
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


def predict(design: "Array", beta: "Array") -> "Array":
    """Return the probabilities that the coefficients give."""
    import numpy as np

    return np.asarray(1 / (1 + np.exp(-np.clip(design @ beta, -500, 500))))


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
