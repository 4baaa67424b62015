"""Simulated judges and gold labels: agreement, bias, the closest judge, prediction-powered means.

Gold is 0, 1 or 2 with the probabilities of `_SHARES`. A judge repeats gold with probability `right` and otherwise draws
from the same probabilities, so that kappa, weighted kappa, alpha, Pearson's r and Spearman's rho all equal `right`.
"""

import math
import random
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product

from normalizer.aggregate.intervals import Method
from normalizer.calibration import prediction_powered
from normalizer.calibration.alternative_annotator import find_discoveries, find_p
from normalizer.calibration.choice import closest
from normalizer.calibration.labels import Item, Labels, PairsByItem, Values, consensus
from normalizer.calibration.measures import by_level, reliability
from normalizer.calibration.pass_rate import correct_pass_rate
from normalizer.estimation.clusters import gather
from normalizer.statistics.agreement_intervals import find_intervals
from tools.interval_coverage import Answers, Held, Study, holds, intervals, question
from tools.interval_coverage.known_methods import corrected, of_agreement, of_mean, powered, student

_METHOD = Method(bootstrap=True, resamples=400, seed=0)
_LEVELS = (0, 1, 2)
_SHARES = (0.2, 0.3, 0.5)
_MEAN = sum(level * share for level, share in zip(_LEVELS, _SHARES, strict=True))
_JUDGES = 5


def _chance(judge: int, gold: int, right: float) -> float:
    """The probability that the judge says `judge` where gold is `gold`."""
    return right * (judge == gold) + (1 - right) * _SHARES[judge]


def _truth(measure: str, right: float) -> float:
    cells = {(judge, gold): _SHARES[gold] * _chance(judge, gold, right) for judge, gold in product(_LEVELS, repeat=2)}
    if measure == "exact":
        return sum(share for (judge, gold), share in cells.items() if judge == gold)
    if measure == "mae":
        return sum(share * abs(judge - gold) for (judge, gold), share in cells.items())
    if measure == "bias":
        return 0.0
    if measure == "kendall":
        balance = sum(
            one * other * math.copysign(1, (a - c) * (b - d))
            for ((a, b), one), ((c, d), other) in product(cells.items(), repeat=2)
            if a != c and b != d
        )
        return balance / (1 - sum(share**2 for share in _SHARES))
    return right


def _pairs(rng: random.Random, n: int, right: float) -> list[tuple[Fraction, Fraction]]:
    found = []
    for _ in range(n):
        gold = rng.choices(_LEVELS, _SHARES)[0]
        judge = gold if rng.random() < right else rng.choices(_LEVELS, _SHARES)[0]
        found.append((Fraction(judge), Fraction(gold)))
    return found


_SCALE = Fraction(_LEVELS[0]), Fraction(_LEVELS[-1])
_MEASURES = {
    "accuracy": "exact",
    "mean absolute difference": "mae",
    "bias": "bias",
    "kappa": "kappa",
    "weighted kappa": "kappa_quadratic",
    "ordinal alpha": "alpha_ordinal",
    "Pearson's r": "pearson",
    "Spearman's rho": "spearman",
    "Kendall's tau": "kendall",
}


def _agreement(n: int, right: float, note: str = "") -> Study:
    named = {f"{name}, {n} items{note}": measure for name, measure in _MEASURES.items()}
    truth = {measure: _truth(measure, right) for measure in named.values()}

    def draw(rng: random.Random) -> Answers:
        pairs = _pairs(rng, n, right)
        found, others = find_intervals(pairs, [str(at) for at in range(n)]), of_agreement(pairs)
        return {name: holds(found[measure], truth[measure], others[measure]) for name, measure in named.items()}

    return intervals(list(named), draw)


def _levels(n: int, right: float) -> Study:
    """The bias where gold is 0, and the gold mean where the judge says 0: the rarest level."""
    expected = (1 - right) * _MEAN
    names = [f"bias at the rarest gold level, {n} items", f"gold mean at the rarest judge value, {n} items"]

    def draw(rng: random.Random) -> Answers:
        pairs = _pairs(rng, n, right)
        items = [str(at) for at in range(n)]
        rows = [(by_level(pairs, items, _SCALE), "gold"), (reliability(pairs, items, _SCALE), "judge")]
        found = [next((row["ci95"] for row in each if row[member] == 0), None) for each, member in rows]
        seen = [gather(pair[side] for pair in pairs if pair[1 - side] == 0) for side in (0, 1)]
        return {
            name: holds(ends, expected, of_mean(each, (0, 2)) if each.counts else {})
            for name, ends, each in zip(names, found, seen, strict=True)
        }

    return intervals(names, draw)


