"""What a report writes beside its page: a file a table, each of which says by itself what must be said of it."""

import csv

import pytest

from normalizer.cli import main
from tests.support.bundles import DIMENSIONS, bundle, entry
from tests.support.studies import Verdict, bundles_of, ledger_of, output, refusal
from tests.support.study import normalized


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    return str(normalized(tmp_path_factory.mktemp("exports") / "ledger"))


def exported(tmp_path, ledger, *flags):
    """Every exported table, by the name of its file."""
    assert (
        main(["report", ledger, "--out", str(tmp_path / "r.html"), "--tables", str(tmp_path / "tables"), *flags]) == 0
    )
    return {path.name: path.read_text() for path in (tmp_path / "tables").iterdir() if path.name != "all.tex"}


def test_every_table_says_that_it_is_diagnostic(ledger, tmp_path):
    for name, text in exported(tmp_path, ledger, "--diagnostic", "--where", "phase=0").items():
        assert "diagnostic" in text.lower(), name


@pytest.mark.parametrize("form", ["json", "csv", "md", "text"])
def test_a_check_of_a_diagnostic_table_says_so(ledger, tmp_path, capsys, form):
    (tmp_path / "table.csv").write_text("n,total\n1,0\n")
    flags = ["--diagnostic", "--where", "phase=0", "--format", form]
    assert main(["check", str(tmp_path / "table.csv"), ledger, *flags]) == 1
    assert "diagnostic" in capsys.readouterr().out.lower()


def test_every_table_over_several_phases_says_so(ledger, tmp_path):
    tables = exported(tmp_path, ledger, "--mix", "phase")
    for name, text in tables.items():
        # Versions of a judge are compared, not put together; their phases stand beside them.
        assert "mixed" in text.lower() or name.startswith("drift"), name
    assert "MIXED: records of several phases" in (tmp_path / "r.html").read_text()


def test_nothing_is_said_to_be_mixed_that_is_not(ledger, tmp_path):
    for name, text in exported(tmp_path, ledger, "--where", "phase=1").items():
        assert "mixed" not in text.lower(), name


def test_keys_that_look_alike_in_a_file_name_have_tables_of_their_own(tmp_path):
    runs = [
        bundle(
            entry(f"{one}{two}", scores=dict.fromkeys(DIMENSIONS, (one == "u") + (two == "p"))),
            factors={"a b": one, "a-b": two, "x" * 300: "same"},
        )
        for one in "uv"
        for two in "pq"
    ]
    tables = exported(tmp_path, str(ledger_of(tmp_path, runs)))
    keys: dict[str, str] = {}
    for name in tables:
        if name.startswith("contrast") and name.endswith(".csv"):
            with (tmp_path / "tables" / name).open() as file:
                keys |= {row["key"]: row["levels"] for row in csv.DictReader(file)}
            assert f"\\input{{{name.removesuffix('.csv')}.tex}}" in (tmp_path / "tables" / "all.tex").read_text()
    assert keys == {"factors.a b": "u - v", "factors.a-b": "p - q"}


def test_judges_compared_over_several_phases_are_refused_or_say_so(tmp_path, capsys):
    verdicts = [
        Verdict(judge, "g", artifact, (phase,) * 5, phase=phase)
        for judge in "jk"
        for artifact in "ab"
        for phase in (1, 2)
    ]
    evidence = dict.fromkeys(DIMENSIONS, "quoted")
    runs = bundles_of(verdicts)
    for run in runs:
        for item in run["per_file_scores"]:
            item["evidence"] = evidence
    ledger = str(ledger_of(tmp_path, runs))
    for command in (["agreement"], ["compare", "--by", "judge_model"]):
        refused = refusal(capsys, *command, ledger)
        assert "not mixed silently: choose one with --where phase=2, or ask for it with --mix phase" in refused
        assert output(capsys, *command, ledger, "--mix", "phase")["flags"] == ["mixed_phases"]
        assert output(capsys, *command, ledger, "--where", "phase=2")["flags"] == []
        assert main([*command, ledger, "--mix", "phase", "--format", "text"]) == 0
        assert "MIXED: records of several phases" in capsys.readouterr().out
