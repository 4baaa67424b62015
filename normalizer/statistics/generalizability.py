"""Judges as a sample: where the variance of labels comes from, and the means of generators for other judges like these.

Labels vary between generators, items, answers (an item's answer by one generator), judges, and judges' tastes for a
generator; the rest is the judge's own disagreement about one answer. The coefficients are those of generalizability
theory (Brennan 2001): the share of the variance of a mean that other judges would find again. Labels of a judge on its
own model's outputs are left out.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from normalizer.aggregate.intervals import quantile, t_interval
from normalizer.documents.exact import root, round_exact
from normalizer.estimation.clusters import Clusters, robust_variance
from normalizer.estimation.crossed_effects import MOST_LEVELS, Components, fit_components
from normalizer.estimation.intervals import Interval, mean_interval
from normalizer.estimation.over_judges import Panel, count_panels, interval_over_judges, sum_values
from normalizer.statistics.judge_scores import JudgedItem
from normalizer.statistics.severity import Estimate, JudgeModel
from normalizer.statistics.spread import ends

_MOST_CELLS = 4_000_000
"""Labels times levels of judges and generators, beyond which variances take too long."""
_TOO_MANY = "too many labels, judges or generators for a model of all of them"
_ONE_JUDGE = "one judge says nothing about others"


def leave_out_own(items: Mapping[JudgedItem, int]) -> Counter[JudgedItem]:
    """Return the items without labels of judges on their own models' outputs."""
    found: Counter[JudgedItem] = Counter()
    for item, count in items.items():
        kept = [answer._replace(labels=tuple(label for label in answer.labels if not label.own)) for answer in item]
        if any(answer.labels for answer in kept):
            found[tuple(answer for answer in kept if answer.labels)] += count
    return found


class _Judgement(NamedTuple):
    """A label with the number of its item."""

    item: int
    generator: str | None
    judge: str
    total: Fraction


def _list_labels(items: Mapping[JudgedItem, int]) -> list[_Judgement]:
    """Return every label."""
    each = (item for item in sorted(items, key=_order) for _ in range(items[item]))
    return [
        _Judgement(number, answer.generator, label.judge, Fraction(label.total))
        for number, item in enumerate(each)
        for answer in item
        for label in answer.labels
    ]


def _order(item: JudgedItem) -> list[Any]:
    return [(answer.generator is None, str(answer.generator), answer.labels) for answer in item]


def split_variance(items: Mapping[JudgedItem, int]) -> dict[str, Any]:
    """Return the variance components and the coefficients: `agreement.json#/$defs/variance`."""
    n = sum(count * sum(len(answer.labels) for answer in item) for item, count in items.items())
    document: dict[str, Any] = {"labels": n, "components": [], "coefficients": [], "na": None}
    why = _no_split(items)
    if why is not None:
        return {**document, "na": why}
    if n > _MOST_CELLS:
        return {**document, "na": _TOO_MANY}
    return _split(_list_labels(items), document)


def _split(labels: Sequence[_Judgement], document: dict[str, Any]) -> dict[str, Any]:
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
        return {**document, "na": _TOO_MANY}
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


def _no_split(items: Mapping[JudgedItem, int]) -> str | None:
    if not any(len(answer.labels) > 1 for item in items for answer in item):
        return "no answer has two judges"
    if sum(items.values()) < 2:
        return "there is only one item"
    if len({label.total for item in items for answer in item for label in answer.labels}) < 2:
        return "all labels are equal"
    return None


def _has_shared_items(labels: Sequence[_Judgement]) -> bool:
    """Whether an item has answers of two generators, so that its difficulty can be told from the answers' quality."""
    seen: dict[int, set[str | None]] = defaultdict(set)
    for label in labels:
        seen[label.item].add(label.generator)
    return any(len(generators) > 1 for generators in seen.values())


