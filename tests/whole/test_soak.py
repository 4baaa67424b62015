"""The soak itself: it runs, and notices what it is there to notice."""

import sys
from typing import Any

import pytest

from tests.support.lacking import lacking
from tools.soak import run
from tools.soak.servers import Cost, Stdio


@pytest.fixture
def linux():
    if not sys.platform.startswith("linux"):
        lacking("needs /proc")


def test_a_short_soak_finds_nothing(linux, tmp_path, capsys):
    assert run.main(["--minutes", "0.05", "--curve", str(tmp_path / "curve.csv")]) == 0
    assert "requests to each server" in capsys.readouterr().out
    assert (tmp_path / "curve.csv").read_text().startswith("server,requests,resident_kib,descriptors,threads\nstdio,0,")


def test_a_stale_answer_is_told(linux, tmp_path, monkeypatch, capsys):
    honest = Stdio.ask
    first: dict[tuple[int, str, str], Any] = {}

    def stale(server, op, args):
        answer = honest(server, op, args)
        return first.setdefault((server.process.pid, op, str(args)), answer) if op == "list_files" else answer

    monkeypatch.setattr(Stdio, "ask", stale)
    assert run.main(["--minutes", "5", "--curve", str(tmp_path / "curve.csv")]) == 1
    assert " instead of " in capsys.readouterr().out


def test_growth_is_told_and_a_wavering_is_not():
    flat = [Cost(50_000 + 500 * (number % 3), 10 + number % 2, 1) for number in range(40)]
    assert run.grown("x", flat) == []
    grows = [Cost(50_000 + 1_000 * number, 10 + number, 1 + number // 5) for number in range(40)]
    assert [line.split()[1] for line in run.grown("x", grows)] == ["resident_kib", "descriptors", "threads"]
