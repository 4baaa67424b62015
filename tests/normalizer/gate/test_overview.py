"""Gates: the verdict by hand and by SciPy, what is refused, and what CI reads."""

import json
import xml.etree.ElementTree as ET
from fractions import Fraction

import contract_spec as spec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from normalizer.aggregate.summary import Options
from normalizer.cli import main
from normalizer.gate.overview import GateOptions, gate
from normalizer.gate.verdict import decide
from normalizer.tables.gate_table import junit
from normalizer.tables.pretty import dumps
from tests.support.labelling import bundle_of, labelled, noisy, truth


def better(scores, by=1):
    return {file: {name: min(2, score + by) for name, score in given.items()} for file, given in scores.items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("gate")


@pytest.fixture(scope="module")
def ledgers(folder):
    real = truth(40, 5)
    runs = {"base": real, "same": real, "up": better(noisy(real, 3, 0.2)), "other": noisy(real, 4, 0.5)}
    return {
        name: labelled(folder, name, bundle_of(scores, "judge", generator_model=f"v-{name}", run_id=name))
        for name, scores in runs.items()
    } | {"scores": runs}


def run(ledgers, one, other, **terms):
    found = gate(ledgers[one], ledgers[other], Options(), GateOptions(**terms))
    assert spec.violations("eval/gate.json", json.loads(dumps(found))) == []
    return found


def test_a_better_candidate_passes_and_turned_round_it_is_worse(ledgers):
    [up] = run(ledgers, "base", "up")["results"]
    [down] = run(ledgers, "up", "base")["results"]
    assert (up["verdict"], up["passes"]) == ("better", True)
    assert (down["verdict"], down["passes"]) == ("worse", False)
    assert up["difference"] == -down["difference"]
    assert run(ledgers, "up", "base", lower_is_better=True)["verdict"] == "pass"


def test_the_interval_is_scipys(ledgers):
    one, other = (
        np.array([sum(given.values()) for given in ledgers["scores"][name].values()]) for name in ("base", "other")
    )
    [found] = run(ledgers, "base", "other")["results"]
    expected = ttest_rel(other, one).confidence_interval(0.95)
    assert [float(end) for end in found["interval"]] == pytest.approx([expected.low, expected.high], abs=1e-6)
    assert (found["improved"], found["worsened"]) == ((other > one).sum(), (other < one).sum())


def test_equal_runs_are_no_worse_and_few_pairs_are_undecided(ledgers, folder):
    [found] = run(ledgers, "base", "same")["results"]
    assert (found["verdict"], found["why"]) == ("no_worse", "every pair is equal")
    few = dict(list(ledgers["scores"]["up"].items())[:9])
    small = labelled(folder, "small", bundle_of(few, "judge"))
    [found] = gate(ledgers["base"], small, Options(), GateOptions())["results"]
    assert (found["verdict"], found["passes"], found["only_in_base"]) == ("undecided", False, 31)
    assert gate(ledgers["base"], small, Options(), GateOptions(undecided_passes=True))["verdict"] == "pass"


@given(
    gaps=st.lists(st.integers(-3, 3).map(Fraction), min_size=10, max_size=40),
    margin=st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(2)]),
)
def test_a_verdict_says_where_the_interval_lies(gaps, margin):
    found = decide(gaps, margin, 0.05)
    low, high = map(float, found["interval"])
    verdict = found["verdict"]
    if verdict == "better":
        assert low >= 0
    elif verdict == "worse":
        assert high <= 0
        assert low <= -float(margin) + 1e-6
    elif verdict == "no_worse":
        assert not any(gaps) or low >= -float(margin) - 1e-6
    else:
        assert low <= 0 <= high + 1e-6
        assert low <= -float(margin) + 1e-6
    wider = decide(gaps, margin + 1, 0.05)["verdict"]
    assert not (verdict in ("better", "no_worse") and wider in ("worse", "undecided"))


