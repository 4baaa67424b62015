"""Variance components of values with crossed effects: generators, items, answers, judges, by restricted likelihood.

    value = mean + item + answer + other effects + residual

Answers are nested in items; the other factors, such as judges, are crossed with them and with each other. All effects
are normal with mean 0, and the variances are those of the greatest restricted likelihood (REML), as lme4 finds them.
Answers and items are eliminated first, which needs no matrix larger than the other factors have levels (Bates et al.
2015, section 3, in another order). No variance is below 0.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import log, pi
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

_STEP = 1e-3
"""The step of the differences that stand for derivatives."""
MOST_LEVELS = 600
"""Other factors with more levels than this in all take too long."""


@dataclass(frozen=True, slots=True)
class Components:
    """The variances of items, answers, each other factor, and the rest; the mean, and -2 log of the likelihood."""

    item: float
    answer: float
    others: tuple[float, ...]
    residual: float
    mean: float
    criterion: float


def fit_components(
    values: Sequence[float],
    items: Sequence[Hashable],
    answers: Sequence[Hashable] | None,
    others: Sequence[Sequence[Hashable]] = (),
) -> Components:
    """Return the components of values, given the level of each in every factor; `answers` None has no such effect.

    Needs more values than one, and not all equal.
    """
    import numpy as np
    from scipy.optimize import minimize

    model = _Restricted(values, items, answers, others)
    size = 2 + len(others)
    free = [place for place in range(size) if place != 1 or answers is not None]

    def criterion(given: "Array") -> float:
        scales = np.zeros(size)
        scales[free] = np.abs(given)
        return model.criterion(scales)

    bounds = [(0.0, 1e4)] * len(free)
    start = np.ones(len(free))
    found = minimize(criterion, start, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-14, "gtol": 1e-8}).x
    polished = _polish(criterion, found)
    scales = np.zeros(size)
    scales[free] = polished
    least, residual, mean = model.solve(scales)
    variances = (scales**2 * residual).tolist()
    return Components(variances[0], variances[1], tuple(variances[2:]), residual, mean, least)


def _polish(criterion: Any, start: "Array") -> "Array":
    """Return the minimum by Newton's method, from differences; what has come to 0 stays there."""
    import numpy as np

    best = np.where(start < 10 * _STEP, 0.0, start)
    best = best if criterion(best) <= criterion(start) + 1e-9 else start
    free = np.flatnonzero(best > 10 * _STEP)
    for _ in range(4):
        if not len(free):
            break
        steps = np.eye(len(best))[free] * _STEP
        gradient = np.array([_slope(criterion, best, step) for step in steps])
        curvature = np.array([[_bend(criterion, best, one, other) for one in steps] for other in steps])
        try:
            move = np.linalg.solve(curvature, gradient) * _STEP
        except np.linalg.LinAlgError:
            break
        moved = best.copy()
        moved[free] -= move
        if (moved < 0).any() or criterion(moved) > criterion(best) + 1e-9:
            break
        best = moved
    return best


def _slope(criterion: Any, at: "Array", step: "Array") -> float:
    """Return the first difference, exact for polynomials of degree 4."""
    near, far = criterion(at + step) - criterion(at - step), criterion(at + 2 * step) - criterion(at - 2 * step)
    return float((8 * near - far) / 12)


def _bend(criterion: Any, at: "Array", one: "Array", other: "Array") -> float:
    """Return the second difference."""
    same = criterion(at + one + other) + criterion(at - one - other)
    return float((same - criterion(at + one - other) - criterion(at - one + other)) / 4)


class _Restricted:
    """The restricted likelihood of scales: standard deviations of effects, relative to that of the residual."""

    def __init__(
        self,
        values: Sequence[float],
        items: Sequence[Hashable],
        answers: Sequence[Hashable] | None,
        others: Sequence[Sequence[Hashable]],
    ) -> None:
        import numpy as np

        self.n = len(values)
        inner: list[Hashable] = list(range(self.n)) if answers is None else list(zip(items, answers, strict=True))
        of_answer, of_item = _number(inner), _number(items)
        blocks = [np.eye(int(places.max()) + 1)[places] for places in map(_number, others)]
        self.sizes = [block.shape[1] for block in blocks]
        self.shift = float(np.mean(values))
        columns = np.column_stack([*blocks, np.ones(self.n), np.asarray(values, dtype=float) - self.shift])
        answer_count = int(of_answer.max()) + 1
        self.counts = np.bincount(of_answer).astype(float)
        self.sums = np.zeros((answer_count, columns.shape[1]))
        np.add.at(self.sums, of_answer, columns)
        self.item_of = np.zeros(answer_count, dtype=np.int64)
        self.item_of[of_answer] = of_item
        self.items = int(of_item.max()) + 1
        self.whole = columns.T @ columns

    def criterion(self, scales: "Array") -> float:
        """Return -2 log of the restricted likelihood."""
        return self.solve(scales)[0]

    def solve(self, scales: "Array") -> tuple[float, float, float]:
        """Return -2 log of the restricted likelihood, the residual variance, and the mean."""
        import numpy as np

        item, answer = float(scales[0]) ** 2, float(scales[1]) ** 2
        inner = 1 + answer * self.counts
        divided = self.sums / inner[:, None]
        outer = 1 + item * np.bincount(self.item_of, self.counts / inner, self.items)
        by_item = np.zeros((self.items, self.sums.shape[1]))
        np.add.at(by_item, self.item_of, divided)
        reduced = self.whole - answer * self.sums.T @ divided - item * by_item.T @ (by_item / outer[:, None])
        effects = sum(self.sizes)
        scaling = np.concatenate([np.repeat(scales[2:], self.sizes), [1.0, 1.0]])
        reduced = reduced * np.multiply.outer(scaling, scaling)
        reduced[np.arange(effects), np.arange(effects)] += 1
        root = np.linalg.cholesky(reduced)
        ends = np.diag(root)
        freedom = self.n - 1
        variance = float(ends[-1]) ** 2 / freedom
        logs = float(np.log(inner).sum() + np.log(outer).sum() + 2 * np.log(ends[:-1]).sum())
        mean = float(root[-1, -2] / root[-2, -2]) + self.shift
        return logs + freedom * (1 + log(2 * pi * variance)), variance, mean


def _number(levels: Sequence[Hashable]) -> "np.ndarray[Any, np.dtype[np.int64]]":
    import numpy as np

    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(level, len(known)) for level in levels], dtype=np.int64)
