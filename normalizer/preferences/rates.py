"""Wins, losses and draws, and win rates with 95 % intervals.

Every item counts once: the verdicts on one item are averaged first (win 1, draw 1/2, loss 0), and the rate is the mean
over items. Its interval is that of a mean on a scale, which is Clopper and Pearson's where items are won or lost, and
narrower where an item's average lies between. The bootstrap resamples items; there is none where all items have one
average. Where every verdict is a preference between 0 and 1, the weighted rate is the mean preference.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any, NamedTuple

from normalizer.aggregate.eligibility import ALONE
from normalizer.aggregate.intervals import Method, draw_blocks, middle_places, rate_interval
from normalizer.documents.exact import round_exact
from normalizer.estimation.clusters import Clusters
from normalizer.estimation.intervals import Interval, mean_interval
from normalizer.preferences.comparisons import DECIDED
from normalizer.preferences.verdicts import NONE, SHOWN, WINNERS, ComparisonGroup, Orders, Verdicts

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[Any]]

RULE = {
    "draws": "half",
    "both_bad": "left_out",
    "missing": "left_out",
    "unit": "item",
}
"""How verdicts count; stated in every document."""
_NAMES = ("wins", "losses", "draws", "both_bad", "missing")
"""The names of WINNERS in documents."""
_HALVES = (2, 0, 1)
"""The scores of A by the place of the winner, in halves."""
_EXACT = 2**53
"""Whole numbers below this are exact as doubles, and so are their sums."""


class ItemSums(NamedTuple):
    """The values of each item that has one: their sum, in units, and their number. Items are in order."""

    sums: "Numbers"
    sizes: "Numbers"
    unit: int

    def count_sums(self) -> Counter[tuple[int, int]]:
        """Return how many items have each sum and number."""
        return Counter(zip(self.sums.tolist(), self.sizes.tolist(), strict=True))

    def mean(self) -> Fraction:
        """Return the mean over items of their means."""
        totals: dict[int, int] = defaultdict(int)
        for (total, size), count in self.count_sums().items():
            totals[size] += total * count
        whole = sum((Fraction(total, size) for size, total in totals.items()), Fraction(0))
        return whole / (self.unit * len(self.sizes))

    def means(self) -> Counter[Fraction]:
        """Return how many items have each mean."""
        found: Counter[Fraction] = Counter()
        for (total, size), count in self.count_sums().items():
            found[Fraction(total, size * self.unit)] += count
        return found

    def scale(self) -> tuple["Numbers", int]:
        """Return the items' means as whole numbers, and the unit of these."""
        import numpy as np

        common = lcm(*set(self.sizes.tolist()))
        fits = common * self.unit * len(self.sizes) < 2**62
        sums, sizes = (self.sums, self.sizes) if fits else (self.sums.astype(object), self.sizes.astype(object))
        return np.asarray(sums * (common // sizes)), common * self.unit


def sum_items(verdicts: Verdicts) -> ItemSums:
    """Return A's scores on each item, in halves, over decided comparisons."""
    import numpy as np

    return _sum_by_item(verdicts, np.array(_HALVES)[verdicts.winner], 2)


def _sum_by_item(decided: Verdicts, values: "Numbers", unit: int) -> ItemSums:
    import numpy as np

    if not len(decided.item):
        return ItemSums(decided.item, decided.item, unit)
    order = np.argsort(decided.item, kind="stable")
    items, times = decided.item[order], decided.times[order]
    starts = np.flatnonzero(np.concatenate([[True], items[1:] != items[:-1]]))
    return ItemSums(np.add.reduceat(values[order] * times, starts), np.add.reduceat(times, starts), unit)


def resample_means(given: list[ItemSums], method: Method) -> list[Interval]:
    """Return the bootstrap interval of the mean over items of each: percentiles of resampled means.

    Those with equally many items have the same resamples: how often each item was drawn, a matrix, times their means.
    """
    import numpy as np

    by_size: dict[int, list[int]] = defaultdict(list)
    for place, one in enumerate(given):
        by_size[len(one.sizes)].append(place)
    found: list[Interval] = [(Fraction(0), Fraction(0))] * len(given)
    for n, places in by_size.items():
        scaled = [given[place].scale() for place in places]
        exact = all(int(whole.max()) * n < _EXACT for whole, _ in scaled)
        columns = np.column_stack([whole for whole, _ in scaled])
        blocks = []
        for drawn in draw_blocks(method, n):
            if exact and len(places) > 1:
                cells = (np.arange(len(drawn))[:, None] * n + drawn).reshape(-1)
                often = np.bincount(cells, minlength=len(drawn) * n).reshape(-1, n)
                blocks.append((often.astype(float) @ columns.astype(float)).astype(np.int64))
            else:
                blocks.append(np.column_stack([column[drawn].sum(axis=1) for column in columns.T]))
        sums = np.sort(np.concatenate(blocks), axis=0)
        ends = middle_places(len(sums), n)
        for column, (place, (_, unit)) in enumerate(zip(places, scaled, strict=True)):
            low, high = (Fraction(int(sums[end, column]), unit * n) for end in ends)
            found[place] = low, high
    return found


def rates(tables: Iterable[Verdicts], method: Method | None) -> list[dict[str, Any]]:
    """Return the rate of A in each table, all comparisons being turned to it, with counts and intervals.

    Without a method nothing is resampled.
    """
    documents, drawn = [], []
    for table in tables:
        decided = table.take_decided()
        items = sum_items(decided)
        documents.append(_rate(table, decided, items))
        # Resamples of items that are alike would give an interval without width.
        if method is not None and documents[-1]["rate"] is not None and len(items.means()) > 1:
            drawn.append((documents[-1], items))
    if method is not None and drawn:
        for (document, _), interval in zip(drawn, resample_means([items for _, items in drawn], method), strict=True):
            document["bootstrap95"] = _ends(interval)
    return documents


def _rate(table: Verdicts, decided: Verdicts, items: ItemSums) -> dict[str, Any]:
    """Return the document of a rate, but for what is resampled."""
    import numpy as np

    counts = np.bincount(table.winner, weights=table.times, minlength=len(WINNERS))
    flags = []
    document: dict[str, Any] = {name: int(count) for name, count in zip(_NAMES, counts, strict=True)}
    document |= {"items": len(items.sizes), "rate": None, "exact95": None, "bootstrap95": None}
    document |= {"share": None, "share_ci95": None, "na": None}
    if not len(items.sizes):
        document["na"] = "no comparison is decided"
    elif decided.own.all():
        document["na"] = ALONE
        flags.append("only_self_judged")
    else:
        document |= {"rate": round_exact(items.mean()), "exact95": _ends(_mean_interval(items))}
        if (decided.share != NONE).all():
            shares = _sum_by_item(decided, decided.share, decided.unit)
            document["share"] = round_exact(shares.mean())
            if len(shares.sizes) > 1:
                document["share_ci95"] = _ends(_mean_interval(shares))
        if decided.own.any():
            flags.append("self_judged_included")
    if (table.first == SHOWN.index("unknown")).any():
        flags.append("order_unknown")
    document["flags"] = sorted(flags)
    return document


def _mean_interval(items: ItemSums) -> Interval:
    values = Clusters(Counter({(mean, 1): count for mean, count in items.means().items()}))
    return mean_interval(values, (Fraction(0), Fraction(1)))


def _ends(interval: Interval) -> list[Decimal]:
    return [round_exact(end) for end in interval]


_FIXED = "no two generators were shown in both orders, so that the first place cannot be told from the better answer"
_SHOWN = ("first", "second", "draw", "both_bad", "missing")
_OTHER_WAY = (1, 0, 2, 3, 4)
"""In the other order a win of A is one of the answer shown second."""


def order_effects(group: ComparisonGroup, method: Method) -> dict[str, Any]:
    """The first answer's rate, and the table of comparisons that were made in both orders."""
    is_known = group.verdicts.first != SHOWN.index("unknown")
    known = group.verdicts.take(is_known)
    by_position = known.turn_where(known.first == SHOWN.index("b"))
    [first] = rates([by_position], method)
    first["flags"] = [flag for flag in first["flags"] if flag != "order_unknown"]
    orders = set(zip(by_position.a.tolist(), by_position.b.tolist(), strict=True))
    if first["rate"] is not None and not any((b, a) in orders for a, b in orders):
        first |= dict.fromkeys(("rate", "exact95", "bootstrap95", "share", "share_ci95"))
        first["na"] = _FIXED
    unknown = int(group.verdicts.times[~is_known].sum())
    return {"unknown": unknown, "first_shown": first, "swapped": _compare_orders(group.orders)}


def _compare_orders(asked: Orders) -> dict[str, Any]:
    """Verdicts on the same answers in both orders, each told by position.

    A judge may have given several verdicts in one order, in runs of their own: each is paired with each of the other
    order.
    """
    import numpy as np

    cells = (asked.one * asked.times[:, None]).T @ asked.other[:, list(_OTHER_WAY)]
    one, other = asked.one[:, : len(DECIDED)], asked.other[:, : len(DECIDED)]
    sizes = one.sum(axis=1) * other.sum(axis=1) * asked.times
    equal = (one * other).sum(axis=1) * asked.times
    most = int((np.minimum(one.sum(axis=1), other.sum(axis=1)) * asked.times).sum())
    items, places = np.unique(asked.item, return_inverse=True)
    sums = np.zeros((len(items), 2), dtype=np.int64)
    np.add.at(sums, places, np.column_stack([equal, sizes]))
    decided = Counter((same, size) for same, size in sums.tolist() if size)
    n, same = int(sizes.sum()), int(equal.sum())
    consistency = Fraction(same, n) if n else None
    return {
        "pairs": int(cells.sum()),
        "decided": n,
        "consistent": same,
        "consistency": None if consistency is None else round_exact(consistency),
        "exact95": None
        if consistency is None
        else [round_exact(end) for end in _interval(decided, consistency, n, most)],
        "first_both_times": int(cells[0, 0]),
        "second_both_times": int(cells[1, 1]),
        "table": [
            {"one_order": one, "other_order": other, "n": int(cells[row, column])}
            for row, one in enumerate(_SHOWN)
            for column, other in enumerate(_SHOWN)
            if cells[row, column]
        ],
    }


def _interval(decided: Counter[tuple[int, int]], share: Fraction, n: int, most: int) -> tuple[Fraction, Fraction]:
    """Return the interval of the consistency, for as many independent comparisons as those of all items are worth.

    Comparisons of one item go together: `decided` counts items by the comparisons that agree, and all. Their number is
    divided by the design effect: the variance by items over that of independent comparisons. It is `most` at most, the
    number of pairs that share no verdict. Where the effect cannot be estimated (one item, or all comparisons alike), an
    item counts once.
    """
    items = decided.total()
    if items < 2 or not 0 < share < 1:
        return rate_interval(share, items)
    squares = sum(((same - share * size) ** 2 * count for (same, size), count in decided.items()), Fraction(0))
    effect = Fraction(items, items - 1) * squares / (n * share * (1 - share))
    return rate_interval(share, min(n / effect, Fraction(most)) if effect else most)