def _coefficients(
    labels: Sequence[_Judgement], found: Components, variances: dict[str, float], counts: dict[str, int]
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
    items: Mapping[JudgedItem, int], model: JudgeModel, scale: tuple[Fraction, Fraction]
) -> list[dict[str, Any]]:
    """Return the mean of each generator, raw and adjusted for the severity of its judges, for these judges and for
    others like them."""
    panels: dict[str | None, Counter[Panel]] = defaultdict(Counter)
    for item, count in items.items():
        for answer in item:
            panels[answer.generator][tuple((label.judge, Fraction(label.total)) for label in answer.labels)] += count
    judges = sorted({judge for of in panels.values() for panel in of for judge, _ in panel})
    severities = {judge: model.severity_of(judge) for judge in judges}
    apart = len(model.panels) != 1 or any(each is None for each in severities.values())
    effects = {judge: Fraction(each.value) for judge, each in severities.items() if each is not None}
    rows = []
    for generator in sorted(panels, key=lambda name: (name is None, str(name))):
        own = panels[generator]
        raw = _by_item(own, {})
        these = mean_interval(raw, scale) if raw.clusters > 1 else None
        over = interval_over_judges(count_panels(own), scale, these)
        row: dict[str, Any] = {"generator": generator, "items": raw.clusters}
        row["judges"] = len({judge for panel in own for judge, _ in panel})
        row |= {"mean": round_exact(raw.mean), "ci95": _ends(these)}
        row["ci95_over_judges"] = _ends(over)
        na = {"ci95": "there is only one item"} if raw.clusters < 2 else {}
        if over is None:
            na["ci95_over_judges"] = _ONE_JUDGE if row["judges"] < 2 else "too few items, or no spread"
        row |= {"adjusted": None, "adjusted_ci95": None}
        if apart:
            na |= dict.fromkeys(("adjusted", "adjusted_ci95"), "its judges share too few answers to compare severity")
        else:
            adjusted = _by_item(own, effects)
            row["adjusted"] = round_exact(adjusted.mean)
            row["adjusted_ci95"] = _ends(_robust(adjusted, scale, model.mean_severity(_weigh_judges(own))))
            na |= {} if row["adjusted_ci95"] else {"adjusted_ci95": "too few items or shared answers, or no spread"}
        rows.append({**row, "na": na})
    return rows


def _by_item(panels: Counter[Panel], effects: dict[str, Fraction]) -> Clusters:
    """Return the mean of each item, less the severity of its judges."""
    found: Counter[tuple[Fraction, int]] = Counter()
    for panel, count in panels.items():
        less = sum((effects.get(judge, Fraction(0)) for judge, _ in panel), Fraction(0))
        found[(sum_values(panel) - less) / len(panel), 1] += count
    return Clusters(found)


def _weigh_judges(panels: Counter[Panel]) -> dict[str, float]:
    """Return how much each judge counts in the mean of a generator."""
    found: dict[str, float] = defaultdict(float)
    for panel, count in panels.items():
        for judge, _ in panel:
            found[judge] += count / len(panel) / panels.total()
    return found


def _robust(items: Clusters, scale: tuple[Fraction, Fraction], taken_out: Estimate | None) -> Interval | None:
    """Return Student's t interval of the mean of items, widened by the error of the severity that was taken out."""
    if items.clusters < 2:
        return None
    square, freedom = robust_variance(items)
    if not square:
        return None
    mean = items.mean
    half = t_interval(mean, square, freedom)[1] - mean
    if taken_out is not None:
        if taken_out.freedom is None:
            return None
        half = root(half**2 + Fraction(quantile(taken_out.freedom) * (taken_out.error or 0.0)) ** 2)
    if not scale[0] <= mean <= scale[1]:  # an adjusted mean may lie beyond the scale, and must lie in its interval
        return mean - half, mean + half
    return max(mean - half, scale[0]), min(mean + half, scale[1])


def _ends(interval: Interval | None) -> Any:
    return None if interval is None else ends(interval)


def _number(value: float) -> Any:
    return round_exact(Fraction(value))
