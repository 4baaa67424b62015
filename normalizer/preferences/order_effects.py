"""Effects of the order shown: how often the first answer wins, and how verdicts change when the order is swapped."""

from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

from normalizer.aggregate.intervals import Method
from normalizer.documents.exact import rounded
from normalizer.preferences.comparisons import Comparison
from normalizer.preferences.rates import rate, wilson

_SHOWN = ("first", "second", "draw", "both_bad", "missing")


def order_effects(comparisons: list[Comparison], method: Method) -> dict[str, Any]:
    """The first answer's rate, and the table of comparisons that were made in both orders."""
    known = [comparison for comparison in comparisons if comparison.first != "unknown"]
    by_position = [comparison if comparison.first == "a" else comparison.turned() for comparison in known]
    first = rate(by_position, method)
    first["flags"] = [flag for flag in first["flags"] if flag != "order_unknown"]
    return {"unknown": len(comparisons) - len(known), "first_shown": first, "swapped": _swapped(known)}


def _swapped(known: list[Comparison]) -> dict[str, Any]:
    """Verdicts on the same answers in both orders. Names sort, so that the first name is A; `one` is its order."""
    found: dict[tuple[Any, ...], dict[str, str]] = defaultdict(dict)
    for comparison in known:
        seen = comparison if comparison.a < comparison.b else comparison.turned()
        key = (seen.item, seen.a, seen.b, seen.judge, seen.repeat, seen.criterion)
        found[key][seen.first] = seen.winner
    both = [verdicts for verdicts in found.values() if len(verdicts) == 2]
    cells: Counter[tuple[str, str]] = Counter()
    for verdicts in both:
        # In the order "a" the first name was shown first: tell both verdicts by position.
        position = {"a": "first", "b": "second"}, {"a": "second", "b": "first"}
        cells[position[0].get(verdicts["a"], verdicts["a"]), position[1].get(verdicts["b"], verdicts["b"])] += 1
    told = {pair: count for pair, count in cells.items() if not {"both_bad", "missing"} & set(pair)}
    n = sum(told.values())
    same = sum(told.get(pair, 0) for pair in (("first", "second"), ("second", "first"), ("draw", "draw")))
    consistency = Fraction(same, n) if n else None
    return {
        "pairs": len(both),
        "decided": n,
        "consistent": same,
        "consistency": None if consistency is None else rounded(consistency),
        "wilson95": None if consistency is None else [rounded(end) for end in wilson(consistency, n)],
        "first_both_times": cells["first", "first"],
        "second_both_times": cells["second", "second"],
        "table": [
            {"one_order": one, "other_order": other, "n": cells[one, other]}
            for one in _SHOWN
            for other in _SHOWN
            if cells[one, other]
        ],
    }
