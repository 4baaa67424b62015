"""Every command opens each of its ledgers once, so that all its numbers are of one state."""

import fcntl
import os
from collections import Counter

import pytest

from normalizer.cli import main
from tests.support.comparing import compared, drawn
from tests.support.labelling import bundle_of, labelled, noisy, truth

COMMANDS = {
    "aggregate": ["one"],
    "aggregate two": ["one", "base"],
    "aggregate --sensitivity": ["--sensitivity", "one"],
    "agreement": ["one"],
    "plan": ["one"],
    "audit --claims": ["--claims", "one"],
    "audit": ["one"],
    "list": ["one"],
    "explain": ["one", "f001"],
    "preferences": ["duel"],
    "calibrate": ["one", "--gold", "gold"],
    "gate": ["base", "one"],
    "gate with itself": ["one", "one"],
    "audit --artifacts": ["one", "--artifacts", "."],
    "check": ["table.csv", "one", "--by", "judge_model"],
    "export": ["one", "base", "--to", "csv"],
    "export eee": [
        "one",
        "--to",
        "eee",
        "--out",
        "eee",
        "--organization",
        "us",
        "--retrieved",
        "0",
        "--developer",
        "them",
    ],
    "report": ["one", "--out", "page.html", "--preferences", "duel", "--gold", "gold", "--base", "base"],
    "report against itself": ["one", "--out", "page.html", "--gold", "one", "--gold", "gold", "--base", "one"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("once")
    real = truth(12, 1)
    labelled(folder, "one", bundle_of(noisy(real, 2, 0.3), "judge"))
    labelled(folder, "base", bundle_of(noisy(real, 3, 0.6), "judge"))
    labelled(folder, "gold", bundle_of(noisy(real, 4, 0.1), "anna", judge_kind="human"))
    compared(folder, drawn({"x": 0.5, "y": 0.0}, 12, 1), "duel")
    (folder / "table.csv").write_text("judge_model,n\njudge,12\n")
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_opens_each_ledger_once(command, folder, monkeypatch):
    locks = {(path / ".lock").stat().st_ino: path.name for path in folder.iterdir() if (path / ".lock").exists()}
    opened: Counter[str] = Counter()
    flock = fcntl.flock

    def counted(descriptor, operation):
        opened[locks[os.fstat(descriptor).st_ino]] += 1
        flock(descriptor, operation)

    monkeypatch.chdir(folder)
    monkeypatch.setattr(fcntl, "flock", counted)
    args = COMMANDS[command]
    assert main([command.partition(" ")[0], *args]) in (0, 1)
    assert opened == {name: 1 for name in locks.values() if name in args}
