"""Self-judging compared with cross-judging on the same artifacts: a judge's bonus for its own model's output.

A judge's distance from the others depends on who the others are: it is large beside harsh ones. The bonus (`excess`) is
therefore that of the model of `severity`, in which each judge has a severity of its own. `own` and `elsewhere` are the
plain distances.
"""

from fractions import Fraction
from typing import Any

from normalizer.documents.exact import round_exact
from normalizer.statistics.judge_scores import JudgeScores
from normalizer.statistics.severity import Estimate, JudgeModel
from normalizer.statistics.spread import describe_counts

_NOT_APART = (
    "its severity and its preference for its own model cannot be told apart: other judges must judge its model's "
    "outputs, and it those of other models"
)


def self_against_cross(scores: JudgeScores, model: JudgeModel, reach: Fraction) -> list[dict[str, Any]]:
    """Return one row per judge that judged its own model's outputs; `reach` is the greatest difference of totals."""
    rows = []
    for judge in scores.self_judging():
        row: dict[str, Any] = {"judge": judge}
        for part, own in (("own", True), ("elsewhere", False)):
            gaps, items = scores.against_others(judge, own=own)
            numbers, _ = describe_counts(gaps, items, reach, "shared artifact")
            row[part] = {"n": gaps.total(), "items": items.clusters, **numbers}
        rows.append(row | _excess(model.bonus_of(judge)))
    return rows


def _excess(found: Estimate | None) -> dict[str, Any]:
    if found is None:
        return {"excess": None, "excess_ci95": None, "na": dict.fromkeys(("excess", "excess_ci95"), _NOT_APART)}
    interval = found.interval()
    na = {} if interval else {"excess_ci95": "too few artifacts to tell the spread, or none"}
    return {"excess": round_exact(Fraction(found.value)), "excess_ci95": interval, "na": na}
