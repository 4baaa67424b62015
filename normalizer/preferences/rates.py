"""Wins, losses and draws, and win rates with 95 % intervals.

Every item counts once: the verdicts on one item are averaged first (win 1, draw 1/2, loss 0), and the rate is the mean
over items. Wilson's interval takes the items as trials; it is conservative where an item's average lies between 0 and
1. The bootstrap resamples items; there is none where all items have one average. Where every verdict is a preference
between 0 and 1, the weighted rate is the mean preference, with the interval of a mean on a scale.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import Any

from normalizer.aggregate.eligibility import ALONE
from normalizer.aggregate.intervals import Method, draw_blocks, middle_places, wilson_interval
from normalizer.documents.exact import rounded
from normalizer.estimation.clusters import gather
from normalizer.estimation.intervals import Interval, mean_interval
from normalizer.preferences.comparisons import DECIDED, Comparison

RULE = {
    "draws": "half",
    "both_bad": "left_out",
    "missing": "left_out",
    "unit": "item",
}
"""How verdicts count; stated in every document."""


_HALVES = {"a": 2, "draw": 1, "b": 0}
"""The scores of A, in halves."""


def count_verdicts(comparisons: Iterable[Comparison]) -> dict[str, int]:
    """How often A won, lost and so on."""
    found = Counter(comparison.winner for comparison in comparisons)
    names = {"wins": "a", "losses": "b", "draws": "draw", "both_bad": "both_bad", "missing": "missing"}
    return {name: found[winner] for name, winner in names.items()}


def item_scores(comparisons: Iterable[Comparison]) -> dict[str, Fraction]:
    """A's average on each item that has a decided comparison."""
    halves: dict[str, list[int]] = defaultdict(list)
    for one in comparisons:
        if one.winner in DECIDED:
            halves[one.item].append(_HALVES[one.winner])
    return {item: Fraction(sum(found), 2 * len(found)) for item, found in sorted(halves.items())}


def item_means(values: Iterable[tuple[str, Fraction]]) -> dict[str, Fraction]:
    """The mean of each item's values."""
    by_item: dict[str, list[Fraction]] = defaultdict(list)
    for item, value in values:
        by_item[item].append(value)
    return {item: sum(found, Fraction(0)) / len(found) for item, found in sorted(by_item.items())}


def average_meetings(decided: Iterable[Comparison]) -> dict[tuple[str, str, str], Fraction]:
    """Return the mean score of the first of two generators on each item: by item and both names, in order of names."""
    turned = (one if one.a < one.b else one.turn() for one in decided)
    by_meeting: dict[tuple[str, str, str], list[Fraction]] = defaultdict(list)
    for one in turned:
        by_meeting[one.item, one.a, one.b].append(one.score)
    return {meeting: sum(found, Fraction(0)) / len(found) for meeting, found in sorted(by_meeting.items())}


def resample_mean(values: list[Fraction], method: Method) -> Interval:
    """The bootstrap interval of a mean: percentiles of resampled means, as order statistics."""
    import numpy as np

    common = lcm(*(value.denominator for value in values))
    whole = [value.numerator * (common // value.denominator) for value in values]
    fits = max(map(abs, whole), default=0) * len(whole) < 2**62
    numbers = np.array(whole, dtype=np.int64 if fits else object)
    sums = np.sort(np.concatenate([numbers[drawn].sum(axis=1) for drawn in draw_blocks(method, len(whole))]))
    low, high = (Fraction(int(sums[place]), common * len(whole)) for place in middle_places(len(sums), len(whole)))
    return low, high


def rate(comparisons: list[Comparison], method: Method | None) -> dict[str, Any]:
    """Return the rate of A over comparisons that are all turned to it, with counts and intervals.

    Without a method nothing is resampled.
    """
    scores = item_scores(comparisons)
    counts = count_verdicts(comparisons)
    flags = []
    decided = [comparison for comparison in comparisons if comparison.winner in DECIDED]
    own = [comparison.self_judged for comparison in decided]
    document: dict[str, Any] = {**counts, "items": len(scores), "rate": None, "wilson95": None, "bootstrap95": None}
    document |= {"share": None, "share_ci95": None, "na": None}
    if not scores:
        document["na"] = "no comparison is decided"
    elif all(own):
        document["na"] = ALONE
        flags.append("only_self_judged")
    else:
        mean = sum(scores.values(), Fraction(0)) / len(scores)
        document |= {"rate": rounded(mean), "wilson95": _ends(wilson_interval(mean, len(scores)))}
        if (
            method is not None and len(set(scores.values())) > 1
        ):  # resamples of items that are alike would give an interval without width
            document["bootstrap95"] = _ends(resample_mean(list(scores.values()), method))
        shares = [comparison.share for comparison in decided if comparison.share is not None]
        if len(shares) == len(decided):
            means = item_means((one.item, share) for one, share in zip(decided, shares, strict=True))
            document["share"] = rounded(sum(means.values(), Fraction(0)) / len(means))
            if len(means) > 1:
                values = gather(means.values())
                document["share_ci95"] = _ends(mean_interval(values, (Fraction(0), Fraction(1))))
        if any(own):
            flags.append("self_judged_included")
    if any(comparison.first == "unknown" for comparison in comparisons):
        flags.append("order_unknown")
    document["flags"] = sorted(flags)
    return document


def _ends(interval: Interval) -> list[Decimal]:
    return [rounded(end) for end in interval]
