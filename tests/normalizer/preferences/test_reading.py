"""What engines and matrices compute of comparisons is what plain loops over records give, to the last digit."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normalizer.aggregate.intervals import Method, quantile
from normalizer.documents.exact import round_exact
from normalizer.ledger.open_ledgers import open_each
from normalizer.preferences.comparisons import Comparison
from normalizer.preferences.group_preferences import PreferenceOptions, preferences
from normalizer.preferences.rates import ItemSums, rates, resample_means
from normalizer.preferences.reading import read_comparisons
from normalizer.preferences.verdicts import make_verdicts, tabulate
from tests.support import plain_preferences as plain
from tests.support.comparing import compared

METHOD = Method(bootstrap=True, resamples=100, seed=3)
NAMES = ("alder", "Birch", "ålder", "judge-large")
VERDICT = st.sampled_from(["a", "b", "draw", "both_bad", None, 1, 1.1, 1.5, 1.9999999, 2])
ENTRY = st.fixed_dictionaries(
    {
        "item": st.sampled_from([*(f"q{n}" for n in range(12)), "Ü", "\U0001f600"]),
        "pair": st.permutations(range(4)),
        "verdict": VERDICT,
    },
    optional={
        "again": VERDICT,
        "repeat": st.integers(0, 1),
        "judge": st.sampled_from(["j1", "j2"]),
        "length": st.fixed_dictionaries({"a": st.sampled_from([0, 10, 11, 400.5]), "b": st.integers(0, 500)}),
        "own_output": st.booleans(),
        "levels": st.fixed_dictionaries({}, optional={"topic": st.sampled_from(["x", "y", ""])}),
    },
)
"""A verdict, and perhaps another on the same answers in the other order."""
ENTRIES = st.tuples(st.integers(2, 4), st.lists(ENTRY, min_size=1, max_size=60))


def entries_of(drawn: tuple[int, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Entries that a bundle may have: no two with one item, pair, order, judge and repeat."""
    found = {}
    for one in drawn[1]:
        a, b = [NAMES[place] for place in one["pair"] if place < drawn[0]][:2]
        shown = [("ab", one["verdict"]), ("ba", one["again"])] if "again" in one else [("unknown", one["verdict"])]
        for order, verdict in shown:
            entry = {key: value for key, value in one.items() if key not in ("pair", "again")}
            entry |= {"a": a, "b": b, "order": order, "verdict": verdict}
            place = order if a < b else order[::-1]
            found[one["item"], frozenset((a, b)), place, one.get("judge"), one.get("repeat", 0)] = entry
    return list(found.values())


