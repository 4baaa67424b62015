"""Judge severity and self-preference: the additive model total = answer + judge + bonus of a judge for its own model.

Least squares after taking out the answers. Judges may differ in their noise, and answers about one artifact go
together: standard errors are cluster-robust by artifact (CR2 of Bell and McCaffrey 2002, with Satterthwaite's degrees
of freedom), in the form that Pustejovsky and Tipton (2018) give for models whose fixed effects are taken out. Judges
that share no answers with each other, directly or through others, cannot be compared: each connected panel has effects
of its own, which add up to 0. Labels of a judge on its own model's outputs say nothing about its severity.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, Any

from normalizer.aggregate.intervals import quantile
from normalizer.documents.exact import round_exact
from normalizer.statistics.judge_scores import Answer, JudgedItem, JudgeScores, Label

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

_ALONE = "it shares no output of another model with another judge"
_NO_SPREAD = "too few artifacts to tell the spread, or none"
_TINY = 1e-9
Cluster = tuple[tuple[Label, ...], ...]
"""The labels of the answers of one artifact."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimated effect; its degrees of freedom are None where they cannot be told, its standard error there and
    where no label deviates from the model."""

    value: float
    error: float | None
    freedom: float | None

    def interval(self) -> list[Decimal] | None:
        """Return Student's t interval."""
        if self.error is None or self.freedom is None:
            return None
        half = quantile(self.freedom) * self.error
        return [_number(self.value - half), _number(self.value + half)]


class JudgeModel:
    """The fitted model, given how many artifacts have each answers."""

    def __init__(self, items: Mapping[JudgedItem, int]) -> None:
        import numpy as np

        counted: Counter[Cluster] = Counter()
        for item, count in items.items():
            cluster = tuple(tuple(sorted(answer.labels)) for answer in item if len(answer.labels) > 1)
            if cluster:
                counted[cluster] += count
        self.clusters = dict(sorted(counted.items()))
        """Artifacts that are alike are one, with their number: labels of the answers that several judges judged."""
        names = {
            (label.judge, own)
            for cluster in self.clusters
            for answer in cluster
            for label in answer
            for own in {False, label.own}
        }
        self.place = {name: at for at, name in enumerate(sorted(names))}
        self.labels = sum(count * sum(map(len, cluster)) for cluster, count in self.clusters.items())
        self.answers = sum(count * len(cluster) for cluster, count in self.clusters.items())
        self._designs: dict[Any, Array] = {}
        size = len(self.place)
        information, right = np.zeros((size, size)), np.zeros(size)
        self.within = 0.0
        for cluster, count in self.clusters.items():
            design, totals = self._design(cluster), _deviations(cluster)
            information += count * design.T @ design
            right += count * design.T @ totals
            self.within += count * float(totals @ totals)
        self.inverse = np.linalg.pinv(information, rcond=1e-10, hermitian=True)
        self.effects = self.inverse @ right
        self.rank = round(float(np.trace(self.inverse @ information)))
        self.residual = max(self.within - float(self.effects @ right), 0.0)
        self._estimable = self.inverse @ information

    def _design(self, cluster: Cluster) -> "Array":
        """Return the rows of a cluster, less the mean of each answer."""
        import numpy as np

        key = tuple(tuple((label.judge, label.own) for label in answer) for answer in cluster)
        if key not in self._designs:
            blocks = []
            for answer in cluster:
                block = np.zeros((len(answer), len(self.place)))
                for row, label in enumerate(answer):
                    block[row, self.place[label.judge, False]] = 1
                    if label.own:
                        block[row, self.place[label.judge, True]] = 1
                blocks.append(block - block.mean(axis=0))
            self._designs[key] = np.concatenate(blocks)
        return self._designs[key]

    @cached_property
    def panels(self) -> list[list[str]]:
        """Return the connected groups of judges, each sorted, in order of their first judge."""
        met: dict[str, set[str]] = {judge: set() for judge, own in self.place if not own}
        for cluster in self.clusters:
            for answer in cluster:
                cross = [label.judge for label in answer if not label.own]
                for judge in cross:
                    met[judge].update(cross)
        panels: list[list[str]] = []
        pending = sorted(met)
        while pending:
            panel, edge = set(), [pending[0]]
            while edge:
                judge = edge.pop()
                if judge not in panel:
                    panel.add(judge)
                    edge += met[judge]
            panels.append(sorted(panel))
            pending = [judge for judge in pending if judge not in panel]
        return panels

    def severity_of(self, judge: str) -> Estimate | None:
        """Return a judge's effect relative to the mean of its panel; None where it has no panel."""
        return self.mean_severity({judge: 1.0})

    def mean_severity(self, weights: Mapping[str, float]) -> Estimate | None:
        """Return the mean severity of judges of one panel, whose weights add up to 1; None where they have no panel, or
        where all of it counts alike: that mean is 0."""
        panel = next((panel for panel in self.panels if weights.keys() <= set(panel)), [])
        shift = {(judge, False): weights.get(judge, 0.0) - 1 / len(panel) for judge in panel}
        return self._estimate(shift) if any(abs(weight) > _TINY for weight in shift.values()) else None

    def bonus_of(self, judge: str) -> Estimate | None:
        """Return what a judge adds for its own model's outputs; None where it cannot be told from its severity."""
        return self._estimate({(judge, True): 1.0}) if (judge, True) in self.place else None

    def _estimate(self, weights: Mapping[tuple[str, bool], float]) -> Estimate | None:
        import numpy as np

        contrast = np.zeros(len(self.place))
        for name, weight in weights.items():
            contrast[self.place[name]] = weight
        if float(np.abs(contrast - contrast @ self._estimable).max()) > 1e-7:
            return None
        value = float(contrast @ self.effects)
        square, freedom = self._robust(contrast)
        return Estimate(value, sqrt(square) if square > _TINY**2 and freedom else None, freedom)

    def _robust(self, contrast: "Array") -> tuple[float, float | None]:
        """Return the CR2 variance of a contrast and its degrees of freedom."""
        import numpy as np

        direction = self.inverse @ contrast
        known: dict[int, tuple[Array, Array, float]] = {}
        square, trace, squares = 0.0, 0.0, 0.0
        spread = np.zeros_like(self.inverse)
        for cluster, count in self.clusters.items():
            design = self._design(cluster)
            if id(design) not in known:
                values, vectors = np.linalg.eigh(np.eye(len(design)) - design @ self.inverse @ design.T)
                scales = np.where(values > 1e-8, 1 / np.sqrt(np.maximum(values, 1e-8)), 0.0)
                weights = (vectors * scales) @ vectors.T @ design @ direction
                moved = design.T @ weights
                known[id(design)] = weights, moved, float(weights @ weights - moved @ self.inverse @ moved)
            weights, moved, own = known[id(design)]
            square += count * float(weights @ (_deviations(cluster) - design @ self.effects)) ** 2
            trace += count * own
            squares += count * (own**2 - float(moved @ self.inverse @ moved) ** 2)
            spread += count * np.outer(moved, moved)
        crossed = self.inverse @ spread
        squares += float(np.trace(crossed @ crossed))
        return square, trace**2 / squares if squares > _TINY**2 else None


