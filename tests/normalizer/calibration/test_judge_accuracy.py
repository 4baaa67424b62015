"""Judges against gold: every measure against an implementation that knows nothing of ours."""

import json
import random
from collections import Counter
from fractions import Fraction

import contract_spec as spec
import krippendorff
import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr
from sklearn.metrics import accuracy_score, cohen_kappa_score, confusion_matrix, mean_absolute_error

from normalizer.aggregate.intervals import Method
from normalizer.aggregate.summary import Options, aggregate
from normalizer.calibration import prediction_powered
from normalizer.calibration.choice import closest
from normalizer.calibration.judge_accuracy import calibrate
from normalizer.calibration.labels import Item, Labels, PairsByItem, Values
from normalizer.calibration.measures import by_level, reliability
from normalizer.calibration.prediction_powered import find_worth
from normalizer.cli import main
from normalizer.estimation.clusters import gather
from normalizer.estimation.intervals import mean_interval
from normalizer.statistics.spread import ends
from normalizer.tables import calibration_table
from normalizer.tables.formats import dumps
from tests.support.bundles import DIMENSIONS
from tests.support.labelling import bundle_of, labelled, noisy, truth

METHOD = Method(bootstrap=True, resamples=200, seed=3)
JUDGES = {"large": (0.2, 0.0), "small": (0.5, 0.3), "tiny": (0.8, -0.2)}
UNIT = (Fraction(0), Fraction(1))


@pytest.fixture(scope="module")
def real():
    return truth(60, 1)


@pytest.fixture(scope="module")
def scores(real):
    return {name: noisy(real, place + 10, *how) for place, (name, how) in enumerate(JUDGES.items())}


@pytest.fixture(scope="module")
def people(real):
    return {name: noisy(real, place + 50, 0.15) for place, name in enumerate(["anna", "ben", "cleo"])}


@pytest.fixture(scope="module")
def ledgers(tmp_path_factory, scores, people):
    folder = tmp_path_factory.mktemp("calibration")
    factors = {"factors": {"topic": "law"}}
    models = labelled(folder, "models", *(bundle_of(given, name, **factors) for name, given in scores.items()))
    some = {name: dict(list(given.items())[:40]) for name, given in people.items()}
    gold = labelled(folder, "gold", *(bundle_of(given, name, judge_kind="human") for name, given in some.items()))
    return models, gold


@pytest.fixture(scope="module")
def document(ledgers):
    found = calibrate(ledgers, Options(), "median", METHOD)
    assert spec.violations("eval/calibration.json", json.loads(dumps(found))) == []
    return found


def columns(scores, people, judge, dimension):
    files = list(scores[judge])[:40]
    if dimension == "total":
        gold = [np.median([sum(given[file].values()) for given in people.values()]) for file in files]
        return [sum(scores[judge][file].values()) for file in files], gold
    return (
        [scores[judge][file][dimension] for file in files],
        [np.median([given[file][dimension] for given in people.values()]) for file in files],
    )


@pytest.mark.parametrize("dimension", [DIMENSIONS[0], DIMENSIONS[3], "total"])
@pytest.mark.parametrize("judge", list(JUDGES))
def test_measures_are_those_of_scikit_learn_scipy_and_krippendorff(document, scores, people, judge, dimension):
    ours, gold = columns(scores, people, judge, dimension)
    [measure] = [each for each in document["measures"] if each["measure"] == dimension]
    [row] = [each for each in measure["judges"] if each["judge"] == judge]
    expected = {
        "exact": accuracy_score(gold, ours),
        "mae": mean_absolute_error(gold, ours),
        "bias": np.mean(np.array(ours) - np.array(gold)),
        "kappa": cohen_kappa_score(np.array(ours, dtype=int), np.array(gold, dtype=int)),
        "alpha_ordinal": krippendorff.alpha([ours, gold], level_of_measurement="ordinal"),
        "pearson": pearsonr(ours, gold).statistic,
        "spearman": spearmanr(ours, gold).statistic,
        "kendall": kendalltau(ours, gold).statistic,
    }
    assert {name: float(row[name]) for name in expected} == pytest.approx(expected, abs=1e-6)
    if dimension != "total":
        weighted = cohen_kappa_score(np.array(ours, dtype=int), np.array(gold, dtype=int), weights="quadratic")
        assert float(row["kappa_quadratic"]) == pytest.approx(weighted, abs=1e-6)
        table = confusion_matrix(gold, ours, labels=[0, 1, 2])
        for cell in row["confusion"]:
            assert cell["n"] == table[int(cell["gold"]), int(cell["judge"])]
    for name, interval in row["ci95"].items():
        assert interval is not None
        assert float(interval[0]) - 1e-9 <= float(row[name]) <= float(interval[1]) + 1e-9, name


