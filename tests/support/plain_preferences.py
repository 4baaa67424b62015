"""Preferences by their plain definitions: loops over records and exact fractions, as slow as that is.

It reads lines with `json` and knows nothing of columns, engines and matrices. The fits alone are ours: they have tests
of their own against other programs.
"""

import json
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, product
from math import exp, isfinite, log2, sqrt, tanh
from pathlib import Path
from typing import Any

import numpy as np

from normalizer.aggregate.intervals import Method, draw_blocks, middle_places, quantile, rate_interval
from normalizer.documents.exact import round_exact
from normalizer.estimation.clusters import gather
from normalizer.estimation.intervals import mean_interval
from normalizer.preferences.logistic import fit, fit_penalized

UNIT = Fraction(0), Fraction(1)
SCORES = {"a": Fraction(1), "draw": Fraction(1, 2), "b": Fraction(0)}
SWAP = {"a": "b", "b": "a"}
ALONE = "all valid records are self-judged, which must not be the sole basis of a number"
BINS = ("much shorter", "shorter", "about equal", "longer", "much longer")
Row = dict[str, Any]


def read(ledger: Path) -> list[Row]:
    """All VALID comparisons of a ledger."""
    return [row(json.loads(line)) for path in sorted(ledger.glob("records*.jsonl")) for line in _lines(path)]


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def row(record: dict[str, Any]) -> Row:
    """What a number depends on."""
    outcome, judge = record["outcome"], record.get("judge_model")
    length = record.get("length")
    lengths = None if length is None else (float(length["a"]), float(length["b"]))
    return {
        "item": record["artifact"],
        "a": outcome["a"],
        "b": outcome["b"],
        "winner": outcome["winner"],
        "share": Fraction(str(outcome["share"])) if "share" in outcome else None,
        "first": outcome["shown_first"],
        "asked": (judge, record.get("repeat", 0), record.get("criterion")),
        "lengths": lengths if lengths is not None and all(map(isfinite, lengths)) else None,
        "own": record.get("self_judged") is True or judge in (outcome["a"], outcome["b"]),
        "record": record,
    }


def turn(one: Row) -> Row:
    """The same with A and B swapped."""
    return {
        **one,
        "a": one["b"],
        "b": one["a"],
        "winner": SWAP.get(one["winner"], one["winner"]),
        "share": None if one["share"] is None else 1 - one["share"],
        "first": SWAP.get(one["first"], one["first"]),
        "lengths": None if one["lengths"] is None else one["lengths"][::-1],
    }


def ends(interval: Any) -> list[Any]:
    return [round_exact(Fraction(end)) for end in interval]


def mean(values: Any) -> Fraction:
    listed = list(values)
    return sum(listed, Fraction(0)) / len(listed)


def by_item(pairs: Any) -> list[Fraction]:
    """The mean of each item, in order of items."""
    found = defaultdict(list)
    for item, value in pairs:
        found[item].append(value)
    return [mean(found[item]) for item in sorted(found)]


def resample(values: list[Fraction], method: Method) -> list[Any]:
    """Means of resamples, one value after the other."""
    means = sorted(mean(values[at] for at in drawn) for block in draw_blocks(method, len(values)) for drawn in block)
    return ends(means[place] for place in middle_places(len(means), len(values)))