def count_answers(answers: Mapping[str, Iterable[list[Label]]]) -> Counter[JudgedItem]:
    """Return the items of labels that are in memory, given by artifact and answer."""
    return Counter(
        tuple(Answer(str(place), tuple(labels)) for place, labels in enumerate(of)) for of in answers.values()
    )


def severity(scores: JudgeScores, model: JudgeModel) -> dict[str, Any]:
    """Return a document of `statistics.json#/$defs/severity`."""
    judges = []
    alone = len(model.panels)
    for judge, count in scores.judges().items():
        number = next((at for at, panel in enumerate(model.panels) if judge in panel), alone)
        alone += number == alone
        judges.append({"judge": judge, "n": count, "panel": number, **_effect(model.severity_of(judge))})
    freedom = model.labels - model.answers - model.rank
    return {
        "judges": judges,
        "residual_sd": _number(sqrt(model.residual / freedom)) if freedom else None,
        "freedom": freedom,
        "na": {} if freedom else {"residual_sd": "no degrees of freedom are left"},
    }


def _effect(found: Estimate | None) -> dict[str, Any]:
    if found is None:
        return {"effect": None, "se": None, "ci95": None, "na": dict.fromkeys(("effect", "se", "ci95"), _ALONE)}
    document = {"effect": _number(found.value), "se": None, "ci95": found.interval()}
    if found.error is None:
        return {**document, "na": dict.fromkeys(("se", "ci95"), _NO_SPREAD)}
    return {**document, "se": _number(found.error), "na": {}}


def _deviations(cluster: Cluster) -> "Array":
    import numpy as np

    parts = []
    for answer in cluster:
        totals = np.array([float(label.total) for label in answer])
        parts.append(totals - totals.mean())
    return np.concatenate(parts)


def _number(value: float) -> Decimal:
    return round_exact(Fraction(value))