def without_model(bias: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if bias is None else {key: value for key, value in bias.items() if key != "model"}


def check_group(group: dict[str, Any], rows: list[plain.Row], baseline: str | None) -> None:
    """Compare a group with the plain definitions."""
    told = plain.pairs(rows, baseline)
    assert [(pair["a"], pair["b"]) for pair in group["pairs"]] == list(told)
    for pair in group["pairs"]:
        members = told[pair["a"], pair["b"]]
        assert plain.rate(members, METHOD) == {key: pair[key] for key in plain.rate([], None)}
        assert without_model(pair["length"]) == plain.length_bias(members)
    for row in group["overall"]:
        mine = [one for one in [*rows, *map(plain.turn, rows)] if one["a"] == row["generator"]]
        expected = plain.rate(mine, METHOD)
        flags = [flag for flag in row["flags"] if flag != "different_opponents"]
        assert expected == {**{key: row[key] for key in expected}, "flags": flags}
    order = plain.order(rows, METHOD)
    order["first_shown"]["flags"] = [flag for flag in order["first_shown"]["flags"] if flag != "order_unknown"]
    assert group["order"] == order
    check_ratings(group["ratings"], rows, baseline)


def check_ratings(told: dict[str, Any], rows: list[plain.Row], baseline: str | None) -> None:
    """Compare ratings with a fit that has a row for every meeting."""
    if not told["rows"]:
        assert told["na"]
        return
    decided = [one for one in rows if one["winner"] in plain.SCORES]
    names = sorted({name for one in decided for name in (one["a"], one["b"])})
    values, covariance, items, met = plain.fit_ratings(decided, names, penalized=told["penalty"] == "firth")
    centre = values[names.index(baseline)] if baseline in names else sum(values) / len(values)
    weights = (
        np.full(len(names), 1 / len(names)) if baseline not in names else np.eye(len(names))[names.index(baseline)]
    )
    assert sorted(row["generator"] for row in told["rows"]) == names
    for row in told["rows"]:
        at = names.index(row["generator"])
        assert float(row["rating"]) == pytest.approx(values[at] - centre, abs=1.1e-6)
        others = [values[names.index(other)] for other in met[row["generator"]]]
        assert float(row["opponents"]) == pytest.approx(sum(others) / len(others) - centre, abs=1.1e-6)
        if row["ci95"] is not None:
            moved = np.eye(len(names))[at] - weights
            half = quantile(items - 1) * np.sqrt(max(moved @ covariance @ moved, 0))
            expected = [values[at] - centre - half, values[at] - centre + half]
            assert [float(end) for end in row["ci95"]] == pytest.approx(expected, abs=1.1e-6)


@settings(max_examples=40)
@given(ENTRIES, st.sampled_from([(), ("factors.topic",), ("judge_model",)]), st.booleans())
def test_documents_are_those_of_plain_loops_over_records(tmp_path_factory, drawn, by, with_baseline):
    folder = tmp_path_factory.mktemp("plain")
    ledger = compared(folder, entries_of(drawn))
    rows = plain.read(ledger)
    keys = {
        "factors.topic": lambda record: record.get("factors", {}).get("topic"),
        "judge_model": lambda r: r["judge_model"],
    }
    if by == ("factors.topic",) and all(keys[by[0]](one["record"]) is None for one in rows):
        by = ()
    names = sorted({name for one in rows for name in (one["a"], one["b"])})
    baseline = names[0] if with_baseline and names else None
    document = preferences((ledger,), PreferenceOptions(by=by, baseline=baseline, method=METHOD))
    groups: dict[Any, list[plain.Row]] = {}
    for one in rows:
        groups.setdefault(tuple(keys[name](one["record"]) for name in by), []).append(one)
    assert {tuple(group["key"].values()) for group in document["groups"]} == set(groups)
    for group in document["groups"]:
        check_group(group, groups[tuple(group["key"].values())], baseline)


@settings(max_examples=25)
@given(ENTRIES)
def test_comparisons_one_by_one_are_the_records_and_make_the_same_columns(tmp_path_factory, drawn):
    ledger = compared(tmp_path_factory.mktemp("rows"), entries_of(drawn))
    with open_each((ledger,)) as opened:
        found = read_comparisons(list(opened.values()), (), {}, PreferenceOptions().rules)
    rows = plain.read(ledger)
    if not rows:
        assert found.groups == {}
        return
    [group] = found.groups.values()

    def name(one: Comparison) -> tuple[Any, ...]:
        return (one.item, one.a, one.b, one.winner, one.share, one.first, one.lengths, one.self_judged, one.repeat)

    members = ("item", "a", "b", "winner", "share", "first", "lengths", "own")
    plainly = Counter((*(one[key] for key in members), one["asked"][1]) for one in rows)
    assert Counter(map(name, group)) == plainly
    table = tabulate(group)
    [of_columns] = rates([table.verdicts], METHOD)
    assert plain.rate(rows, METHOD) == {key: of_columns[key] for key in plain.rate([], None)}
    assert table.verdicts.turn().turn().share.tolist() == table.verdicts.share.tolist()


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 40), st.integers(1, 12)), min_size=2, max_size=12), min_size=1, max_size=6
    ),
    st.sampled_from([2, 7, 10**20]),
)
def test_resampling_many_at_once_gives_the_means_of_resamples_one_by_one(given_items, unit):
    tables = [
        ItemSums(np.array([s for s, _ in one], dtype=object if unit > 99 else int), np.array([n for _, n in one]), unit)
        for one in given_items
    ]
    expected = []
    for one in given_items:
        means = [Fraction(total, size * unit) for total, size in one]
        expected.append(plain.resample(means, METHOD))
    assert [plain.ends(interval) for interval in resample_means(tables, METHOD)] == expected


def test_shares_of_many_digits_are_summed_exactly():
    shares = [0.1, 1e-17, 0.3000000000000004, 1.0, 0.9999999999999999]
    columns = [np.zeros(5) for _ in range(6)] + [np.array(shares), -np.ones(5), -np.ones(5), np.ones(5)]
    table = make_verdicts(columns)
    exact = plain.mean(Fraction(str(share)) for share in shares)
    assert rates([replace(table, b=table.b + 1)], None)[0]["share"] == round_exact(exact)
    assert sum(table.turn().share.tolist()) == 5 * table.unit - sum(table.share.tolist())
