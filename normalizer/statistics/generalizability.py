"""Judges as a sample: where the variance of labels comes from, and the means of generators for other judges like these.

Labels vary between generators, items, answers (an item's answer by one generator), judges, and judges' tastes for a
generator; the rest is the judge's own disagreement about one answer. The coefficients are those of generalizability
theory (Brennan 2001): the share of the variance of a mean that other judges would find again. Labels of a judge on its
own model's outputs are left out.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from normalizer.aggregate.intervals import t_interval
from normalizer.documents.exact import rounded
from normalizer.estimation.clusters import Clusters, gather, robust_variance
from normalizer.estimation.crossed_effects import MOST_LEVELS, Components, fit_components
from normalizer.estimation.intervals import Interval, mean_interval
from normalizer.estimation.over_judges import JudgedValue, interval_over_judges
from normalizer.statistics.severity import JudgeModel
from normalizer.statistics.spread import ends, mean_of

_MOST_CELLS = 4_000_000
"""Labels times levels of judges and generators, beyond which variances take too long."""
_ONE_JUDGE = "one judge says nothing about others"


class Judgement(NamedTuple):
    """A judge's total for an answer."""

    item: str
    generator: str | None
    judge: str
    total: Fraction


def split_variance(labels: Sequence[Judgement]) -> dict[str, Any]:
    """Return the variance components and the coefficients: `agreement.json#/$defs/variance`."""
    document: dict[str, Any] = {"labels": len(labels), "components": [], "coefficients": [], "na": None}
    why = _no_split(labels)
    if why is not None:
        return {**document, "na": why}
    factors: dict[str, list[Hashable]] = {"generator": [label.generator for label in labels]}
    factors["judge"] = [label.judge for label in labels]
    factors["taste"] = [(label.judge, label.generator) for label in labels]
    counts = {name: len(set(levels)) for name, levels in factors.items()}
    several = counts["generator"] > 1
    used = ["generator", "judge", "taste"] if several else ["judge"]
    if (
        sum(counts[name] for name in used) * len(labels) > _MOST_CELLS
        or sum(map(counts.__getitem__, used)) > MOST_LEVELS
    ):
        return {**document, "na": "too many labels, judges or generators for a model of all of them"}
    items = [label.item for label in labels]
    answers = [label.generator for label in labels] if several and _has_shared_items(labels) else None
    totals = [float(label.total) for label in labels]
    found = fit_components(totals, items, answers, [factors[name] for name in used])
    variances = dict(zip(used, found.others, strict=True))
    variances |= {"item": found.item, "answer": found.answer, "rest": found.residual}
    counts |= {"item": len(set(items)), "answer": len({(label.item, label.generator) for label in labels})}
    counts["rest"] = len(labels)
    whole = sum(variances.values())
    for name in ("generator", "item", "answer", "judge", "taste", "rest"):
        if name in variances and (name != "answer" or answers is not None):
            share = {"variance": _number(variances[name]), "share": _number(variances[name] / whole)}
            document["components"].append({"factor": name, "levels": counts[name], **share})
    document["coefficients"] = _coefficients(labels, found, variances, counts)
    return document


def _no_split(labels: Sequence[Judgement]) -> str | None:
    judges = Counter((label.item, label.generator) for label in labels)
    if not any(count > 1 for count in judges.values()):
        return "no answer has two judges"
    if len({label.item for label in labels}) < 2:
        return "there is only one item"
    if len({label.total for label in labels}) < 2:
        return "all labels are equal"
    return None


def _has_shared_items(labels: Sequence[Judgement]) -> bool:
    """Whether an item has answers of two generators, so that its difficulty can be told from the answers' quality."""
    seen: dict[str, set[str | None]] = defaultdict(set)
    for label in labels:
        seen[label.item].add(label.generator)
    return any(len(generators) > 1 for generators in seen.values())