def test_bias_by_level_and_reliability_are_means_by_level(document, scores, people):
    ours, gold = map(np.array, columns(scores, people, "small", "total"))
    [row] = [each for each in document["measures"][-1]["judges"] if each["judge"] == "small"]
    for level in row["by_level"]:
        chosen = gold == float(level["gold"])
        assert level["n"] == chosen.sum()
        gaps = (ours - gold)[chosen]
        assert float(level["bias"]) == pytest.approx(gaps.mean(), abs=1e-6)
        low, high = (float(end) for end in level["ci95"])
        assert low <= gaps.mean() <= high
        assert low < high
    for level in row["reliability"]:
        assert float(level["gold_mean"]) == pytest.approx(gold[ours == float(level["judge"])].mean(), abs=1e-6)


def test_the_interval_at_a_level_reckons_with_the_ends_of_the_scale_that_nobody_gave():
    pairs, items = [(Fraction(3), Fraction(3))] * 5, list("abcde")
    scale = Fraction(0), Fraction(4)
    [bias], [gold] = by_level(pairs, items, scale), reliability(pairs, items, scale)
    share = 0.025 ** (1 / 5)  # of the weight is surely at 3
    assert [float(end) for end in gold["ci95"]] == pytest.approx([3 * share, 3 * share + 4 * (1 - share)], abs=1e-6)
    assert [float(end) for end in bias["ci95"]] == pytest.approx([float(end) - 3 for end in gold["ci95"]], abs=1e-6)


def test_the_ceiling_is_each_annotator_against_the_others(document, people):
    files = list(people["anna"])[:40]
    gold = [np.median([sum(people[name][file].values()) for name in ("ben", "cleo")]) for file in files]
    ours = [sum(people["anna"][file].values()) for file in files]
    [row] = [each for each in document["measures"][-1]["ceiling"]["annotators"] if each["annotator"] == "anna"]
    assert float(row["pearson"]) == pytest.approx(pearsonr(ours, gold).statistic, abs=1e-6)


def test_a_judge_that_copies_an_annotator_is_as_good_as_that_annotator_and_no_better(tmp_path, people):
    """Gold, the median of three, has Anna's label in it: a copy of Anna agrees with gold more often than Anna can with
    the others."""
    models = labelled(tmp_path, "models", bundle_of(people["anna"], "copy"))
    gold = labelled(tmp_path, "gold", *(bundle_of(given, name, judge_kind="human") for name, given in people.items()))
    total = calibrate((models, gold), Options(), "median", METHOD)["measures"][-1]
    [against_gold] = total["judges"]
    [anna] = [row for row in total["ceiling"]["annotators"] if row["annotator"] == "anna"]
    assert against_gold["exact"] > anna["exact"]
    [in_place] = [row for row in total["ceiling"]["judges"] if row["annotator"] == "anna"]
    assert in_place["as_judge"] == in_place["as_annotator"]
    assert in_place["as_annotator"] == {name: anna[name] for name in in_place["as_annotator"]}


def test_labels_of_a_judge_on_its_own_model_alone_give_no_number(tmp_path, scores, people):
    """`aggregate` gives such records no number, and so does this."""
    own = bundle_of(scores["large"], "writer", self_judged=True)
    models = labelled(tmp_path, "models", own, bundle_of(scores["small"], "small"))
    gold = labelled(tmp_path, "gold", bundle_of(people["anna"], "anna", judge_kind="human"))
    document = calibrate((models, gold), Options(), "median", METHOD)
    assert spec.violations("eval/calibration.json", json.loads(dumps(document))) == []
    assert document["flags"] == ["self_judged_included"]
    for measure in document["measures"]:
        rows = {row["judge"]: row for row in measure["judges"]}
        assert rows["small"]["exact"] is not None
        assert (rows["writer"]["n"], rows["writer"]["exact"], rows["writer"]["kappa"]) == (60, None, None)
        assert rows["writer"]["confusion"] == rows["writer"]["by_level"] == []
        assert "self-judged" in rows["writer"]["na"]["exact"]
        powered = {row["judge"]: row for row in measure["prediction_powered"]}
        assert (powered["writer"]["estimate"], powered["writer"]["judge_only"]) == (None, None)
        assert "self-judged" in powered["writer"]["na"]
        assert measure["closest"]["candidates"] == []