@pytest.mark.parametrize(
    ("key", "run_metadata"),
    [
        ("judge_model", {"judge_model": "other-judge"}),
        ("protocol_version", {"protocol_version": "p-2"}),
        ("judge_prompt_version", {"judge_prompt_version": "jp-2"}),
        ("phase", {"phase": 2}),
    ],
)
def test_what_was_judged_otherwise_is_refused_with_the_remedy_and_let_pass_when_asked(
    ledgers, folder, capsys, key, run_metadata
):
    bundle = {**bundle_of(ledgers["scores"]["up"], "judge"), **run_metadata}
    if key == "phase":
        for entry in bundle["per_file_scores"]:
            entry["evidence"] = dict.fromkeys(entry["scores"], "quoted")
    other = labelled(folder, f"differs-{key}", bundle)
    assert main(["gate", str(ledgers["base"]), str(other)]) == 2
    told = capsys.readouterr().err
    assert f"--mix {key}" in told
    assert key in told
    assert main(["gate", str(ledgers["base"]), str(other), "--mix", key, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["flags"] == [f"different_{key}"]


def test_several_generators_of_one_artifact_are_refused_until_one_is_chosen(ledgers, folder, capsys):
    both = labelled(
        folder,
        "both",
        *(bundle_of(ledgers["scores"][name], "judge", generator_model=f"v-{name}") for name in ("base", "up")),
    )
    assert main(["gate", str(ledgers["base"]), str(both)]) == 2
    assert "--candidate-where generator_model=" in capsys.readouterr().err
    chosen = ["--base-where", "generator_model=v-base", "--candidate-where", "generator_model=v-up"]
    assert main(["gate", str(both), str(both), *chosen]) == 0


def test_alpha_is_shared_among_the_verdicts(ledgers):
    one = run(ledgers, "base", "other")
    many = run(ledgers, "base", "other", measures=("total", "A_structure"))
    assert (one["alpha_each"], many["alpha_each"]) == (0.05, 0.025)
    narrow, wide = one["results"][0]["interval"], many["results"][0]["interval"]
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_a_refusal_replaces_the_files_of_an_earlier_run(ledgers, tmp_path, capsys):
    xml, summary = tmp_path / "gate.xml", tmp_path / "gate.md"
    given = ["--junit", str(xml), "--markdown", str(summary)]
    assert main(["gate", str(ledgers["base"]), str(ledgers["base"]), *given]) == 0
    bundle = {**bundle_of(truth(12, 1), "judge"), "judge_prompt_version": "<v2>"}
    other = labelled(tmp_path, "other", bundle)
    capsys.readouterr()
    assert main(["gate", str(ledgers["base"]), str(other), *given]) == 2
    said = capsys.readouterr().err
    suite = ET.fromstring(xml.read_text())
    assert (suite.get("errors"), suite.get("failures")) == ("1", "0")
    [error] = suite.findall("testcase/error")
    assert f"normalizer: {error.get('message')}\n" == said
    assert summary.read_text().startswith("### Evaluation gate: not comparable")
    assert "<v2>" not in summary.read_text()
    assert main(["gate", str(ledgers["base"]), str(ledgers["base"]), "--junit", str(tmp_path / "no" / "x.xml")]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_ci_gets_junit_and_markdown(ledgers, tmp_path, capsys):
    xml, summary = tmp_path / "gate.xml", tmp_path / "gate.md"
    command = ["gate", str(ledgers["up"]), str(ledgers["base"]), "--measure", "total", "--measure", "A_structure"]
    assert main([*command, "--junit", str(xml), "--markdown", str(summary)]) == 1
    suite = ET.parse(xml).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    assert [case.get("name") for case in suite.iter("testcase")] == ["total", "A_structure"]
    assert suite[0][0].get("type") == "worse"
    assert summary.read_text().startswith("### Evaluation gate: fail\n")
    assert "gate: fail" in capsys.readouterr().err


def test_names_that_xml_cannot_hold_are_written_all_the_same(ledgers):
    document = run(ledgers, "up", "base")
    document["results"][0] |= {"key": {"factors.x": 'a<&"\x00'}, "why": "<"}
    case, told = ET.fromstring(junit(document).encode())
    assert (case.get("name") or "").startswith("factors.x=")
    assert "<" in (told.text or "")


def test_a_candidate_that_lost_its_worst_half_to_invalid_records_says_so_everywhere(ledgers, folder, tmp_path, capsys):
    bundle = bundle_of(better(ledgers["scores"]["base"]), "judge", generator_model="v-half")
    for entry in bundle["per_file_scores"][:20]:
        entry["scores"]["A_structure"] = 9
    half = labelled(folder, "half", bundle)
    capsys.readouterr()
    files = tmp_path / "gate.xml", tmp_path / "gate.md"
    assert main(["gate", str(ledgers["base"]), str(half), "--junit", str(files[0]), "--markdown", str(files[1])]) == 0
    for told in (capsys.readouterr().out, *(file.read_text() for file in files)):
        assert "in no pair: 20 artifacts of base" in told
        assert "Left out of candidate, of 40 records: invalid 20." in told


@pytest.mark.parametrize(("margin", "said"), [("x", "not a number"), ("-1", "negative")])
def test_a_margin_that_makes_no_sense_is_refused(ledgers, capsys, margin, said):
    assert main(["gate", str(ledgers["base"]), str(ledgers["up"]), f"--margin={margin}"]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("key", ["judge_model", "run_id", "factors.topic"])
def test_a_group_is_decided_by_its_own_records_alone(folder, key):
    real = truth(30, 6)
    sides = {}
    for side, scores in (("before", (real, real)), ("after", (better(real), better(real, -1)))):
        given = {file: {name: max(0, score) for name, score in each.items()} for file, each in scores[1].items()}
        bundles = [
            bundle_of(each, judge, generator_model="g", run_id=run_id, factors={"topic": topic})
            for each, judge, run_id, topic in ((scores[0], "kind", "r1", "law"), (given, "harsh", "r2", "art"))
        ]
        sides[side] = labelled(folder, f"{side}-{key}", *bundles)
    found = gate(sides["before"], sides["after"], Options(by=(key,)), GateOptions())
    assert {result["verdict"] for result in found["results"]} == {"better", "worse"}
    for result in found["results"]:
        [alone] = gate(sides["before"], sides["after"], Options(where=result["key"]), GateOptions(alpha=0.025))[
            "results"
        ]
        assert {**alone, "key": result["key"]} == result
