"""Self-judging compared with cross-judging on the same artifacts: a judge's bonus for its own model's output."""

from fractions import Fraction
from typing import Any

from normalizer.aggregate.intervals import t_interval
from normalizer.documents.exact import rounded
from normalizer.statistics.judge_scores import JudgeScores
from normalizer.statistics.signflip import sign_flip
from normalizer.statistics.spread import ends, mean_of, spread, variance_of


def self_against_cross(scores: JudgeScores, seed: int, resamples: int) -> list[dict[str, Any]]:
    """Return one row per judge that judged its own model's outputs."""
    return [
        {
            "judge": judge,
            **_compared(
                scores.against_others(judge, own=True), scores.against_others(judge, own=False), seed, resamples
            ),
        }
        for judge in scores.self_judging()
    ]


def _compared(own: list[Fraction], elsewhere: list[Fraction], seed: int, resamples: int) -> dict[str, Any]:
    reasons: dict[str, str] = {}
    excess = interval = None
    if not own:
        reasons["excess"] = "no other judge judged its own outputs"
    elif not elsewhere:
        reasons["excess"] = "it shares no output of another model with another judge: severity and self-judging are one"
    else:
        excess = mean_of(own) - mean_of(elsewhere)
        interval = welch(own, elsewhere, excess)
        if interval is None:
            reasons["excess_ci95"] = "each side needs two artifacts and some spread"
    if excess is None:
        reasons["excess_ci95"] = reasons["excess"]
    return {
        "own": _difference(own, seed, resamples),
        "elsewhere": _difference(elsewhere, seed, resamples),
        "excess": None if excess is None else rounded(excess),
        "excess_ci95": None if interval is None else ends(interval),
        "na": reasons,
    }


def _difference(values: list[Fraction], seed: int, resamples: int) -> dict[str, Any]:
    found, reasons = spread(values, "mean", "shared artifact")
    tested = sign_flip(values, seed, resamples) if values else None
    if tested is None:
        reasons["p"] = "there is no shared artifact"
    return {"n": len(values), **found, "p": None if tested is None else rounded(tested.p), "na": reasons}


def welch(own: list[Fraction], elsewhere: list[Fraction], excess: Fraction) -> tuple[Fraction, Fraction] | None:
    """Return Welch's interval of a difference of means, with Satterthwaite's degrees of freedom."""
    if min(len(own), len(elsewhere)) < 2:
        return None
    errors = [variance_of(each) / len(each) for each in (own, elsewhere)]
    if not sum(errors):
        return None
    freedom = sum(errors) ** 2 / sum(
        (error**2 / (len(each) - 1) for error, each in zip(errors, (own, elsewhere), strict=True)), Fraction(0)
    )
    return t_interval(excess, sum(errors, Fraction(0)), float(freedom))
