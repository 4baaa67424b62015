"""Preferences of ledgers: counted by hand, and against implementations that know nothing of ours."""

import csv
import io
import json
from collections import Counter, defaultdict
from typing import Any

import choix
import contract_spec as spec
import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.stats import binomtest, norm, t

from normalizer.cli import main
from normalizer.errors import CannotRun
from normalizer.preferences.group_preferences import PreferenceOptions, preferences
from normalizer.tables.formats import dumps
from tests.support.comparing import compared, drawn

STRENGTHS = {"alder": 0.8, "birch": 0.1, "cedar": -0.3, "dogwood": -0.6}


@pytest.fixture(scope="module")
def entries():
    return drawn(STRENGTHS, 40, 7, first=0.4, length=0.5)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory, entries):
    return compared(tmp_path_factory.mktemp("preferences"), entries)


@pytest.fixture(scope="module")
def document(ledger):
    found = preferences((ledger,), PreferenceOptions())
    assert spec.violations("eval/preferences.json", json.loads(dumps(found))) == []
    return found


def test_items_that_all_say_the_same_give_no_interval_without_width(tmp_path):
    """A judge that always takes the first answer: each item is a win and a loss, and says nothing about others."""
    entries = [
        {"item": f"q{item}", "a": "x", "b": "y", "verdict": verdict, "order": order}
        for item in range(20)
        for verdict, order in (("a", "ab"), ("b", "ba"))
    ]
    [group] = preferences((compared(tmp_path, entries),), PreferenceOptions())["groups"]
    [pair] = group["pairs"]
    assert (float(pair["rate"]), pair["bootstrap95"]) == (0.5, None)
    half = (1 - 0.025 ** (1 / 20)) / 2  # one more item at an end, with a weight as of the beta distribution
    assert [float(end) for end in pair["exact95"]] == pytest.approx([0.5 - half, 0.5 + half], abs=1e-6)
    assert [(float(row["rating"]), row["ci95"]) for row in group["ratings"]["rows"]] == [(0, None)] * 2
    assert "every item has the same result" in group["ratings"]["na"]


def test_lengths_of_any_size_are_controlled_for_alike(tmp_path):
    entries = drawn({"x": 0.3, "y": 0.0}, 30, 3, length=0.5)
    found = []
    for number, factor in enumerate((1, 10**300)):
        long = [{**one, "length": {side: n * factor for side, n in one["length"].items()}} for one in entries]
        (tmp_path / str(number)).mkdir()
        [group] = preferences((compared(tmp_path / str(number), long),), PreferenceOptions())["groups"]
        found.append(group["pairs"][0]["length"]["controlled"])
    assert found[0] == found[1]
    assert found[0]["rate"] is not None


def test_counts_and_rates_are_those_counted_by_hand(document, entries):
    for pair in document["groups"][0]["pairs"]:
        mine = [one for one in entries if (one["a"], one["b"]) == (pair["a"], pair["b"])]
        verdicts = Counter(one["verdict"] for one in mine)
        assert (pair["wins"], pair["losses"], pair["draws"]) == (verdicts["a"], verdicts["b"], verdicts["draw"])
        by_item = defaultdict(list)
        for one in mine:
            by_item[one["item"]].append({"a": 1, "b": 0, "draw": 0.5}[one["verdict"]])
        assert float(pair["rate"]) == pytest.approx(np.mean([np.mean(each) for each in by_item.values()]), abs=1e-6)


def test_the_interval_of_a_rate_is_scipys_where_items_are_won_or_lost(tmp_path):
    for wins, n in ((0, 12), (3, 12), (12, 12), (1, 2)):
        listed = [{"item": str(i), "a": "x", "b": "y", "verdict": "a" if i < wins else "b"} for i in range(n)]
        [pair] = preferences((compared(tmp_path, listed, f"l{wins}-{n}"),), PreferenceOptions())["groups"][0]["pairs"]
        expected = binomtest(wins, n).proportion_ci(method="exact")
        assert [float(end) for end in pair["exact95"]] == pytest.approx([expected.low, expected.high], abs=1.1e-6)