def name_each(values: Sequence[Fraction], answers: int = 1) -> dict[Item, Fraction]:
    """Return judgements of items without gold, so many `answers` being about one artifact."""
    return {(f"more {at // answers}", str(at) if answers > 1 else None): value for at, value in enumerate(values)}


def hold_powered(
    labelled: PairsByItem, judged: dict[Item, Fraction], scale: tuple[Fraction, Fraction], truth: float
) -> Held | None:
    """Return whether the interval of a prediction-powered mean holds the truth."""
    pairs = list(labelled.values())
    others = {"normal": powered(pairs, list(judged.values())), "gold alone": student([float(y) for _, y in pairs])}
    return holds(prediction_powered.estimate(labelled, judged, scale)["ci95"], truth, others)


def _powered(n: int, right: float, note: str = "") -> Study:
    def draw(rng: random.Random) -> Held | None:
        judge = [one for one, _ in _pairs(rng, 500, right)]
        labelled: PairsByItem = {(str(at), None): pair for at, pair in enumerate(_pairs(rng, n, right))}
        return hold_powered(labelled, name_each(judge), _SCALE, _MEAN)

    return question(f"gold mean, prediction-powered, {n} labels + 500{note}", draw)


def _rare(n: int, share: float, right: float) -> Study:
    """Two values, one of them rare; kappa is `right`."""
    names = {f"{name}, {n} items, prevalence {share:g}": name for name in ("kappa", "ac1")}
    agree = right + (1 - right) * (share**2 + (1 - share) ** 2)
    hard = 2 * share * (1 - share)
    truth = {"kappa": right, "ac1": (agree - hard) / (1 - hard)}

    def draw(rng: random.Random) -> Answers:
        pairs = []
        for _ in range(n):
            gold = rng.random() < share
            judge = gold if rng.random() < right else rng.random() < share
            pairs.append((Fraction(judge), Fraction(gold)))
        found, others = find_intervals(pairs, [str(at) for at in range(n)]), of_agreement(pairs)
        return {name: holds(found[measure], truth[measure], others[measure]) for name, measure in names.items()}

    return intervals(list(names), draw)


def _clustered(questions: int, answers: int, share: float, icc: float) -> Study:
    """Accuracy of answers to shared questions: each question has a chance of its own, by a beta distribution."""
    total = 1 / icc - 1

    def draw(rng: random.Random) -> Held | None:
        pairs, items = [], []
        for number in range(questions):
            chance = rng.betavariate(share * total, (1 - share) * total)
            for _ in range(answers):
                pairs.append((Fraction(rng.random() < chance), Fraction(1)))
                items.append(str(number))
        others = of_mean(gather([judge for judge, _ in pairs], items), (0, 1))
        return holds(find_intervals(pairs, items)["exact"], share, others)

    return question(f"accuracy, {questions} questions x {answers} answers, ICC {icc:g}", draw)


def _passed(n: int, share: float, right: float) -> Study:
    """Few labels of a rare value: prediction-powered and corrected rates; sensitivity and specificity are `right`."""
    told = f"{n} labels + 500, prevalence {share:g}"
    names = [f"gold mean, prediction-powered, {told}", f"corrected pass rate, {told}"]

    def label(rng: random.Random) -> tuple[Fraction, Fraction]:
        gold = rng.random() < share
        return Fraction(gold if rng.random() < right else not gold), Fraction(gold)

    def draw(rng: random.Random) -> Answers:
        labelled: PairsByItem = {(str(at), None): label(rng) for at in range(n)}
        judge = name_each([label(rng)[0] for _ in range(500)])
        found = correct_pass_rate(labelled, judge)
        known = {"delta method": corrected(list(labelled.values()), list(judge.values()))}
        held = [
            hold_powered(labelled, judge, (Fraction(0), Fraction(1)), share),
            holds(None if found is None else found["ci95"], share, known),
        ]
        return dict(zip(names, held, strict=True))

    return intervals(names, draw)


