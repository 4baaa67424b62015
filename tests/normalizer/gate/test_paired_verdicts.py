"""Gates: the verdict by hand and by SciPy, what is refused, and what CI reads."""

import json
import xml.etree.ElementTree as ET
from fractions import Fraction

import contract_spec as spec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from normalizer.aggregate.summary import Options
from normalizer.cli import main
from normalizer.estimation.clusters import gather
from normalizer.estimation.paired_test import ASSUMPTIONS
from normalizer.gate.paired_verdicts import MISSING, GateOptions, gate
from normalizer.gate.verdict import Terms, decide, tipping_point, with_worst
from normalizer.tables.formats import dumps
from normalizer.tables.gate_table import junit
from tests.support.bundles import DIMENSIONS
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


@pytest.mark.parametrize("assume", ["scale", "spread"])
def test_interval_and_p_are_those_of_scipy_or_of_random_weights(ledgers, assume):
    one, other = (
        np.array([sum(given.values()) for given in ledgers["scores"][name].values()]) for name in ("base", "other")
    )
    gaps = (other - one).astype(float)
    document = run(ledgers, "base", "other", assume=assume)
    [found] = document["results"]
    assert (document["assume"], found["assumes"]) == (assume, assume)
    assert ASSUMPTIONS[assume] in found["why"]
    if assume == "spread":
        test = stats.ttest_1samp(gaps, 0)
        p, ends = test.pvalue, test.confidence_interval(0.95)
    else:
        weights = np.random.default_rng(1).dirichlet(np.ones(41), 100_000)
        below, above = (weights @ [*gaps, end] for end in (-10, 10))
        p = min(1, 2 * min((below <= 0).mean(), (above >= 0).mean()))
        ends = np.quantile(below, 0.025), np.quantile(above, 0.975)
    assert float(found["p"]) == pytest.approx(p, abs=0.01)
    assert [float(end) for end in found["interval"]] == pytest.approx(ends, abs=0.02)
    assert (found["improved"], found["worsened"]) == ((other > one).sum(), (other < one).sum())


def test_an_always_valid_gate_is_wider_and_assumes_nothing_but_the_scale(ledgers, capsys):
    once, often = (run(ledgers, "base", "other", always_valid=often)["results"][0] for often in (False, True))
    assert often["interval"][0] < once["interval"][0] < once["interval"][1] < often["interval"][1]
    assert "as often as one likes" in often["why"]
    assert run(ledgers, "base", "up", always_valid=True)["verdict"] == "pass"
    command = ["gate", str(ledgers["base"]), str(ledgers["up"]), "--always-valid"]
    assert main(command) == 0
    assert "as often as one likes" in " ".join(capsys.readouterr().out.split())
    assert main([*command, "--assume", "spread"]) == 2
    assert "leave out --assume spread" in capsys.readouterr().err


def test_a_run_of_the_pairs_needed_would_pass_and_the_note_says_how_many(ledgers, capsys):
    [found] = run(ledgers, "base", "other", margin=Fraction(1, 2))["results"]
    assert found["pairs_needed"] > found["n"]
    main(["gate", str(ledgers["base"]), str(ledgers["other"]), "--margin", "0.5"])
    told = " ".join(capsys.readouterr().out.split())
    assert f"passes four times in five with {found['pairs_needed']} pairs" in told
    assert "is called worse in at most 2.5 % of runs" in told


def test_equal_runs_pass_only_within_a_margin_that_so_many_pairs_can_show(ledgers, folder):
    [found] = run(ledgers, "base", "same")["results"]
    assert (found["verdict"], found["passes"], found["p"]) == ("undecided", False, 1)
    assert "give a --margin" in found["why"]
    [found] = run(ledgers, "base", "same", margin=Fraction(1))["results"]
    assert (found["verdict"], found["passes"]) == ("equivalent", True)
    few = dict(list(ledgers["scores"]["up"].items())[:5])
    small, start = (
        labelled(folder, name, bundle_of(given, "judge"))
        for name, given in (("small", few), ("start", {file: ledgers["scores"]["base"][file] for file in few}))
    )
    [found] = gate(start, small, Options(), GateOptions())["results"]
    assert (found["verdict"], found["passes"]) == ("undecided", False)
    assert gate(start, small, Options(), GateOptions(undecided_passes=True))["verdict"] == "pass"


def test_ten_equal_pairs_do_not_show_that_one_answer_in_ten_is_not_worse():
    found = decide(gather([Fraction(0)] * 10), Terms(Fraction(1), Fraction(5, 100), 0.05))
    assert found.verdict == "undecided"
    assert float(-found.interval[0]) == pytest.approx(1 - 0.025**0.1)


GAPS = st.lists(st.integers(-3, 3).map(Fraction), min_size=1, max_size=30)
MARGINS = st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(2)])
ASSUME = st.sampled_from([*ASSUMPTIONS])


