"""Paired contrasts: judge by judge, item by item, and what they say."""

import json

import contract_spec as spec
import numpy as np
import pytest
from scipy import stats

from normalizer.aggregate.summary import Options
from normalizer.cli import main
from normalizer.estimation.paired_test import ASSUMPTIONS, SPREAD
from normalizer.noise.sample_size import LEAST, PowerTarget
from normalizer.noise.study_plan import plan
from normalizer.statistics.contrasts import GENERATORS, Contrast, compare
from normalizer.tables.formats import dumps
from tests.support.labelling import bundle_of, labelled, noisy, truth
from tests.support.studies import Verdict, bundles_of, ledger_of, output, refusal


def scored(total):
    return (min(2, total), min(2, max(0, total - 2)), min(2, max(0, total - 4)), min(2, max(0, total - 6)), 0)


def compared(ledger, wanted=GENERATORS):
    document = compare((ledger,), Options(), wanted)
    assert spec.violations("eval/contrasts.json", json.loads(dumps(document))) == []
    return document


def test_a_lenient_and_a_harsh_judge_make_no_difference_of_generators(tmp_path):
    study = [Verdict("lenient", "g1", f"a{n}", scored(7)) for n in range(12)]
    study += [Verdict("harsh", "g2", f"a{n}", scored(5)) for n in range(12)]
    total = compared(ledger_of(tmp_path, bundles_of(study)))["contrasts"][0]
    assert (total["n"], total["unpaired"], total["difference"], total["p"]) == (0, 12, None, None)
    assert "judged by one judge" in total["na"]["difference"]


def test_a_dimension_that_has_one_value_shows_no_difference_and_hinders_no_plan(tmp_path):
    rubric = tmp_path / "rubric.json"
    scales = {"same": {"kind": "values", "values": [1]}, "other": {"kind": "integers", "minimum": 0, "maximum": 4}}
    dimensions = {name: {"scale": scale} for name, scale in scales.items()}
    rubric.write_text(json.dumps({"name": "one value", "dimensions": dimensions}))
    runs = [("g1", 0, "r1"), ("g1", 1, "r2"), ("g2", 2, "r3")]
    bundles = [
        bundle_of(
            {f"f{n}": {"same": 1, "other": n % 3 + more} for n in range(20)}, "judge", generator_model=name, run_id=run
        )
        for name, more, run in runs
    ]
    ledger = labelled(tmp_path, "ledger", *bundles, options=("--rubric", str(rubric)))
    rows = {row["measure"]: row for row in compared(ledger)["contrasts"]}
    same = rows["same"]
    assert ([*map(float, same["ci95"])], float(same["p"]), same["verdict"]) == ([0, 0], 1, "undecided")
    assert rows["other"]["verdict"] == "lower"
    planned = plan((ledger,), Options(), PowerTarget(0.5))["results"]
    assert [row["plan"][0]["paired_least"] for row in planned if row["measure"] == "same"] == [LEAST]


def test_a_difference_that_is_printed_as_zero_keeps_its_direction(tmp_path):
    rubric = tmp_path / "rubric.json"
    scale = {"kind": "values", "values": [0, 0.0000004]}
    rubric.write_text(json.dumps({"name": "tiny", "dimensions": {"tiny": {"scale": scale}}}))
    same = {f"f{n}": {"tiny": 1} for n in range(30)}
    bundles = [
        json.loads(
            json.dumps(bundle_of(same, "judge", generator_model=name, run_id=name)).replace(": 1}", f": {value}}}")
        )
        for name, value in (("g1", "0.0000004"), ("g2", "0"))
    ]
    ledger = labelled(tmp_path, "ledger", *bundles, options=("--rubric", str(rubric)))
    [total] = [row for row in compared(ledger)["contrasts"] if row["measure"] == "total"]
    assert (float(total["difference"]), total["verdict"]) == (0, "higher")