def _losses(right: float) -> dict[str, float]:
    """The true mean absolute difference of every candidate of `closest`, judges being alike."""
    names = [f"judge-{number}" for number in range(_JUDGES)]

    def loss(members: int, rule: str) -> float:
        found = 0.0
        for gold, *said in product(_LEVELS, repeat=members + 1):
            share = _SHARES[gold] * math.prod(_chance(each, gold, right) for each in said)
            found += share * abs(float(consensus([(Fraction(each),) for each in said], rule)[0]) - gold)
        return found

    losses = dict.fromkeys(names, loss(1, "mean"))
    losses |= {f"panel {rule} of all": loss(_JUDGES, rule) for rule in ("mean", "median", "majority")}
    return losses | dict.fromkeys((f"panel mean without {name}" for name in names), loss(_JUDGES - 1, "mean"))


def _draw_labels(rng: random.Random, items: int, right: float) -> tuple[Labels, dict[Item, Values]]:
    """Labels of judges that are alike, and gold."""
    gold: dict[Item, Values] = {}
    said: dict[Item, dict[str, Values]] = {}
    for number in range(items):
        label = rng.choices(_LEVELS, _SHARES)[0]
        item = (str(number), None)
        gold[item] = (Fraction(label),)
        said[item] = {}
        for judge in range(_JUDGES):
            value = label if rng.random() < right else rng.choices(_LEVELS, _SHARES)[0]
            said[item][f"judge-{judge}"] = (Fraction(value),)
    return Labels(said, {}, frozenset()), gold


def _choice(items: int, right: float) -> Study:
    losses = _losses(right)
    start = f"closest of {len(losses)} candidates, {items} items"
    names = {f"{start}: mae as observed is above the truth": False, f"{start}: corrected mae is above the truth": True}

    def draw(rng: random.Random) -> Answers:
        found = closest(*_draw_labels(rng, items, right), 0, _METHOD)
        told = {True: found["corrected_mae"], False: found["candidates"][0]["mae"]}
        return {name: float(told[corrected]) > losses[found["best"]] for name, corrected in names.items()}

    return Study(dict.fromkeys(names, "50 %"), draw)


def _told_apart(items: int, right: float) -> Study:
    """Whether a candidate that is as close to gold as the best one, or closer, is called farther away."""
    losses = _losses(right)

    def draw(rng: random.Random) -> bool:
        labels, gold = _draw_labels(rng, items, right)
        found = closest(labels, gold, 0, _METHOD)
        farther = [
            row["name"] for row in found["candidates"] if row["p_holm"] is not None and row["p_holm"] <= Decimal("0.05")
        ]
        return any(losses[name] <= losses[found["best"]] for name in farther)

    return question(f"closest of {len(losses)} candidates, {items} items: p (Holm) at most 0.05", draw, "at most 5 %")


def _stands_in(items: int, closer: float, farther: float, annotators: int) -> Study:
    """Whether a judge passes against an annotator who is closer more often by as much as the test must not allow."""
    start = f"alternative annotator, {items} items, {100 * closer:g} % closer, {100 * farther:g} % farther"
    names = [f"{start}: {what}" for what in ("p at most 0.05", f"wins against one of {annotators}")]

    def draw(rng: random.Random) -> Answers:
        ps = []
        for _ in range(annotators):
            drawn = [rng.random() for _ in range(items)]
            gaps = [Fraction(1 if at < closer else -1 if at < closer + farther else 0) for at in drawn]
            ps.append(find_p(gaps, [(str(at), None) for at in range(items)]))
        return dict(zip(names, (ps[0] <= 0.05, any(find_discoveries(ps))), strict=True))

    return Study(dict.fromkeys(names, "at most 5 %"), draw)


STUDIES = [
    _agreement(5, 0.6),
    _agreement(20, 0.6),
    _agreement(50, 0.6),
    _agreement(200, 0.6),
    _agreement(50, 0.9, ", close judge"),
    _levels(50, 0.6),
    _levels(200, 0.6),
    _powered(5, 0.7),
    _powered(20, 0.7),
    _powered(50, 0.7),
    _powered(50, 0.1, ", poor judge"),
    _choice(40, 0.6),
    _told_apart(40, 0.6),
    _stands_in(30, 0.3, 0.2, 3),
    _stands_in(30, 0.1, 0.0, 3),
    _rare(20, 0.9, 0.5),
    _rare(30, 0.95, 0.5),
    _clustered(40, 10, 0.8, 0.3),
    _clustered(12, 5, 0.8, 0.3),
    _passed(20, 0.05, 0.9),
    _passed(20, 0.1, 0.9),
    _passed(50, 0.5, 0.8),
]