def test_the_interval_of_a_rate_of_items_that_are_averages_is_that_of_random_weights(tmp_path):
    """Of 40 items in both orders: half are draws. Clopper and Pearson's, which takes them for won or lost, is wider."""
    listed = [
        {
            "item": str(i),
            "a": "x",
            "b": "y",
            "verdict": "ab"[i % 4 == 3] if order == "ab" else "ab"[i % 4 > 0],
            "order": order,
        }
        for i in range(40)
        for order in ("ab", "ba")
    ]
    [pair] = preferences((compared(tmp_path, listed),), PreferenceOptions())["groups"][0]["pairs"]
    means = np.repeat([1.0, 0.5, 0.0], [10, 20, 10])
    weights = np.random.default_rng(1).dirichlet(np.ones(41), 100_000)
    expected = [np.quantile(weights @ np.append(means, end), share) for end, share in ((0, 0.025), (1, 0.975))]
    assert [float(end) for end in pair["exact95"]] == pytest.approx(expected, abs=0.003)
    wide = binomtest(20, 40).proportion_ci(method="exact")
    assert float(pair["exact95"][1] - pair["exact95"][0]) < 0.8 * (wide.high - wide.low)


def test_ratings_are_those_of_choix(document, entries):
    names = sorted(STRENGTHS)
    wins = np.zeros((4, 4))
    for one in entries:
        a, b = names.index(one["a"]), names.index(one["b"])
        share = {"a": 1, "b": 0, "draw": 0.5}[one["verdict"]]
        wins[a, b] += share
        wins[b, a] += 1 - share
    expected = choix.lsr.ilsr_pairwise_dense(wins, alpha=0, tol=1e-12)
    found = {row["generator"]: float(row["rating"]) for row in document["groups"][0]["ratings"]["rows"]}
    assert [found[name] for name in names] == pytest.approx((expected - expected.mean()).tolist(), abs=2e-6)


SEASON = {
    "Milwaukee": (0, 7, 9, 7, 7, 9, 11),
    "Detroit": (6, 0, 7, 5, 11, 9, 9),
    "Toronto": (4, 6, 0, 7, 7, 8, 12),
    "New York": (6, 8, 6, 0, 6, 7, 10),
    "Boston": (6, 2, 6, 7, 0, 7, 12),
    "Cleveland": (4, 4, 5, 6, 6, 0, 6),
    "Baltimore": (2, 4, 1, 3, 1, 7, 0),
}
"""Wins of each team over each, American League 1987, with the ratings: Agresti, Categorical Data Analysis (2002)."""
RATED = {"Milwaukee": 1.581, "Detroit": 1.436, "Toronto": 1.294, "New York": 1.248, "Boston": 1.108, "Cleveland": 0.684}


def test_ratings_of_a_baseball_season_are_the_published_ones(tmp_path):
    listed = [
        {"item": f"{a} {b} {game}", "a": a, "b": b, "verdict": "a"}
        for a, wins in SEASON.items()
        for b, count in zip(SEASON, wins, strict=True)
        for game in range(count)
    ]
    found = preferences((compared(tmp_path, listed),), PreferenceOptions(baseline="Baltimore"))["groups"][0]["ratings"]
    rated = {row["generator"]: float(row["rating"]) for row in found["rows"]}
    assert rated == pytest.approx({**RATED, "Baltimore": 0}, abs=5e-4)


def test_intervals_of_ratings_are_the_cluster_robust_ones_of_statsmodels(ledger, entries):
    found = preferences((ledger,), PreferenceOptions(baseline="alder"))["groups"][0]["ratings"]
    assert found["relative_to"] == "alder"
    names = sorted(STRENGTHS)
    design = np.array([[float(one["a"] == name) - float(one["b"] == name) for name in names[1:]] for one in entries])
    outcomes = np.array([{"a": 1, "b": 0, "draw": 0.5}[one["verdict"]] for one in entries])
    items = np.array([int(one["item"][1:]) for one in entries])
    fitted = sm.GLM(outcomes, design, family=sm.families.Binomial()).fit(
        tol=1e-13, cov_type="cluster", cov_kwds={"groups": items, "use_correction": False}, use_t=False
    )
    clusters = len(set(items.tolist()))
    half = t.ppf(0.975, clusters - 1) * fitted.bse * np.sqrt(clusters / (clusters - 1))
    mine = {row["generator"]: row for row in found["rows"]}
    for place, name in enumerate(names[1:]):
        expected = [fitted.params[place] - half[place], fitted.params[place] + half[place]]
        assert [float(end) for end in mine[name]["ci95"]] == pytest.approx(expected, abs=2e-6)


