"""Means that stand beside each other and cannot be compared are flagged, and none of them is bold."""

import pytest

from normalizer.cli import main
from tests.support.studies import Verdict, bundles_of, ledger_of, output

MIDDLE, HIGH = (1, 1, 1, 1, 1), (2, 2, 2, 2, 2)


def flags_of(capsys, ledger, *options):
    return [row["flags"] for row in output(capsys, "aggregate", str(ledger), *options)["rows"]]


def bold_of(capsys, ledger, by):
    """The first cells of the rows whose total is bold."""
    columns = ["--columns", f"{by},total"]
    paper = ["aggregate", str(ledger), "--by", by, "--cells", "mean", "--bold", "highest", "--format", "md", *columns]
    assert main(paper) == 0
    lines = capsys.readouterr().out.split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.split("|")[1:-2]] for line in lines if "**" in line]


def test_generators_with_different_artifacts_are_flagged_and_none_is_bold(tmp_path, capsys):
    """`hard` is better on all artifacts that both have, and its mean is lower, because it was also given hard ones."""
    study = [Verdict("j", "easy", f"a{n}", (1, 1, 1, 1, 1)) for n in range(6)]
    study += [Verdict("j", "hard", f"a{n}", (2, 1, 1, 1, 1) if n < 6 else (0, 0, 0, 0, 0)) for n in range(12)]
    ledger = str(ledger_of(tmp_path, bundles_of(study)))
    rows = output(capsys, "aggregate", ledger, "--by", "generator_model")["rows"]
    assert [row["flags"] for row in rows] == [["different_artifacts"]] * 2
    paper = ["aggregate", ledger, "--by", "generator_model", "--cells", "mean", "--bold", "highest", "--format", "md"]
    assert main(paper) == 0
    printed = capsys.readouterr().out
    assert "**" not in printed
    assert r"different\_artifacts" in printed


def test_generators_scored_by_different_judges_are_flagged_and_none_is_bold(tmp_path, capsys):
    study = [Verdict("lenient", "one", f"a{n}", HIGH) for n in range(6)]
    study += [Verdict("harsh", "other", f"a{n}", MIDDLE) for n in range(6)]
    ledger = ledger_of(tmp_path, bundles_of(study))
    assert flags_of(capsys, ledger, "--by", "generator_model") == [["different_judges"]] * 2
    assert flags_of(capsys, ledger, "--by", "generator_model", "--unit", "record") == [["different_judges"]] * 2
    assert bold_of(capsys, ledger, "generator_model") == []


def test_judges_that_share_the_artifacts_of_generators_unequally_are_different(tmp_path, capsys):
    """Both generators have both judges, but most of one generator's artifacts have the lenient one."""
    judges = {"one": ["lenient"] * 5 + ["harsh"], "other": ["lenient"] + ["harsh"] * 5}
    study = [Verdict(judge, name, f"a{n}", MIDDLE) for name, given in judges.items() for n, judge in enumerate(given)]
    assert (
        flags_of(capsys, ledger_of(tmp_path, bundles_of(study)), "--by", "generator_model")
        == [["different_judges"]] * 2
    )


@pytest.mark.parametrize("judges_of", [lambda n: ["j1", "j2"], lambda n: [f"j{n % 2}"]], ids=["all", "in turn"])
def test_the_same_judges_in_all_rows_are_no_difference(tmp_path, capsys, judges_of):
    study = [
        Verdict(judge, name, f"a{n}", HIGH if name == "one" else MIDDLE)
        for name in ("one", "other")
        for n in range(6)
        for judge in judges_of(n)
    ]
    ledger = ledger_of(tmp_path, bundles_of(study))
    assert flags_of(capsys, ledger, "--by", "generator_model") == [[]] * 2
    assert bold_of(capsys, ledger, "generator_model") == [["one"]]


def test_artifacts_that_one_generator_lacks_do_not_make_its_judges_different(tmp_path, capsys):
    study = [Verdict(j, g, f"a{n}", MIDDLE) for j in "ab" for g, size in (("x", 6), ("y", 9)) for n in range(size)]
    assert (
        flags_of(capsys, ledger_of(tmp_path, bundles_of(study)), "--by", "generator_model")
        == [["different_artifacts"]] * 2
    )


def test_a_generator_that_only_judged_itself_makes_no_difference_to_the_others(tmp_path, capsys):
    study = [Verdict("alone", "alone", f"a{n}", HIGH) for n in range(6)]
    study += [Verdict("j", name, f"a{n}", MIDDLE) for name in ("one", "other") for n in range(6)]
    ledger = ledger_of(tmp_path, bundles_of(study))
    assert flags_of(capsys, ledger, "--by", "generator_model") == [["only_self_judged"], [], []]


def test_levels_of_a_factor_with_judges_of_their_own_are_flagged(tmp_path, capsys):
    study = [Verdict(f"j{n % 2}", "g", f"a{n}", MIDDLE, question=f"q{n % 2}") for n in range(8)]
    ledger = ledger_of(tmp_path, bundles_of(study))
    assert flags_of(capsys, ledger, "--by", "factors.question") == [["different_judges"]] * 2


def test_a_row_that_names_its_judge_is_compared_with_rows_of_that_judge(tmp_path, capsys):
    """The best of each judge is bold: that a lenient judge gives more than a harsh one says nothing of generators."""
    study = [Verdict("harsh", g, f"a{n}", (up, 1, 0, 0, 0)) for g, up in (("x", 0), ("y", 1)) for n in range(6)]
    study += [Verdict("lenient", g, f"a{n}", (up, 2, 2, 2, 2)) for g, up in (("x", 2), ("y", 1)) for n in range(6)]
    ledger = ledger_of(tmp_path, bundles_of(study))
    assert flags_of(capsys, ledger, "--by", "generator_model,judge_model") == [[]] * 4
    assert bold_of(capsys, ledger, "judge_model,generator_model") == [["harsh", "y"], ["lenient", "x"]]