def test_differences_are_those_of_each_judge_averaged(tmp_path):
    rng = np.random.default_rng(3)
    totals = {(judge, name): rng.integers(0, 9, 10) for judge in ("j1", "j2") for name in ("g1", "g2")}
    totals["j3", "g1"] = rng.integers(0, 9, 10)  # judges g1 alone, and is in no pair
    study = [
        Verdict(judge, name, f"a{n}", scored(int(total)))
        for (judge, name), given in totals.items()
        for n, total in enumerate(given)
    ]
    found = compared(ledger_of(tmp_path, bundles_of(study)), GENERATORS._replace(assume=SPREAD))["contrasts"][0]
    gaps = np.mean([totals[judge, "g1"] - totals[judge, "g2"] for judge in ("j1", "j2")], axis=0)
    expected = stats.ttest_1samp(gaps, 0)
    assert (found["n"], found["items"], found["unpaired"]) == (10, 10, 0)
    assert float(found["difference"]) == pytest.approx(gaps.mean(), abs=1e-6)
    assert float(found["sd"]) == pytest.approx(gaps.std(ddof=1), abs=1e-6)
    assert float(found["p"]) == pytest.approx(expected.pvalue, abs=1e-6)
    assert [float(end) for end in found["ci95"]] == pytest.approx(expected.confidence_interval(0.95), abs=1e-6)
    assert found["assumes"] == "spread"


def test_a_judge_of_itself_counts_beside_another_and_never_alone(tmp_path):
    study = [Verdict("g1", name, f"a{n}", scored(8 if name == "g1" else 4)) for name in ("g1", "g2") for n in range(8)]
    alone = compared(ledger_of(tmp_path, bundles_of(study)))["contrasts"][0]
    assert (alone["n"], alone["unpaired"]) == (0, 8)
    study += [Verdict("j", name, f"a{n}", scored(4)) for name in ("g1", "g2") for n in range(4)]
    (tmp_path / "both").mkdir()
    beside = compared(ledger_of(tmp_path / "both", bundles_of(study)))["contrasts"][0]
    assert (beside["n"], beside["unpaired"], beside["difference"]) == (4, 4, 2)


def test_pairs_of_one_question_are_one_cluster_by_default(tmp_path, capsys):
    rng = np.random.default_rng(5)
    study = []
    gaps: dict[int, list[int]] = {}
    for question in range(7):
        for variant in range(3):
            one, other = (int(total) for total in rng.integers(0, 9, 2))
            gaps.setdefault(question, []).append(one - other)
            for version, total in (("new", one), ("old", other)):
                name = f"q{question}-v{variant}-{version}"
                study.append((Verdict("j", "g", name, scored(total)), version, question, variant))
    bundles = []
    for verdict, version, question, variant in study:
        [bundle] = bundles_of([verdict])
        bundles.append({**bundle, "factors": {"version": version, "question": f"q{question}", "variant": str(variant)}})
    ledger = ledger_of(tmp_path, bundles)
    wanted = Contrast("factors.version", ("factors.variant", "factors.question"), assume=SPREAD)
    document = compared(ledger, wanted)
    total = document["contrasts"][0]
    assert (document["item"], total["n"], total["items"]) == ("factors.question", 21, 7)
    expected = stats.ttest_1samp([sum(each) for each in gaps.values()], 0)  # clusters of one size
    assert float(total["p"]) == pytest.approx(expected.pvalue, abs=1e-6)
    command = ["compare", str(ledger), "--by", "factors.version", "--pair-by", "factors.variant,factors.question"]
    assert output(capsys, *command, "--cluster", "factors.variant")["contrasts"][0]["items"] == 3
    assert "not among the keys" in refusal(capsys, *command, "--cluster", "factors.topic")