def test_the_length_controlled_rate_is_the_intercept_of_a_logistic_regression(document, entries):
    pair = document["groups"][0]["pairs"][0]
    mine = [one for one in entries if (one["a"], one["b"]) == (pair["a"], pair["b"])]
    gaps = np.array([one["length"]["a"] - one["length"]["b"] for one in mine], dtype=float)
    design = sm.add_constant(np.tanh(gaps / gaps.std(ddof=1)))
    outcomes = np.array([{"a": 1, "b": 0, "draw": 0.5}[one["verdict"]] for one in mine])
    items = np.array([int(one["item"][1:]) for one in mine])
    fitted = sm.GLM(outcomes, design, family=sm.families.Binomial()).fit(
        tol=1e-13, cov_type="cluster", cov_kwds={"groups": items, "use_correction": False}, use_t=False
    )
    clusters = len(set(items.tolist()))
    half = t.ppf(0.975, clusters - 2) * fitted.bse * np.sqrt(clusters / (clusters - 2))
    controlled = pair["length"]["controlled"]
    ends = [[fitted.params[at] - half[at], fitted.params[at] + half[at]] for at in (0, 1)]
    assert [float(end) for end in controlled["slope_ci95"]] == pytest.approx(ends[1], abs=2e-5)
    assert [float(end) for end in controlled["ci95"]] == pytest.approx(1 / (1 + np.exp(-np.array(ends[0]))), abs=2e-5)
    assert float(pair["length"]["controlled"]["rate"]) == pytest.approx(1 / (1 + np.exp(-fitted.params[0])), abs=2e-6)
    assert float(pair["length"]["controlled"]["slope"]) == pytest.approx(fitted.params[1], abs=2e-6)
    assert sum(row["wins"] + row["losses"] + row["draws"] for row in pair["length"]["bins"]) == len(mine)


def test_bootstrap_and_exact_interval_are_near_the_normal_interval_of_item_means(document, entries):
    pair = document["groups"][0]["pairs"][0]
    by_item = defaultdict(list)
    for one in entries:
        if (one["a"], one["b"]) == (pair["a"], pair["b"]):
            by_item[one["item"]].append({"a": 1, "b": 0, "draw": 0.5}[one["verdict"]])
    means = [np.mean(each) for each in by_item.values()]
    half = norm.ppf(0.975) * np.std(means, ddof=1) / np.sqrt(len(means))
    low, high = map(float, pair["bootstrap95"])
    assert [low, high] == pytest.approx([np.mean(means) - half, np.mean(means) + half], abs=0.03)
    assert float(pair["exact95"][0]) <= low + 0.02


def test_order_effects_are_those_counted_by_hand(document, entries):
    order = document["groups"][0]["order"]
    winners = Counter(
        "draw" if one["verdict"] == "draw" else "first" if one["verdict"] == one["order"][0] else "second"
        for one in entries
    )
    first = order["first_shown"]
    assert (first["wins"], first["losses"], first["draws"]) == (winners["first"], winners["second"], winners["draw"])
    both: dict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
    for one in entries:
        both[one["item"], one["a"], one["b"]][one["order"]] = one["verdict"]
    assert order["swapped"]["pairs"] == len(both)
    assert order["swapped"]["consistent"] == sum(seen["ab"] == seen["ba"] for seen in both.values())
    assert order["swapped"]["first_both_times"] == sum((s["ab"], s["ba"]) == ("a", "b") for s in both.values())
    assert sum(cell["n"] for cell in order["swapped"]["table"]) == len(both)


def test_repeats_of_an_item_count_once_in_ratings_and_length_fits_as_in_rates(tmp_path):
    """39 items with one verdict, 14 of them wins, and one that was won 60 times."""
    listed: list[dict[str, Any]]
    listed = [{"item": f"q{n}", "a": "x", "b": "y", "verdict": "a" if n < 14 else "b"} for n in range(39)]
    listed += [{"item": "often", "a": "x", "b": "y", "verdict": "a", "repeat": n} for n in range(60)]
    for place, one in enumerate(listed):
        one["length"] = {"a": 300 if place % 2 else 500, "b": 400}
    [group] = preferences((compared(tmp_path, listed),), PreferenceOptions(baseline="y"))["groups"]
    [pair] = group["pairs"]
    assert float(pair["rate"]) == pytest.approx(15 / 40)
    rated = {row["generator"]: row for row in group["ratings"]["rows"]}
    assert rated["x"]["win_probability"] == pair["rate"]
    assert float(pair["length"]["controlled"]["rate"]) == pytest.approx(0.375, abs=0.01)