def rate(rows: list[Row], method: Method | None) -> dict[str, Any]:
    """The rate of A, with counts."""
    names = {"wins": "a", "losses": "b", "draws": "draw", "both_bad": "both_bad", "missing": "missing"}
    counts = Counter(one["winner"] for one in rows)
    decided = [one for one in rows if one["winner"] in SCORES]
    scores = by_item((one["item"], SCORES[one["winner"]]) for one in decided)
    found: dict[str, Any] = {name: counts[winner] for name, winner in names.items()}
    found |= dict.fromkeys(("rate", "exact95", "bootstrap95", "share", "share_ci95", "na"))
    found |= {"items": len(scores)}
    flags = ["order_unknown"] if any(one["first"] == "unknown" for one in rows) else []
    if not decided:
        found["na"] = "no comparison is decided"
    elif all(one["own"] for one in decided):
        found["na"] = ALONE
        flags.append("only_self_judged")
    else:
        found |= {"rate": round_exact(mean(scores)), "exact95": ends(mean_interval(gather(scores), UNIT))}
        if method is not None and len(set(scores)) > 1:
            found["bootstrap95"] = resample(scores, method)
        if all(one["share"] is not None for one in decided):
            shares = by_item((one["item"], one["share"]) for one in decided)
            found["share"] = round_exact(mean(shares))
            if len(shares) > 1:
                found["share_ci95"] = ends(mean_interval(gather(shares), UNIT))
        if any(one["own"] for one in decided):
            flags.append("self_judged_included")
    return {**found, "flags": sorted(flags)}


def order(rows: list[Row], method: Method) -> dict[str, Any]:
    """The first answer's rate, and verdicts in both orders."""
    known = [one for one in rows if one["first"] != "unknown"]
    shown = [one if one["first"] == "a" else turn(one) for one in known]
    first = rate(shown, method)
    pairs = {(one["a"], one["b"]) for one in shown}
    if first["rate"] is not None and not any((b, a) in pairs for a, b in pairs):
        first |= dict.fromkeys(("rate", "exact95", "bootstrap95", "share", "share_ci95"))
        first["na"] = "no two generators were shown in both orders, so that the first place cannot be told from the "
        first["na"] += "better answer"
    return {"unknown": len(rows) - len(known), "first_shown": first, "swapped": swapped(known)}


def swapped(known: list[Row]) -> dict[str, Any]:
    """Every verdict in one order with every verdict in the other."""
    asked: dict[Any, dict[str, list[str]]] = defaultdict(lambda: {"a": [], "b": []})
    for one in known:
        seen = one if one["a"] < one["b"] else turn(one)
        asked[seen["item"], seen["a"], seen["b"], seen["asked"]][seen["first"]].append(seen["winner"])
    cells: Counter[tuple[str, str]] = Counter()
    decided = defaultdict(list)
    for key, verdicts in asked.items():
        for here, there in product(verdicts["a"], verdicts["b"]):
            told = {"a": "first", "b": "second"}.get(here, here), {"a": "second", "b": "first"}.get(there, there)
            cells[told] += 1
            if here in SCORES and there in SCORES:
                decided[key[0]].append(here == there)
    most = sum(min(sum(w in SCORES for w in given) for given in verdicts.values()) for verdicts in asked.values())
    flat = [same for each in decided.values() for same in each]
    found: dict[str, Any] = {"pairs": cells.total(), "decided": len(flat), "consistent": sum(flat)}
    found |= {"consistency": None, "exact95": None}
    if flat:
        share, items, n = Fraction(sum(flat), len(flat)), len(decided), len(flat)
        trials: Fraction | int = items
        if items > 1 and 0 < share < 1:
            squares = sum((sum(each) - share * len(each)) ** 2 for each in decided.values())
            effect = Fraction(items, items - 1) * squares / (n * share * (1 - share))
            trials = min(n / effect, Fraction(most)) if effect else most
        found |= {"consistency": round_exact(share), "exact95": ends(rate_interval(share, trials))}
    names = ("first", "second", "draw", "both_bad", "missing")
    found |= {"first_both_times": cells["first", "first"], "second_both_times": cells["second", "second"]}
    table = [{"one_order": a, "other_order": b, "n": cells[a, b]} for a in names for b in names if cells[a, b]]
    return {**found, "table": table}


