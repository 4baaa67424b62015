"""Effects of the order shown: how often the first answer wins, and how verdicts change when the order is swapped."""

from collections import Counter
from fractions import Fraction
from typing import Any

from normalizer.aggregate.intervals import Method, rate_interval
from normalizer.documents.exact import round_exact
from normalizer.preferences.comparisons import DECIDED
from normalizer.preferences.rates import rates
from normalizer.preferences.verdicts import SHOWN, ComparisonGroup, Orders

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