def test_items_of_a_manifest_without_a_comparison_are_counted_and_the_numbers_told_as_partial(tmp_path, capsys):
    entries = [{"item": f"q{n}", "a": "x", "b": "y", "verdict": "ab"[n % 2]} for n in range(12)]
    bundle = {"protocol_version": "p-1", "judge_model": "judge", "phase": 1, "per_comparison": entries}
    manifest = {
        "protocol_version": "p-1",
        "judge_model": "judge",
        "phase": 1,
        "files": [{"file": f"q{n}"} for n in range(30)],
    }
    for name, document in (("bundle", bundle), ("manifest", manifest)):
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    given = ["normalize", str(tmp_path / "bundle.json"), "--manifest", str(tmp_path / "manifest.json")]
    assert main([*given, "--out", str(tmp_path / "ledger")]) in (0, 1)
    found = preferences((tmp_path / "ledger",), PreferenceOptions())
    assert spec.violations("eval/preferences.json", json.loads(dumps(found))) == []
    assert (found["left_out"]["files_without_entry"], found["flags"]) == (18, ["partial"])
    capsys.readouterr()
    assert main(["preferences", str(tmp_path / "ledger")]) == 0
    assert "PARTIAL" in capsys.readouterr().out


def test_draw_missing_and_both_bad_are_three_things_and_unknown_order_is_flagged(tmp_path):
    listed = [
        {"item": str(place), "a": "x", "b": "y", "verdict": verdict, "order": "ab"}
        for place, verdict in enumerate(["a", "draw", None, "both_bad", 1.25])
    ]
    del listed[0]["order"]
    document = preferences((compared(tmp_path, listed),), PreferenceOptions())
    [pair] = document["groups"][0]["pairs"]
    told = {name: pair[name] for name in ("wins", "losses", "draws", "missing", "both_bad", "items")}
    assert told == {"wins": 2, "losses": 0, "draws": 1, "missing": 1, "both_bad": 1, "items": 3}
    assert pair["flags"] == ["order_unknown"]
    assert document["groups"][0]["order"]["unknown"] == 1
    assert document["groups"][0]["ratings"]["rows"] != []


def test_ratings_that_would_be_infinite_are_those_with_firths_penalty_and_have_no_interval(tmp_path):
    """Of two, the penalty adds half a win to each; of three, another solver maximizes the penalized likelihood."""
    listed = [{"item": str(i), "a": "x", "b": "y", "verdict": "a"} for i in range(20)]
    found = preferences((compared(tmp_path, listed, "two"),), PreferenceOptions())["groups"][0]["ratings"]
    [best, worst] = found["rows"]
    assert float(best["rating"] - worst["rating"]) == pytest.approx(np.log(20.5 / 0.5), abs=1e-5)
    assert (best["ci95"], best["ranks"], found["penalty"]) == (None, None, "firth")
    assert "won or lost everything" in found["na"]
    listed += [{"item": str(i), "a": "y", "b": "z", "verdict": "aab"[i % 3]} for i in range(15)]
    found = preferences((compared(tmp_path, listed, "three"),), PreferenceOptions())["groups"][0]["ratings"]
    design = np.array([[1, -1]] * 20 + [[0, 1]] * 15)  # z is the origin
    outcomes = np.array([1] * 20 + [1, 1, 0] * 5)

    def penalized(beta):
        odds = design @ beta
        chance = 1 / (1 + np.exp(-odds))
        information = design.T @ (design * (chance * (1 - chance))[:, None])
        return -(outcomes * odds - np.logaddexp(0, odds)).sum() - np.linalg.slogdet(information)[1] / 2

    expected = minimize(penalized, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-12}).x
    ratings = {row["generator"]: float(row["rating"]) for row in found["rows"]}
    assert [ratings["x"] - ratings["z"], ratings["y"] - ratings["z"]] == pytest.approx(expected, abs=1e-4)


