"""Judge severity: the additive model total = artifact + judge, solved exactly by least squares.

Artifact effects are eliminated, which leaves one equation a judge. Judges that share no artifacts, directly or through
others, cannot be compared: each connected panel is solved by itself, its effects adding up to 0.
"""

from collections import defaultdict
from fractions import Fraction
from typing import Any

from normalizer.aggregate.intervals import t_interval
from normalizer.documents.exact import rounded, rounded_root
from normalizer.statistics.judge_scores import JudgeScores
from normalizer.statistics.spread import ends

_ALONE = "it shares no artifact with another judge"
_NO_FREEDOM = "no degrees of freedom are left"
Matrix = list[list[Fraction]]


def severity(scores: JudgeScores) -> dict[str, Any]:
    """Return a document of `statistics.json#/$defs/severity`."""
    counts = scores.judges()
    equations = _Equations(scores, list(counts))
    panels = equations.panels()
    effects: dict[str, Fraction] = {}
    leverage: dict[str, Fraction] = {}
    for panel in panels:
        if len(panel) > 1:
            inverse = _inverse([[equations.left[one, other] + 1 for other in panel] for one in panel])
            for place, judge in enumerate(panel):
                row = inverse[place]
                effects[judge] = sum(
                    (weight * equations.right[other] for weight, other in zip(row, panel, strict=True)), Fraction(0)
                )
                # Adding a matrix of ones selects the solution that sums to 0; its contribution is subtracted below.
                leverage[judge] = row[place] - Fraction(1, len(panel) ** 2)
    explained = sum((effects[judge] * equations.right[judge] for judge in effects), Fraction(0))
    freedom = equations.verdicts - equations.artifacts - sum(len(panel) - 1 for panel in panels)
    residual = (equations.within - explained) / freedom if freedom else None
    judges = []
    for judge, count in counts.items():
        number = next(place for place, panel in enumerate(panels) if judge in panel)
        judges.append(
            {
                "judge": judge,
                "n": count,
                "panel": number,
                **_effect(effects.get(judge), leverage.get(judge), residual, freedom),
            }
        )
    return {
        "judges": judges,
        "residual_sd": None if residual is None else rounded_root(residual),
        "freedom": freedom,
        "na": {"residual_sd": _NO_FREEDOM} if residual is None else {},
    }


def _effect(
    effect: Fraction | None, leverage: Fraction | None, residual: Fraction | None, freedom: int
) -> dict[str, Any]:
    if effect is None or leverage is None:
        return {"effect": None, "se": None, "ci95": None, "na": dict.fromkeys(("effect", "se", "ci95"), _ALONE)}
    if residual is None:
        return {"effect": rounded(effect), "se": None, "ci95": None, "na": dict.fromkeys(("se", "ci95"), _NO_FREEDOM)}
    squared = residual * leverage
    interval = t_interval(effect, squared, freedom)
    return {"effect": rounded(effect), "se": rounded_root(squared), "ci95": ends(interval), "na": {}}


class _Equations:
    """The judges' normal equations, from sums over artifacts grouped by their number of judges."""

    def __init__(self, scores: JudgeScores, judges: list[str]) -> None:
        scale = scores.denominator
        self.judges = judges
        self.left: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
        self.right: dict[str, Fraction] = defaultdict(Fraction)
        self.verdicts = self.artifacts = 0
        self.within = Fraction(0)
        """Return the sum of squares within artifacts."""
        for one, other, panel, count in scores.meetings():
            self.left[one, other] -= Fraction(count, panel)
            if one == other:
                self.left[one, one] += count
        for judge, panel, own, everyone in scores.sums():
            self.right[judge] += Fraction(own, scale) - Fraction(everyone, scale * panel)
        for panel, artifacts, squares, squared_sums in scores.squares():
            self.artifacts += artifacts
            self.verdicts += artifacts * panel
            self.within += Fraction(squares, scale**2) - Fraction(squared_sums, scale**2 * panel)

    def panels(self) -> list[list[str]]:
        """Return the connected groups of judges, each sorted, in order of their first judge."""
        panels: list[list[str]] = []
        pending = list(self.judges)
        while pending:
            panel, edge = set(), [pending[0]]
            while edge:
                judge = edge.pop()
                if judge not in panel:
                    panel.add(judge)
                    edge += [other for other in pending if self.left.get((judge, other))]
            panels.append(sorted(panel))
            pending = [judge for judge in pending if judge not in panel]
        return panels


def _inverse(matrix: Matrix) -> Matrix:
    """Invert a matrix by Gauss-Jordan elimination in exact fractions."""
    size = len(matrix)
    rows = [list(row) + [Fraction(place == at) for at in range(size)] for place, row in enumerate(matrix)]
    for column in range(size):
        pivot = next(place for place in range(column, size) if rows[place][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        head = rows[column][column]
        rows[column] = [value / head for value in rows[column]]
        for place in range(size):
            if place != column and rows[place][column]:
                factor = rows[place][column]
                rows[place] = [value - factor * own for value, own in zip(rows[place], rows[column], strict=True)]
    return [row[size:] for row in rows]
