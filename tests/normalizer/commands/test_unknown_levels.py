"""A level that no record has is told with the one that was probably meant, by every command that selects."""

import json
from pathlib import Path

import pytest

from normalizer.cli import main
from tests.support.bundles import bundle, entry


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("levels")
    for name in ("maple", "oak"):
        document = bundle(entry("a"), entry("b"), generator_model=name)
        (folder / f"{name}.json").write_text(json.dumps(document))
    main(["normalize", *map(str, sorted(folder.glob("*.json"))), "--out", str(folder / "ledger")])
    return folder / "ledger"


@pytest.mark.parametrize("command", ["aggregate", "agreement", "calibrate", "compare", "gate", "plan"])
def test_a_level_with_a_slip_is_told_with_the_one_that_was_meant(ledger, capsys, command):
    main([command, *[str(ledger)] * (1 + (command == "gate")), "--where", "generator_model=mapel"])
    assert "no record has generator_model = mapel: did you mean maple?" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["calibrate", "compare"])
def test_a_refusal_of_another_kind_says_nothing_of_levels(ledger, capsys, command):
    assert main([command, str(ledger), "--where", "generator_model=maple"]) == 2
    assert "no record has" not in capsys.readouterr().err


def test_each_side_of_a_gate_is_told_apart(ledger, capsys):
    sides = ["--base-where", "generator_model=maple", "--candidate-where", "generator_model=ok"]
    assert main(["gate", str(ledger), str(ledger), *sides]) == 2
    told = capsys.readouterr().err
    assert told.count("no record has") == 1
    assert "no record has generator_model = ok: did you mean oak?" in told


def test_rows_of_a_list_stand_in_columns_below_their_heading(ledger, capsys):
    main(["list", str(ledger)])
    heading, *rows = capsys.readouterr().out.splitlines()
    starts = [heading.index(name) for name in ("id", "kind", "file", "judge", "reasons", "bundle")]
    assert len(rows) == 4
    assert all(row[start - 1] == " " and row[start] != " " for row in rows for start in starts[1:])