def test_ranks_are_those_that_differences_leave_and_opponents_that_differ_are_told(tmp_path):
    listed = [
        {"item": str(i), "a": a, "b": b, "verdict": "a" if i % 10 < wins else "b"}
        for i in range(100)
        for a, b, wins in (("x", "y", 5), ("x", "z", 9), ("y", "z", 9))
    ]
    [group] = preferences((compared(tmp_path, listed, "all"),), PreferenceOptions())["groups"]
    assert {row["generator"]: row["ranks"] for row in group["ratings"]["rows"]} == {
        "x": [1, 2],
        "y": [1, 2],
        "z": [3, 3],
    }
    assert all("different_opponents" not in row["flags"] for row in group["overall"])
    [group] = preferences((compared(tmp_path, listed[::3] + listed[1::3], "some"),), PreferenceOptions())["groups"]
    assert all("different_opponents" in row["flags"] for row in group["overall"])
    ratings = {row["generator"]: row for row in group["ratings"]["rows"]}
    middle = (ratings["y"]["rating"] + ratings["z"]["rating"]) / 2
    assert float(ratings["x"]["opponents"]) == pytest.approx(float(middle), abs=1e-5)
    assert ratings["y"]["opponents"] == ratings["z"]["opponents"] == ratings["x"]["rating"]


def test_an_order_that_never_varied_says_nothing_about_the_first_place(tmp_path):
    listed = [{"item": str(i), "a": "x", "b": "y", "verdict": "aab"[i % 3], "order": "ab"} for i in range(20)]
    [group] = preferences((compared(tmp_path, listed, "fixed"),), PreferenceOptions())["groups"]
    assert group["order"]["first_shown"]["rate"] is None
    assert "cannot be told from the better answer" in group["order"]["first_shown"]["na"]
    listed[0]["order"] = "ba"
    [group] = preferences((compared(tmp_path, listed, "varied"),), PreferenceOptions())["groups"]
    assert group["order"]["first_shown"]["rate"] is not None


def test_generators_that_never_met_are_not_put_on_one_scale(tmp_path):
    listed = [
        {"item": str(i), "a": a, "b": b, "verdict": "ab"[i % 2]} for i in range(20) for a, b in (("u", "v"), ("x", "y"))
    ]
    found = preferences((compared(tmp_path, listed),), PreferenceOptions())["groups"][0]["ratings"]
    assert found["rows"] == []
    assert found["na"].startswith("u and x have not been compared")


def test_one_item_gives_ratings_without_intervals(tmp_path):
    listed = [{"item": "q", "a": "x", "b": "y", "verdict": "aab"[i], "repeat": i} for i in range(3)]
    found = preferences((compared(tmp_path, listed),), PreferenceOptions())["groups"][0]["ratings"]
    [best, _] = found["rows"]
    assert float(best["rating"]) == pytest.approx(np.log(2) / 2, abs=1e-6)
    assert best["ci95"] is None
    assert found["na"] == "fewer than 5 items give no interval"


def test_the_mean_preference_takes_item_by_item_as_the_rate_does(tmp_path):
    listed = [{"item": "q1", "a": "x", "b": "y", "verdict": 1.1, "repeat": i} for i in range(9)]
    listed += [{"item": "q2", "a": "x", "b": "y", "verdict": 1.9}]
    [pair] = preferences((compared(tmp_path, listed),), PreferenceOptions())["groups"][0]["pairs"]
    assert (float(pair["rate"]), float(pair["share"])) == (0.5, 0.5)
    low, high = map(float, pair["share_ci95"])
    assert 0 <= low < 0.1  # two items say little
    assert 0.9 < high <= 1


def test_the_controlled_rate_tells_the_items_that_record_lengths(tmp_path, capsys):
    listed = [
        {"item": str(i), "a": "x", "b": "y", "verdict": "ab"[i % 2]}
        | ({"length": {"a": i * i, "b": 30}} if i < 12 else {})
        for i in range(20)
    ]
    ledger = compared(tmp_path, listed)
    capsys.readouterr()
    assert main(["preferences", str(ledger), "--format", "md"]) == 0
    assert "| x | y | controlled | 12 |" in capsys.readouterr().out