@settings(max_examples=60)
@given(gaps=GAPS, margin=MARGINS, assume=ASSUME, always_valid=st.booleans())
def test_verdict_p_and_interval_say_the_same(gaps, margin, assume, always_valid):
    found = decide(gather(gaps), Terms(Fraction(6), margin, 0.05, assume, always_valid))
    low, high = found.interval
    assert -6 <= low < high <= 6
    assert (found.verdict == "better") is (low >= 0)
    assert (found.p <= 0.05) is (low >= 0 or high <= 0)
    assert (found.verdict == "better") is (found.p <= 0.05 and sum(gaps) > 0)
    assert found.verdict != "worse" or (found.p <= 0.05 and sum(gaps) < 0)
    within = margin > 0 and low >= -margin
    assert (found.verdict in ("equivalent", "no_worse")) is (within and found.verdict != "better")
    assert found.verdict != "equivalent" or high <= margin
    assert (found.p > 0.05) is (low < 0 < high) or 0 in (low, high)
    wider = decide(gather(gaps), Terms(Fraction(6), margin + 1, 0.05, assume, always_valid))
    assert wider.passes or not found.passes


@settings(max_examples=20)
@given(gaps=GAPS, margin=MARGINS)
def test_a_pass_stays_one_with_fewer_losses_than_its_tipping_point(gaps, margin):
    differences, terms = gather(gaps), Terms(Fraction(6), margin, 0.05)
    tips = tipping_point(differences, terms)
    assert (tips > 0) is decide(differences, terms).passes
    if tips:
        assert decide(with_worst(differences, {Fraction(-6): tips - 1}), terms).passes
        assert not decide(with_worst(differences, {Fraction(-6): tips}), terms).passes


@settings(max_examples=20)
@given(gaps=GAPS, times=st.integers(2, 4))
def test_answers_that_repeat_those_of_their_item_add_nothing(gaps, times):
    items = list(range(len(gaps)))
    terms = Terms(Fraction(6), Fraction(1), 0.05)
    once, again = decide(gather(gaps, items), terms), decide(gather(gaps * times, items * times), terms)
    assert once.verdict == again.verdict
    assert float(once.p) == pytest.approx(float(again.p), abs=1e-9)
    assert [float(end) for end in once.interval] == pytest.approx([float(end) for end in again.interval], abs=1e-7)


@pytest.mark.parametrize("how", ["dropped", "invalid", "renamed"])
def test_a_candidate_that_lost_its_bad_answers_does_not_pass(folder, capsys, how):
    good, bad = (dict.fromkeys(DIMENSIONS, score) for score in (2, 0))
    files = [f"f{number:02}" for number in range(60)]
    base = labelled(folder, f"base-{how}", bundle_of(dict.fromkeys(files, good), "judge"))
    bundle = bundle_of({file: good if place < 12 else bad for place, file in enumerate(files)}, "judge")
    entries = bundle["per_file_scores"]
    if how == "dropped":
        bundle["per_file_scores"] = entries[:12]
    for entry in entries[12:]:
        if how == "invalid":
            entry["scores"]["A_structure"] = 9
        elif how == "renamed":
            entry["file"] += "-new"
    candidate = labelled(folder, f"candidate-{how}", bundle)
    command = ["gate", str(base), str(candidate), "--margin", "8"]
    assert main(command) == 1
    assert "48 of 60 artifacts of base have no pair, more than 5 %" in capsys.readouterr().out
    assert main([*command, "--allow-undecided"]) == 1
    assert main([*command, "--missing", "worst"]) == 1
    assert "count as the worst score" in capsys.readouterr().out
    assert main([*command, "--missing", "worst", "--format", "json"]) == 1
    [result] = [one for one in json.loads(capsys.readouterr().out)["results"] if one["measure"] == "total"]
    assert result["interval"][0] <= result["difference"] <= result["interval"][1]
    assert main([*command, "--missing", "ignore"]) == 0


def test_few_missing_answers_turn_a_pass_only_if_their_worst_scores_would(ledgers, folder):
    lost = dict(list(ledgers["scores"]["base"].items())[1:])
    one_less = labelled(folder, "one-less", bundle_of(lost, "judge"))
    verdicts = {
        margin: gate(ledgers["base"], one_less, Options(), GateOptions(margin=Fraction(margin)))["results"][0]
        for margin in ("0.91", "1.4")
    }
    assert [found["verdict"] for found in verdicts.values()] == ["undecided", "equivalent"]
    assert "with the worst score for them it would not pass" in verdicts["0.91"]["why"]


def test_a_group_of_self_judged_records_alone_gets_no_verdict(folder, capsys):
    real = truth(30, 6)
    sides = []
    for name, scores in (("old", real), ("new", better(real))):
        bundles = [
            bundle_of(scores, "vain", generator_model="vain", self_judged=True),
            bundle_of({f"x{file}": given for file, given in scores.items()}, "vain", generator_model="other"),
        ]
        sides.append(str(labelled(folder, f"vain-{name}", *bundles)))
    assert main(["gate", *sides, "--by", "generator_model"]) == 2
    assert "all records of base with generator_model = vain are self-judged" in capsys.readouterr().err
    assert main(["gate", *sides]) == 0


