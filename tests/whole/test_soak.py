"""The soak itself: it runs, and notices what it is there to notice."""

import random
import sys
from typing import Any

import pytest

from tests.support.lacking import lacking
from tools.soak import results, run
from tools.soak.faults import KINDS
from tools.soak.results import problems
from tools.soak.servers import Cost, Stdio, answers_of


@pytest.fixture
def linux():
    if not sys.platform.startswith("linux"):
        lacking("needs /proc")


def test_a_short_soak_finds_nothing(linux, tmp_path, capsys):
    path = tmp_path / "curve.csv"
    assert run.main(["--minutes", "0.05", "--curve", str(path)]) == 0
    assert "requests to each server" in capsys.readouterr().out
    head, *rows = path.read_text().splitlines()
    assert head == "server,minutes,requests,resident_kib,descriptors,threads"
    assert rows[0].startswith("stdio,0.00,0,")
    assert {row.partition(",")[0] for row in rows} == {"stdio", "http", "mcp", "no cache"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_is_survived(linux, tmp_path, kind):
    soaked = run.Soak(tmp_path, random.Random(1))
    question = ("grep", {"pattern": "needle"})
    soaked.step()
    getattr(soaked.faults, kind)(question, soaked.reference.ask([question])[0])
    soaked.faults.counts[kind] = 1
    soaked.step()
    soaked.close()
    assert soaked.wrong + soaked.faults.wrong == []


def test_a_stale_answer_is_told(linux, tmp_path, monkeypatch, capsys):
    honest = Stdio.ask
    first: dict[tuple[int, str], Any] = {}

    def stale(server, questions):
        answers = honest(server, questions)
        return [
            first.setdefault((server.process.pid, str(one)), answer)
            for one, answer in zip(questions, answers, strict=True)
        ]

    monkeypatch.setattr(Stdio, "ask", stale)
    assert run.main(["--minutes", "5", "--curve", str(tmp_path / "curve.csv")]) == 1
    assert " instead of " in capsys.readouterr().out


def test_answers_out_of_order_are_told():
    lines = [b'{"id": "1", "ok": true, "result": {}}', b'{"id": "0", "ok": true, "result": {}}']
    with pytest.raises(AssertionError, match="out of order"):
        answers_of(lines)


def test_a_log_with_lines_that_cannot_be_read_or_without_answers_is_told(tmp_path):
    log = tmp_path / "log"
    request = '{"ts":"2026-01-01T00:00:00Z","event":"request","id":"1","op":"stat","args":{"paths":["a"]}}\n'
    log.write_text(request + "torn\n")
    assert [line.split()[1] for line in problems("x", log, 0, 0)] == ["1", "1"]


def test_growth_is_told_and_a_wavering_is_not():
    flat = [Cost(50_000 + 500 * (number % 3), 10 + number % 2, 1) for number in range(40)]
    assert results.list_growth("x", flat) == []
    grows = [Cost(50_000 + 1_000 * number, 10 + number, 1 + number // 5) for number in range(40)]
    assert [line.split()[1] for line in results.list_growth("x", grows)] == ["resident_kib", "descriptors", "threads"]