def test_the_closest_judge_or_panel_is_the_one_with_the_least_error(document):
    for measure in document["measures"]:
        found = measure["closest"]
        losses = {row["name"]: row["mae"] for row in found["candidates"]}
        assert losses[found["best"]] == min(losses.values())
        assert len(losses) == 3 + 3 + 3
        by_judge = {row["judge"]: row["mae"] for row in measure["judges"]}
        assert {name: losses[name] for name in by_judge} == by_judge
    assert document["measures"][-1]["closest"]["best"] != "tiny"


def test_the_corrected_error_is_that_of_choosing_on_resamples_and_measuring_outside(document, scores, people):
    """Done again with plain lists, on the same draws."""
    from normalizer.aggregate.intervals import draw_blocks

    found = document["measures"][0]["closest"]
    files = list(scores["large"])[:40]
    name = DIMENSIONS[0]
    gold = [np.median([given[file][name] for given in people.values()]) for file in files]
    said = {judge: [scores[judge][file][name] for file in files] for judge in JUDGES}
    together = list(zip(*said.values(), strict=True))
    panels = {
        **said,
        "panel mean of all": [np.mean(each) for each in together],
        "panel median of all": [np.median(each) for each in together],
        "panel majority of all": [
            np.median([value for value in set(each) if each.count(value) == max(map(each.count, each))])
            for each in together
        ],
    }
    for out in JUDGES:
        rest = [said[judge] for judge in JUDGES if judge != out]
        panels[f"panel mean without {out}"] = [np.mean(each) for each in zip(*rest, strict=True)]
    losses = {each: np.abs(np.array(values) - gold) for each, values in panels.items()}
    assert {row["name"]: float(row["mae"]) for row in found["candidates"]} == pytest.approx(
        {each: loss.mean() for each, loss in losses.items()}, abs=1e-6
    )
    ranked = sorted(losses, key=lambda each: (round(losses[each].mean(), 9), each))
    rows = [[round(losses[each][at], 9) for each in ranked] for at in range(40)]
    order = sorted(range(40), key=lambda at: (sorted(rows[at]), rows[at]))  # one that names do not decide
    losses = {each: loss[order] for each, loss in losses.items()}
    outside = []
    for drawn in (row for block in draw_blocks(METHOD, 40) for row in block):
        sums = {each: round(sum(loss[int(at)] for at in drawn), 9) for each, loss in losses.items()}
        chosen = [each for each, total in sums.items() if total == min(sums.values())]
        left = sorted(set(range(40)) - {int(at) for at in drawn})
        outside.append(np.mean([losses[each][at] for each in chosen for at in left]))
    assert float(found["corrected_mae"]) == pytest.approx(np.mean(outside), abs=1e-6)


def test_answers_about_one_artifact_are_drawn_together_when_the_closest_is_chosen():
    """Of every artifact five answers with the same labels: the choice is the one on single answers."""
    rng = random.Random(4)
    gold: dict[Item, Values] = {(f"q{at}", None): (Fraction(rng.randrange(5)),) for at in range(12)}
    said: dict[Item, dict[str, Values]] = {
        item: {judge: (Fraction(rng.randrange(5)),) for judge in ("j1", "j2", "j3")} for item in gold
    }

    def five(given):
        return {(artifact, f"g{at}"): value for (artifact, _), value in given.items() for at in range(5)}

    once, repeated = (
        closest(Labels(by_item, {}, frozenset()), known, 0, METHOD)
        for by_item, known in ((said, gold), (five(said), five(gold)))
    )
    assert (once.pop("items"), repeated.pop("items")) == (12, 60)
    assert once == repeated
    few = {item: value for item, value in five(gold).items() if item[0] in ("q1", "q2", "q3")}
    assert "artifacts give no correction" in closest(Labels(five(said), {}, frozenset()), few, 0, METHOD)["na"]