def test_blocks_without_an_item_are_items_of_their_own_over_judges_too(tmp_path):
    rng = np.random.default_rng(9)
    ledgers: dict[str, list[dict[str, object]]] = {"named": [], "unnamed": []}
    for variant in range(8):
        for judge, version in (("j1", "new"), ("j1", "old"), ("j2", "new"), ("j2", "old")):
            [bundle] = bundles_of([Verdict(judge, "g", f"v{variant}-{version}", scored(int(rng.integers(0, 9))))])
            factors = {"version": version, "variant": str(variant)}
            ledgers["named"].append({**bundle, "factors": {**factors, "question": f"q{variant}"}})
            # One block has a question: otherwise no record has the factor, which is refused.
            ledgers["unnamed"].append({**bundle, "factors": {**factors, "question": "q0"} if not variant else factors})
    wanted = Contrast("factors.version", ("factors.variant", "factors.question"), "factors.question")
    found = []
    for name, bundles in ledgers.items():
        (tmp_path / name).mkdir()
        found.append(compared(ledger_of(tmp_path / name, bundles), wanted)["contrasts"][0])
    assert found[0]["items"] == 8
    assert found[1] == found[0]


def test_a_contrast_does_not_depend_on_names_or_order(tmp_path):
    real = truth(20, 1)
    found = []
    for number, names in enumerate((("g1", "g2"), ("zz", "aa"))):
        scores = zip(names, (real, noisy(real, 2, 0.5)), strict=True)
        bundles = [bundle_of(given, f"judge {number}", generator_model=name) for name, given in scores]
        ledger = labelled(tmp_path, f"names-{number}", *bundles[:: 1 - 2 * number])
        found.append(compared(ledger)["contrasts"][0])
    one, other = found
    assert one["levels"] == ["g1", "g2"]
    assert other["levels"] == ["aa", "zz"]
    assert (one["difference"], one["p"], one["ci95"][0]) == (-other["difference"], other["p"], -other["ci95"][1])


def test_every_difference_alike_has_an_interval_with_a_width_and_one_item_has_none(tmp_path):
    study = [Verdict("j", name, f"a{n}", scored(total)) for name, total in (("g1", 5), ("g2", 3)) for n in range(8)]
    total = compared(ledger_of(tmp_path, bundles_of(study)))["contrasts"][0]
    assert total["ci95"][0] < 2 < total["ci95"][1] <= 10
    assert (total["verdict"], total["sd"], total["assumes"]) == ("undecided", 0, "scale")
    (tmp_path / "one").mkdir()
    alone = compared(ledger_of(tmp_path / "one", bundles_of(study[::8])))["contrasts"][0]
    assert (alone["n"], alone["ci95"], alone["p"], alone["verdict"]) == (1, None, 1, "undecided")


def test_the_scale_may_be_all_that_is_assumed_and_the_table_says_what_is(tmp_path, capsys):
    real = truth(15, 1)
    runs = [
        bundle_of(given, "judge", generator_model=name) for name, given in (("a", real), ("b", noisy(real, 2, 0.5)))
    ]
    ledger = str(labelled(tmp_path, "ledger", *runs))
    widths = []
    for assume in ("spread", "scale"):
        document = output(capsys, "compare", ledger, "--assume", assume)
        assert (document["assume"], document["contrasts"][0]["assumes"]) == (assume, assume)
        low, high = document["contrasts"][0]["ci95"]
        widths.append(high - low)
        assert main(["compare", ledger, "--assume", assume]) == 0
        assert ASSUMPTIONS[assume] in " ".join(capsys.readouterr().out.split())
    assert widths[0] < widths[1]


def test_the_command_prints_a_verdict_with_what_it_rests_on(tmp_path, capsys):
    real = truth(15, 1)
    runs = [
        bundle_of(given, "judge", generator_model=name) for name, given in (("v1", real), ("v2", noisy(real, 2, 0.5)))
    ]
    ledger = str(labelled(tmp_path, "ledger", *runs))
    assert main(["compare", ledger]) == 0
    printed = capsys.readouterr().out
    assert "verdict" in printed.splitlines()[0]
    assert "paired by artifact and judge" in printed
    assert "no two levels" in refusal(capsys, "compare", ledger, "--by", "judge_prompt_version")
    assert "cannot be both" in refusal(capsys, "compare", ledger, "--by", "phase", "--pair-by", "phase")