def test_a_candidate_without_one_question_is_no_gain_where_questions_share_names_of_files(folder, capsys):
    good, bad = ({f"answer-{n}": dict.fromkeys(DIMENSIONS, value) for n in range(10)} for value in (2, 0))
    first, second = ({"factors": {"question_id": name}} for name in ("q1", "q2"))
    base = labelled(folder, "names-base", bundle_of(good, "judge", **first), bundle_of(bad, "judge", **second))
    candidate = labelled(folder, "names-candidate", bundle_of(good, "judge", **first))
    assert main(["gate", str(base), str(candidate)]) == 2
    assert "differ in factors.question_id (q1 and q2)" in capsys.readouterr().err


@pytest.mark.parametrize("missing", MISSING)
def test_pairs_of_self_judged_records_alone_get_no_verdict(missing, folder):
    real = truth(20, 7)
    own = {"generator_model": "vain", "self_judged": True}
    one_more = {**real, "z": real[min(real)]}  # an artifact that only base has
    base = labelled(
        folder,
        f"own-base-{missing}",
        bundle_of(real, "vain", **own),
        bundle_of(one_more, "kind", generator_model="vain"),
    )
    others = {f"y{file}": given for file, given in real.items()}
    candidate = labelled(
        folder,
        f"own-candidate-{missing}",
        bundle_of(better(real), "vain", **own),
        bundle_of(others, "kind", generator_model="vain"),
    )
    [found] = gate(base, candidate, Options(), GateOptions(undecided_passes=True, missing=missing))["results"]
    assert (found["verdict"], found["passes"]) == ("undecided", False)
    assert "self-judged" in found["why"]


def test_artifacts_of_one_item_are_one_cluster(folder, capsys):
    real = truth(40, 8)
    sides = []
    for name, scores in (("one", real), ("two", better(noisy(real, 3, 0.2)))):
        files = list(scores)
        bundles = [bundle_of({file: scores[file] for file in files[36:]}, "judge")]
        for number in range(8):
            own = {file: scores[file] for file in files[number:36:8]}
            bundles.append(bundle_of(own, "judge", factors={"question": f"q{number}"}))
        sides.append(labelled(folder, f"questions-{name}", *bundles))
    assert main(["gate", *map(str, sides), "--cluster", "factors.question", "--format", "json"]) in (0, 1)
    [found] = json.loads(capsys.readouterr().out)["results"]
    assert (found["n"], found["items"]) == (40, 12)
    main(["gate", *map(str, sides), "--cluster", "factors.question"])
    assert "40 pairs from 12 items." in capsys.readouterr().out


def test_a_verdict_does_not_depend_on_names_or_order(folder):
    real = truth(30, 9)
    other = noisy(real, 4, 0.5)
    found = []
    for number, (before, after) in enumerate((("", "g"), ("zz", "h"))):
        base, candidate = (
            labelled(
                folder,
                f"names-{number}-{side}",
                bundle_of({f"{before}{file}": scores[file] for file in order}, f"judge {after}", generator_model=after),
            )
            for side, scores, order in (("a", real, list(real)), ("b", other, list(real)[:: 1 - 2 * number]))
        )
        found.append(gate(base, candidate, Options(), GateOptions(margin=Fraction(1)))["results"])
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("key", "run_metadata"),
    [
        ("judge_model", {"judge_model": "other-judge"}),
        ("protocol_version", {"protocol_version": "p-2"}),
        ("judge_prompt_version", {"judge_prompt_version": "jp-2"}),
        ("judge_version", {"judge_version": "2026-10"}),
        ("judge_prompt_sha256", {"judge_prompt_sha256": "ab" * 32}),
        ("judge_settings", {"judge_settings": "temperature 1"}),
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
    assert main(["gate", str(ledgers["base"]), str(ledgers["base"]), "--margin", "2", *given]) == 0
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
    assert main(["gate", str(ledgers["base"]), str(half), "--junit", str(files[0]), "--markdown", str(files[1])]) == 1
    for told in (capsys.readouterr().out, *(file.read_text() for file in files)):
        assert "in no pair: 20 artifacts of base" in told
        assert "Left out of candidate, of 40 records: invalid 20." in told


@pytest.mark.parametrize(
    ("margin", "said"),
    [
        ("x", "not a number"),
        ("-1", "negative"),
        (str(2 * len(DIMENSIONS)), f"lets everything pass: total can differ by {2 * len(DIMENSIONS)} at most"),
        ("1e400", "lets everything pass"),
    ],
)
def test_a_margin_that_makes_no_sense_is_refused(ledgers, capsys, margin, said):
    assert main(["gate", str(ledgers["base"]), str(ledgers["up"]), f"--margin={margin}"]) == 2
    assert said in capsys.readouterr().err


def test_a_side_of_which_nothing_counts_says_what_there_is(ledgers, folder, capsys):
    bundle = bundle_of(dict.fromkeys(list(ledgers["scores"]["up"])[:3], dict.fromkeys(DIMENSIONS, 9)), "judge")
    none = labelled(folder, "none", bundle)
    assert main(["gate", str(ledgers["base"]), str(none)]) == 2
    told = capsys.readouterr().err
    assert "candidate has no record that counts: 3 invalid; `normalizer audit LEDGER` says why" in told
    assert main(["audit", str(none)]) == 0


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
