"""Effects of the order shown: how often the first answer wins, and how verdicts change when the order is swapped."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from typing import Any

from normalizer.aggregate.intervals import Method, wilson_interval
from normalizer.documents.exact import rounded
from normalizer.preferences.comparisons import DECIDED, Comparison
from normalizer.preferences.rates import rate

_FIXED = "no two generators were shown in both orders, so that the first place cannot be told from the better answer"
_SHOWN = ("first", "second", "draw", "both_bad", "missing")


def order_effects(comparisons: list[Comparison], method: Method) -> dict[str, Any]:
    """The first answer's rate, and the table of comparisons that were made in both orders."""
    known = [comparison for comparison in comparisons if comparison.first != "unknown"]
    by_position = [comparison if comparison.first == "a" else comparison.turn() for comparison in known]
    first = rate(by_position, method)
    first["flags"] = [flag for flag in first["flags"] if flag != "order_unknown"]
    orders = {(one.a, one.b) for one in by_position}
    if first["rate"] is not None and not any((b, a) in orders for a, b in orders):
        first |= dict.fromkeys(("rate", "wilson95", "bootstrap95", "share", "share_ci95"))
        first["na"] = _FIXED
    return {"unknown": len(comparisons) - len(known), "first_shown": first, "swapped": _compare_orders(known)}


def _compare_orders(known: list[Comparison]) -> dict[str, Any]:
    """Verdicts on the same answers in both orders. Names sort, so that the first name is A; `one` is its order.

    A judge may have given several verdicts in one order, in runs of their own: each is paired with each of the other
    order.
    """
    found: dict[tuple[Any, ...], dict[str, list[str]]] = defaultdict(lambda: {"a": [], "b": []})
    for comparison in known:
        seen = comparison if comparison.a < comparison.b else comparison.turn()
        key = (seen.item, seen.a, seen.b, seen.judge, seen.repeat, seen.criterion)
        found[key][seen.first].append(seen.winner)
    cells: Counter[tuple[str, str]] = Counter()
    decided: dict[str, list[bool]] = defaultdict(list)
    most = 0
    # In the order "a" the first name was shown first: express both verdicts by position.
    position = {"a": "first", "b": "second"}, {"a": "second", "b": "first"}
    for key, verdicts in found.items():
        for one, other in product(verdicts["a"], verdicts["b"]):
            cells[position[0].get(one, one), position[1].get(other, other)] += 1
            if one in DECIDED and other in DECIDED:
                decided[key[0]].append(one == other)
        most += min(sum(winner in DECIDED for winner in given) for given in verdicts.values())
    n = sum(map(len, decided.values()))
    same = sum(map(sum, decided.values()))
    consistency = Fraction(same, n) if n else None
    return {
        "pairs": cells.total(),
        "decided": n,
        "consistent": same,
        "consistency": None if consistency is None else rounded(consistency),
        "wilson95": None if consistency is None else [rounded(end) for end in _interval(decided, most)],
        "first_both_times": cells["first", "first"],
        "second_both_times": cells["second", "second"],
        "table": [
            {"one_order": one, "other_order": other, "n": cells[one, other]}
            for one in _SHOWN
            for other in _SHOWN
            if cells[one, other]
        ],
    }


def _interval(decided: dict[str, list[bool]], most: int) -> tuple[Fraction, Fraction]:
    """Return Wilson's interval of the consistency, for as many independent comparisons as those of all items are worth.

    Comparisons of one item go together. Their number is divided by the design effect: the variance by items over that
    of independent comparisons. It is `most` at most, the number of pairs that share no verdict. Where the effect cannot
    be estimated (one item, or all comparisons alike), an item counts once.
    """
    n = sum(map(len, decided.values()))
    share = Fraction(sum(map(sum, decided.values())), n)
    if len(decided) < 2 or not 0 < share < 1:
        return wilson_interval(share, len(decided))
    items = len(decided)
    squares = sum(((sum(same) - share * len(same)) ** 2 for same in decided.values()), Fraction(0))
    effect = Fraction(items, items - 1) * squares / (n * share * (1 - share))
    return wilson_interval(share, min(n / effect, Fraction(most)) if effect else most)