def fit_ratings(rows: list[Row], names: list[str], *, penalized: bool) -> Any:
    """Values and covariance by a design with a row for every meeting."""
    meetings = defaultdict(list)
    for one in rows:
        seen = one if one["a"] < one["b"] else turn(one)
        meetings[seen["item"], seen["a"], seen["b"]].append(SCORES[seen["winner"]])
    items = sorted({item for item, _, _ in meetings})
    design = np.array([[(name == a) - (name == b) for name in names] for _, a, b in sorted(meetings)], dtype=float)
    outcomes = np.array([float(mean(meetings[key])) for key in sorted(meetings)])
    clusters = np.array([items.index(item) for item, _, _ in sorted(meetings)])
    met = {name: [b if a == name else a for _, a, b in meetings if name in (a, b)] for name in names}
    if penalized:
        values = [0.0, *fit_penalized(design[:, 1:], outcomes, np.ones(len(outcomes)))]
        return values, np.zeros((len(names), len(names))), len(items), met
    found = fit(design[:, 1:], outcomes, clusters)
    if found is None:
        return None
    covariance = np.zeros((len(names), len(names)))
    covariance[1:, 1:] = found.covariance
    return [0.0, *found.coefficients], covariance, len(items), met


def length_bias(rows: list[Row]) -> dict[str, Any] | None:
    """Rates by difference in length, and the rate at equal lengths."""
    known = [one for one in rows if one["lengths"] is not None and one["winner"] in SCORES]
    if not known:
        return None
    bins = []
    for place, name in enumerate(BINS):
        told = rate([one for one in known if bin_of(*one["lengths"]) == place], None)
        bins.append({"a_is": name, **{k: told[k] for k in ("items", "wins", "losses", "draws", "rate", "exact95")}})
    return {"n": len(known), "bins": bins, "controlled": control(known)}


def bin_of(a: float, b: float) -> int:
    if a == b or a == 0 or b == 0:
        return 2 if a == b else 0 if a == 0 else 4
    ratio = log2(a / b)
    return (ratio > -0.5) + (ratio > -0.1) + (ratio >= 0.1) + (ratio >= 0.5)


def control(known: list[Row]) -> dict[str, Any]:
    """The fit of wins on the difference in length; items have the same weight."""
    items = sorted({one["item"] for one in known})
    gaps = [one["lengths"][0] - one["lengths"][1] for one in known]
    spread = float(np.std(gaps, ddof=1)) if len(gaps) > 1 else 0.0
    found: dict[str, Any] = {"items": len(items), "rate": None, "ci95": None, "slope": None, "slope_ci95": None}
    if all(one["own"] for one in known):
        return {**found, "na": ALONE}
    if len(set(gaps)) == 1:
        return {**found, "na": "all differences in length are equal"}
    if len(items) < 5:
        return {**found, "na": "fewer than 5 items"}
    often = Counter(one["item"] for one in known)
    fitted = fit(
        np.array([[1.0, tanh(gap / spread)] for gap in gaps]),
        np.array([float(SCORES[one["winner"]]) for one in known]),
        np.array([items.index(one["item"]) for one in known]),
        np.array([1 / often[one["item"]] for one in known]),
    )
    if fitted is None:
        return {**found, "na": "the length alone separates wins from losses, or all outcomes are equal"}
    constant, slope = fitted.coefficients
    t = quantile(fitted.clusters - 2) * sqrt((fitted.clusters - 1) / (fitted.clusters - 2))
    halves = [t * sqrt(max(fitted.covariance[at, at], 0.0)) for at in (0, 1)]
    chances = [1 / (1 + exp(-each)) for each in (constant, constant - halves[0], constant + halves[0])]
    told = [round_exact(Fraction(each)) for each in (*chances, slope, slope - halves[1], slope + halves[1])]
    return {**found, "rate": told[0], "ci95": told[1:3], "slope": told[3], "slope_ci95": told[4:], "na": None}


def pairs(rows: list[Row], baseline: str | None) -> dict[tuple[str, str], list[Row]]:
    """The comparisons of each pair that is told, turned so that the first is A."""
    names = sorted({name for one in rows for name in (one["a"], one["b"])})
    both = [*rows, *map(turn, rows)]
    told = combinations(names, 2) if baseline is None else [(name, baseline) for name in names]
    found = {pair: [one for one in both if (one["a"], one["b"]) == pair] for pair in told}
    return {pair: members for pair, members in found.items() if members}