def test_labels_of_one_artifact_alone_are_worth_one_label():
    assert find_worth([Fraction(at % 3) for at in range(20)], ["q"] * 20) == 1 / 20


def test_the_prediction_powered_mean_is_that_of_ppi_py(document, scores, people):
    ppi = pytest.importorskip("ppi_py")
    ours, gold = columns(scores, people, "large", "total")
    more = [sum(scores["large"][file].values()) for file in list(scores["large"])[40:]]
    arrays = [np.array(values, dtype=float) for values in (gold, ours, more)]
    [row] = [each for each in document["measures"][-1]["prediction_powered"] if each["judge"] == "large"]
    weight = float(row["weight"])
    assert float(row["estimate"]) == pytest.approx(ppi.ppi_mean_pointestimate(*arrays, lam=weight)[0], abs=2e-6)
    low, high = ppi.ppi_mean_ci(*arrays, alpha=0.05, lam=weight)
    # ppi_py takes the normal distribution: ours reckons with what no label shows, and is a little wider.
    assert float(row["ci95"][0]) == pytest.approx(low[0], abs=0.25)
    assert float(row["ci95"][0]) < low[0]
    assert float(row["ci95"][1]) > high[0]


def test_gold_alone_has_the_interval_of_a_mean_on_the_scale_by_artifact():
    """Answers about one artifact are one cluster: 12 artifacts with 4 answers each covered 73 %."""
    gold = [Fraction(artifact * 4 % 11) for artifact in range(12) for _ in range(4)]
    labelled: PairsByItem = {(str(at // 4), str(at)): (value, value) for at, value in enumerate(gold)}
    once: PairsByItem = {(str(at), None): (value, value) for at, value in enumerate(gold[::4])}
    found, alone = (prediction_powered.estimate(each, {}, (Fraction(0), Fraction(10))) for each in (labelled, once))
    assert [float(end) for end in found["gold_only_ci95"]] == pytest.approx(
        [float(end) for end in alone["gold_only_ci95"]], abs=1e-6
    )
    assert found["gold_only_ci95"] == ends(mean_interval(gather(gold[::4]), (Fraction(0), Fraction(10))))


def test_labels_that_are_all_equal_give_a_prediction_powered_interval_with_width():
    """20 labels of a value that 5 % have: Student's interval held the truth in 60 % of simulated studies."""
    labelled: PairsByItem = {(str(at), None): (Fraction(at % 5 == 0), Fraction(0)) for at in range(20)}
    judged: dict[Item, Fraction] = {(f"more {at}", None): Fraction(at % 5 == 0) for at in range(200)}
    found = prediction_powered.estimate(labelled, judged, UNIT)
    low, high = (float(end) for end in found["ci95"])
    assert low == pytest.approx(0, abs=0.01)
    assert 0.1 < high < 0.4


@pytest.mark.parametrize(("value", "most"), [(1, 1), (5, 10)])
def test_judgements_and_labels_that_are_all_equal_say_nothing_certain_about_the_rest(value, most):
    """The interval was the value itself, although gold alone has room for 3 % of others."""
    labelled: PairsByItem = {(str(at), None): (Fraction(value), Fraction(value)) for at in range(30)}
    judged: dict[Item, Fraction] = {(f"more {at}", None): Fraction(value) for at in range(30)}
    found = prediction_powered.estimate(labelled, judged, (Fraction(0), Fraction(most)))
    low, high = (float(end) for end in found["ci95"])
    assert [low, high] == pytest.approx([float(end) for end in found["gold_only_ci95"]], abs=most / 50)
    of_one = prediction_powered.estimate(labelled, judged, (Fraction(value), Fraction(value)))
    assert (of_one["ci95"], of_one["na"]) == (None, "the scale has only one value")


def test_labels_about_one_artifact_say_nothing_about_others():
    labelled: PairsByItem = {("one", f"g{at}"): (Fraction(at % 11), Fraction(at * 3 % 11)) for at in range(30)}
    judged: dict[Item, Fraction] = {(f"more {at}", None): Fraction(at % 11) for at in range(30)}
    found = prediction_powered.estimate(labelled, judged, (Fraction(0), Fraction(10)))
    assert (found["gold_only_ci95"], found["ci95"]) == (None, None)
    assert found["na"].startswith("all items with gold are about one artifact")


def test_many_values_that_are_nearly_all_equal_leave_room_for_what_no_label_shows():
    """The interval from the farthest label on held the truth in 79 % of studies of 20 labels, 80 % of one value."""
    labelled: PairsByItem = {(str(at), None): (Fraction(at % 9), Fraction(at if at < 4 else 0)) for at in range(24)}
    judged: dict[Item, Fraction] = {(f"more {at}", None): Fraction(at % 9) for at in range(200)}
    found = prediction_powered.estimate(labelled, judged, (Fraction(0), Fraction(23)))
    low, high = (float(end) for end in found["ci95"])
    assert low < 0.1
    assert high == pytest.approx(float(found["gold_only_ci95"][1]), abs=0.3)


@pytest.mark.parametrize("values", [(0, 1, 1, 0, 1), (2, 9, 4, 6, 10)])
def test_five_labels_have_a_prediction_powered_interval_and_four_have_none(values):
    labelled: PairsByItem = {(str(at), None): (Fraction(value), Fraction(value)) for at, value in enumerate(values)}
    judged: dict[Item, Fraction] = {
        (f"more {at}", None): Fraction(at % (11 if max(values) > 1 else 2)) for at in range(60)
    }
    scale = Fraction(0), Fraction(10 if max(values) > 1 else 1)
    found = prediction_powered.estimate(labelled, judged, scale)
    low, high = (float(end) for end in found["ci95"])
    assert low < float(found["estimate"]) < high
    assert high - low > float(scale[1]) / 4
    del labelled["4", None]
    assert prediction_powered.estimate(labelled, judged, scale)["na"] == "fewer than 5 items have gold"


@pytest.mark.parametrize("levels", [2, 11])
def test_answers_without_gold_about_one_artifact_go_together(levels):
    """Each of 20 artifacts has 25 answers with the same value: the judge's mean is known from 20, not from 500."""
    rng = random.Random(7)
    gold = [Fraction(rng.randrange(levels)) for _ in range(40)]
    labelled: PairsByItem = {(f"q{at}", None): (value, value) for at, value in enumerate(gold)}
    given = [Fraction(rng.randrange(levels)) for _ in range(500)]
    scale = Fraction(0), Fraction(levels - 1)
    apart: dict[Item, Fraction] = {(f"more {at}", None): given[at // 25] for at in range(500)}
    together: dict[Item, Fraction] = {(f"more {at // 25}", f"g{at}"): given[at // 25] for at in range(500)}
    shared: dict[Item, Fraction] = {(f"q{at // 25}", f"g{at}"): given[at // 25] for at in range(500)}
    widths = []
    for judged in (apart, together, shared):
        found = prediction_powered.estimate(labelled, judged, scale)
        widths.append(float(found["ci95"][1] - found["ci95"][0]))
    assert widths[1] > 1.25 * widths[0]
    assert widths[2] > 1.2 * widths[0]
    alone: dict[Item, Fraction] = {("more", f"g{at}"): value for at, value in enumerate(given)}
    assert (prediction_powered.estimate(labelled, alone, scale)["na"] is None) is (levels == 2)


def test_gold_is_in_no_aggregate_of_judges_unless_it_is_named(ledgers):
    _, gold = ledgers
    summary = aggregate((gold,), Options())
    assert summary["rows"][0]["flags"] == ["only_other_judge_kind"]
    assert summary["left_out"]["other_judge_kind"] == 120
    assert main(["aggregate", str(gold), "--judge-kind", "human"]) == 0


def test_groups_are_told_apart_by_keys(ledgers):
    found = calibrate(ledgers, Options(by=("factors.topic",)), "median", METHOD)
    keys = [row["key"] for row in found["measures"][-1]["judges"] if row["judge"] == "large"]
    assert keys == [{}, {"factors.topic": "law"}]


def test_a_ledger_without_gold_is_refused_with_the_remedy(ledgers, capsys):
    assert main(["calibrate", str(ledgers[0])]) == 2
    assert "judge_kind" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["json", "csv", "md", "text"])
def test_the_command_writes_every_format(ledgers, capsys, form):
    command = ["calibrate", str(ledgers[0]), "--gold", str(ledgers[1]), "--format", form, "--resamples", "100"]
    assert main(command) == 0
    assert "large" in capsys.readouterr().out


def test_a_group_is_compared_by_its_own_records_alone(tmp_path, real, people):
    runs = {"v1": noisy(real, 70, 0.1), "v2": noisy(real, 71, 0.9)}
    models = labelled(
        tmp_path, "models", *(bundle_of(given, "judge", factors={"prompt": name}) for name, given in runs.items())
    )
    gold = labelled(tmp_path, "gold", bundle_of(people["anna"], "anna", judge_kind="human"))
    found = calibrate((models, gold), Options(by=("factors.prompt",)), "median", METHOD)
    for name in runs:
        alone = labelled(tmp_path, name, bundle_of(runs[name], "judge", factors={"prompt": name}))
        apart = calibrate((alone, gold), Options(), "median", METHOD)
        for together, single in zip(found["measures"], apart["measures"], strict=True):
            [row] = [row for row in together["judges"] if row["key"] == {"factors.prompt": name}]
            assert {**row, "key": {}} == single["judges"][0]


def test_a_judge_has_only_groups_that_its_own_records_are_in(ledgers):
    found = calibrate(ledgers, Options(by=("judge_model",)), "median", METHOD)
    rows = [row for measure in found["measures"] for row in measure["judges"] if row["key"]]
    assert rows
    assert all(row["key"]["judge_model"] == row["judge"] for row in rows)


def test_labels_of_people_and_of_references_are_mixed_only_if_both_are_named(tmp_path, ledgers, real, people, capsys):
    models, _ = ledgers
    gold = labelled(
        tmp_path,
        "both",
        bundle_of(people["anna"], "anna", judge_kind="human"),
        bundle_of(real, "key", judge_kind="reference"),
    )
    command = ["calibrate", str(models), "--gold", str(gold), "--resamples", "100"]
    capsys.readouterr()
    assert main(command) == 2
    assert "choose one with --gold-kind" in capsys.readouterr().err
    only = labelled(tmp_path, "only", bundle_of(real, "key", judge_kind="reference"))
    chosen = calibrate((models, gold), Options(), "median", METHOD, frozenset({"reference"}))
    apart = calibrate((models, only), Options(), "median", METHOD)
    assert chosen["measures"] == apart["measures"]
    assert chosen["left_out"]["other_judge_kind"] == len(real)
    assert main([*command, "--gold-kind", "human", "--gold-kind", "reference"]) == 0
    assert "MIXED: labels of several kinds of judges" in capsys.readouterr().out


def test_gold_of_two_protocol_versions_is_not_mixed_silently(tmp_path, ledgers, people, capsys):
    gold = labelled(
        tmp_path,
        "versions",
        bundle_of(people["anna"], "anna", judge_kind="human"),
        bundle_of(people["ben"], "ben", judge_kind="human", protocol_version="p-2"),
    )
    assert main(["calibrate", str(ledgers[0]), "--gold", str(gold)]) == 2
    assert "--mix protocol_version" in capsys.readouterr().err


def test_the_confusion_table_counts_every_item_once_for_each_judge(document):
    [table] = [table for title, table in calibration_table.list_tables(document) if title == "Confusion"]
    counted: Counter[tuple[object, object]] = Counter()
    for measure, judge, *_, given in table.rows:
        counted[measure, judge] += sum(int(part.rpartition(": ")[2]) for part in str(given or ": 0").split(", "))
    assert set(counted.values()) == {40}
    assert len(counted) == len(JUDGES) * (len(DIMENSIONS) + 1)


@pytest.mark.parametrize(("gold", "said"), [
    ({"generator_model": "another"}, "gold of f000 is about another, the models' labels about writer"),
    ({"per_file_scores": [{"file": "g", "scores": dict.fromkeys(DIMENSIONS, 1)}]}, "a manifest's artifact aligns"),
])  # fmt: skip
def test_gold_about_nothing_that_was_judged_is_refused_with_what_to_do(tmp_path, capsys, gold, said):
    judges = labelled(tmp_path, "judges", bundle_of(truth(12, 1), "judge"))
    people = labelled(tmp_path, "people", {**bundle_of(truth(12, 1), "anna", judge_kind="human"), **gold})
    assert main(["calibrate", str(judges), "--gold", str(people)]) == 2
    assert said in capsys.readouterr().err