def test_swapping_names_and_positions_changes_no_number(tmp_path, entries, document):
    mirror = {"a": "b", "b": "a", "ab": "ba", "ba": "ab"}
    turned = [
        {
            **one,
            "a": one["b"],
            "b": one["a"],
            "verdict": mirror.get(one["verdict"], one["verdict"]),
            "order": mirror[one["order"]],
            "length": {"a": one["length"]["b"], "b": one["length"]["a"]},
        }
        for one in entries
    ]
    found = preferences((compared(tmp_path, turned),), PreferenceOptions())
    assert dumps(found) == dumps(document)


def test_human_verdicts_count_only_where_they_are_asked_for(tmp_path, entries):
    people = compared(tmp_path, entries[:20], judge_kind="human")
    assert preferences((people,), PreferenceOptions())["left_out"]["other_judge_kind"] == 20
    from normalizer.aggregate.eligibility import Rules

    asked = PreferenceOptions(rules=Rules(judge_kinds=frozenset(["human"])))
    assert preferences((people,), asked)["left_out"]["other_judge_kind"] == 0


def test_criteria_are_not_mixed(tmp_path):
    listed = [{"item": "q", "a": "x", "b": "y", "verdict": "a", "criterion": name} for name in ("style", "truth")]
    ledger = compared(tmp_path, listed)
    with pytest.raises(CannotRun, match="--by criterion"):
        preferences((ledger,), PreferenceOptions())
    groups = preferences((ledger,), PreferenceOptions(by=("criterion",)))["groups"]
    assert [group["key"] for group in groups] == [{"criterion": "style"}, {"criterion": "truth"}]


def test_self_judged_comparisons_alone_give_no_rate(tmp_path):
    listed = [{"item": str(i), "a": "judge-large", "b": "y", "verdict": "ab"[i % 2]} for i in range(12)]
    [pair] = preferences((compared(tmp_path, listed, self_judged=True),), PreferenceOptions())["groups"][0]["pairs"]
    assert (pair["rate"], pair["flags"]) == (None, ["only_self_judged", "order_unknown"])


def test_self_judged_comparisons_alone_give_no_rating_and_no_length_controlled_rate(tmp_path):
    listed = [
        {"item": str(i), "a": "judge-large", "b": "y", "verdict": "ab"[i % 2], "length": {"a": i * i, "b": 7}}
        for i in range(12)
    ]
    [group] = preferences((compared(tmp_path, listed, self_judged=True),), PreferenceOptions())["groups"]
    controlled = group["pairs"][0]["length"]["controlled"]
    for found, value in ((group["ratings"], group["ratings"]["rows"]), (controlled, controlled["rate"])):
        assert not value
        assert "self-judged" in found["na"]


@pytest.mark.parametrize("form", ["json", "csv", "md", "latex", "text"])
def test_the_command_writes_every_format(ledger, capsys, form):
    assert main(["preferences", str(ledger), "--format", form, "--resamples", "100"]) == 0
    written = capsys.readouterr().out
    assert "alder" in written
    if form == "csv":
        assert len(list(csv.DictReader(io.StringIO(written)))) == 6


def test_a_baseline_that_nobody_met_is_refused(ledger, capsys):
    assert main(["preferences", str(ledger), "--baseline", "elm"]) == 2
    assert "the generators are alder, birch, cedar, dogwood" in capsys.readouterr().err


def test_a_ledger_of_which_nothing_counts_says_what_was_left_out(tmp_path, capsys):
    ledger = compared(tmp_path, [{"item": "q", "a": "x", "verdict": "a"}])
    capsys.readouterr()
    assert main(["preferences", str(ledger)]) == 0
    assert "Left out: not_selected 0, duplicate 0, invalid 1" in capsys.readouterr().out


def test_lengths_beyond_all_arithmetic_count_as_not_recorded(tmp_path):
    bundle = tmp_path / "b.json"
    entry = '{"item": "%d", "a": "x", "b": "y", "verdict": "%s", "length": {"a": 1e400, "b": 1}}'
    entries = ", ".join(entry % (place, "ab"[place % 2]) for place in range(12))
    known = '"protocol_version": "p", "judge_model": "j", "phase": 1'
    bundle.write_text(f'{{{known}, "per_comparison": [{entries}]}}')
    assert main(["normalize", str(bundle), "--out", str(tmp_path / "ledger")]) == 0
    [pair] = preferences((tmp_path / "ledger",), PreferenceOptions())["groups"][0]["pairs"]
    assert (pair["wins"], pair["losses"], pair["length"]) == (6, 6, None)
