"""Gates on comparisons: rates against a common baseline, paired by item, judge and order shown."""

import json
from collections import defaultdict
from fractions import Fraction

import contract_spec as spec
import numpy as np
import pytest

from normalizer.aggregate.summary import Options
from normalizer.cli import main
from normalizer.documents.exact import round_exact
from normalizer.estimation.clusters import gather
from normalizer.gate.paired_verdicts import GateOptions, gate
from normalizer.gate.verdict import Terms, decide
from normalizer.statistics.spread import ends
from normalizer.tables.formats import dumps
from tests.support.comparing import compared, drawn
from tests.support.labelling import bundle_of, labelled, truth

WORTH = {"a": 1.0, "draw": 0.5, "b": 0.0}


def side(name, strength, seed, items=40):
    """Verdicts on a generator against the baseline `old`, the generator standing second in the entries."""
    return drawn({"old": 0.0, name: strength}, items, seed, first=0.3)


@pytest.fixture(scope="module")
def entries():
    return {"v1": side("v1", 0.0, 1), "v2": side("v2", 2.5, 2), "v3": side("v3", 0.0, 3)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("duels")


@pytest.fixture(scope="module")
def ledgers(folder, entries):
    return {name: compared(folder, given, name) for name, given in entries.items()}


def run(base, candidate, **terms):
    found = gate(base, candidate, Options(), GateOptions(baseline="old", **terms))
    assert spec.violations("eval/gate.json", json.loads(dumps(found))) == []
    return found


def rates(entries):
    """The generator's mean score on each item; in the entries it is B, since `old` sorts first."""
    found = defaultdict(list)
    for entry in entries:
        found[entry["item"]].append(1 - WORTH[entry["verdict"]])
    return np.array([np.mean(found[item]) for item in sorted(found)])


def test_pairs_are_the_items_rates(ledgers, entries):
    [found] = run(ledgers["v1"], ledgers["v3"])["results"]
    gaps = [Fraction(gap) for gap in rates(entries["v3"]) - rates(entries["v1"])]
    assert found["difference"] == round_exact(sum(gaps, Fraction(0)) / 40)
    assert found["interval"] == ends(decide(gather(gaps), Terms(Fraction(1), Fraction(0), 0.05)).interval)
    assert (found["measure"], found["n"]) == ("rate", 40)
    assert float(found["base"]) == pytest.approx(rates(entries["v1"]).mean(), abs=1e-6)


def test_a_better_candidate_passes_and_turned_round_it_is_worse(ledgers):
    up, down = run(ledgers["v1"], ledgers["v2"]), run(ledgers["v2"], ledgers["v1"])
    assert (up["verdict"], up["results"][0]["verdict"], up["baseline"]) == ("pass", "better", "old")
    assert (down["verdict"], down["results"][0]["verdict"]) == ("fail", "worse")


def test_only_verdicts_of_the_same_order_are_paired(folder, entries, ledgers):
    """The judge favours the first place: a candidate that was always shown first must not look better for it."""
    one = compared(folder, [entry for entry in entries["v1"] if entry["order"] == "ab"], "only-ab")
    other = compared(folder, [entry for entry in entries["v1"] if entry["order"] == "ba"], "only-ba")
    [found] = run(one, other)["results"]
    assert (found["n"], found["only_in_base"], found["only_in_candidate"], found["verdict"]) == (
        0,
        40,
        40,
        "incomplete",
    )
    [found] = run(one, ledgers["v1"])["results"]
    assert (found["n"], found["equal"], found["p"]) == (40, 40, 1)


def test_the_command_prints_it_and_needs_the_baseline(ledgers, capsys):
    command = ["gate", str(ledgers["v1"]), str(ledgers["v2"])]
    assert main(command) == 2
    assert "--baseline NAME" in capsys.readouterr().err
    assert main([*command, "--baseline", "nobody"]) == 2
    assert "has no comparison with nobody" in capsys.readouterr().err
    assert main([*command, "--baseline", "old", "--margin", "0.05"]) == 0
    printed = capsys.readouterr().out
    assert "wins against old, a draw being half a win" in printed
    assert "paired by item, judge and order shown" in printed
    assert main([*command, "--baseline", "old", "--measure", "A_structure"]) == 2
    assert "there are rate" in capsys.readouterr().err


def test_judges_and_criteria_must_agree(ledgers, folder, entries, capsys):
    other = compared(folder, entries["v2"], "other-judge", judge_model="judge-small")
    command = ["gate", str(ledgers["v1"]), str(other), "--baseline", "old"]
    assert main(command) == 2
    assert "--mix judge_model" in capsys.readouterr().err
    assert main([*command, "--mix", "judge_model"]) == 0
    style = compared(folder, [{**entry, "criterion": "style"} for entry in entries["v2"]], "style")
    assert main(["gate", str(ledgers["v1"]), str(style), "--baseline", "old"]) == 2
    assert "criterion is" in capsys.readouterr().err


def test_sides_of_two_kinds_and_several_rivals_are_refused(ledgers, folder, capsys):
    scores = labelled(folder, "scores", bundle_of(truth(12, 1), "judge"))
    assert main(["gate", str(ledgers["v1"]), str(scores), "--baseline", "old"]) == 2
    assert "two of a kind" in capsys.readouterr().err
    assert main(["gate", str(scores), str(scores), "--baseline", "old"]) == 2
    assert "these hold single scores" in capsys.readouterr().err
    assert main(["gate", str(scores), str(scores), "--where", "criterion=style"]) == 2
    assert "criterion is not a key" in capsys.readouterr().err
    many = compared(folder, drawn({"old": 0.0, "v1": 0.5, "v2": 1.0}, 10, 1), "many")
    assert main(["gate", str(many), str(many), "--baseline", "old"]) == 2
    assert "compares v1 and v2 with old" in capsys.readouterr().err