def _coefficients(
    labels: Sequence[Judgement], found: Components, variances: dict[str, float], counts: dict[str, int]
) -> list[dict[str, Any]]:
    """Return how much of the variance other judges would find again: of answers, by one judge and by a panel like
    these, and of generators. `relative` is for comparisons with each other, `absolute` for values as such."""
    per_answer = Counter((label.item, label.generator) for label in labels).values()
    panel = len(per_answer) / sum(1 / count for count in per_answer)
    quality = found.item + found.answer + variances.get("generator", 0.0)
    rows = []
    for judges in (1.0, panel):
        noise = (found.residual + variances.get("taste", 0.0)) / judges
        rows.append(("answer", judges, quality, noise, noise + variances["judge"] / judges))
    if "generator" in variances:
        items, judges = counts["item"], counts["judge"]
        noise = found.answer / items + variances["taste"] / judges + found.residual / (items * panel)
        shift = found.item / items + variances["judge"] / judges
        rows.append(("generator", float(judges), variances["generator"], noise, noise + shift))
    return [
        {
            "of": of,
            "judges": _number(judges),
            "relative": _number(signal / (signal + noise)) if signal + noise > 0 else None,
            "absolute": _number(signal / (signal + error)) if signal + error > 0 else None,
        }
        for of, judges, signal, noise, error in rows
    ]


def describe_generators(
    labels: Sequence[Judgement], model: JudgeModel, scale: tuple[Fraction, Fraction]
) -> list[dict[str, Any]]:
    """Return the mean of each generator, raw and adjusted for the severity of its judges, for these judges and for
    others like them."""
    severities = {judge: model.severity_of(judge) for judge in sorted({label.judge for label in labels})}
    apart = len(model.panels) != 1 or any(each is None for each in severities.values())
    effects = {judge: Fraction(each.value) for judge, each in severities.items() if each is not None}
    rows = []
    for generator in sorted({label.generator for label in labels}, key=lambda name: (name is None, str(name))):
        own = [label for label in labels if label.generator == generator]
        raw = _by_item(own, {})
        these = mean_interval(raw, scale) if raw.clusters > 1 else None
        judged = [JudgedValue(label.item, label.judge, label.total) for label in own]
        over = interval_over_judges(judged, scale, these)
        row: dict[str, Any] = {"generator": generator, "items": raw.clusters}
        row["judges"] = len({label.judge for label in own})
        row |= {"mean": rounded(raw.mean), "ci95": _ends(these)}
        row["ci95_over_judges"] = _ends(over)
        na = {"ci95": "there is only one item"} if raw.clusters < 2 else {}
        if over is None:
            na["ci95_over_judges"] = _ONE_JUDGE if row["judges"] < 2 else "too few items, or no spread"
        row |= {"adjusted": None, "adjusted_ci95": None}
        if apart:
            na |= dict.fromkeys(("adjusted", "adjusted_ci95"), "its judges share too few answers to compare severity")
        else:
            adjusted = _by_item(own, effects)
            row["adjusted"] = rounded(adjusted.mean)
            row["adjusted_ci95"] = _ends(_robust(adjusted, scale))
            na |= {} if row["adjusted_ci95"] else {"adjusted_ci95": "too few items, or no spread"}
        rows.append({**row, "na": na})
    return rows


def _by_item(labels: Iterable[Judgement], effects: dict[str, Fraction]) -> Clusters:
    """Return the mean of each item, less the severity of its judges."""
    found: dict[str, list[Fraction]] = defaultdict(list)
    for label in labels:
        found[label.item].append(label.total - effects.get(label.judge, Fraction(0)))
    return gather([mean_of(found[item]) for item in sorted(found)])


def _robust(items: Clusters, scale: tuple[Fraction, Fraction]) -> Interval | None:
    if items.clusters < 2:
        return None
    square, freedom = robust_variance(items)
    if not square:
        return None
    low, high = t_interval(items.mean, square, freedom)
    return max(low, scale[0]), min(high, scale[1])


def _ends(interval: Interval | None) -> Any:
    return None if interval is None else ends(interval)


def _number(value: float) -> Any:
    return rounded(Fraction(value))
