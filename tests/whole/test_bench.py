"""The benchmark of changing trees compares every answer it says it compares, on a tiny tree."""

import pytest

from tests.support.lacking import needs
from tools.bench import edits, ripgrep
from tools.bench.servers import ZENO, Server
from zeno.options import is_without

pytestmark = [
    pytest.mark.skipif(ripgrep.PROGRAM is None, reason="no ripgrep"),
    needs("git", "git"),
    pytest.mark.skipif(is_without("inotify"), reason="without inotify no server gets warm"),
]


def plant(root, count):
    root.mkdir()
    for number in range(count):
        (root / f"file{number}.py").write_text(f"def some_name_{number}(): return {number}\n" * 3)


def test_edits_checkouts_and_new_files_are_told_with_no_stale_answer(tmp_path, monkeypatch, capsys):
    plant(tmp_path / "tree", 30)
    for name, value in {
        "EDITS": 12,
        "EDITS_A_MINUTE": 10**6,
        "CHECKOUTS": 2,
        "CREATED": 40,
        "CREATED_AT_ONCE": 20,
    }.items():
        monkeypatch.setattr(edits, name, value)
    edits.race(tmp_path / "tree", seed=1)
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if "at most" in line]
    assert len(rows) == 4
    assert len(list((tmp_path / "tree").iterdir())) == 30
    assert [row[row.index("3x") - 8] for row in rows] == ["0"] * 4


def test_an_answer_that_differs_is_counted_as_stale(tmp_path):
    plant(tmp_path / "one", 3)
    plant(tmp_path / "two", 2)
    with Server([*ZENO, str(tmp_path / "one")]) as warm, Server([*ZENO, str(tmp_path / "two"), "--no-cache"]) as plain:
        pair = edits.Pair(tmp_path / "one", warm, plain)
        pair.ask({"pattern": "some_name_2"})
        pair.ask({"pattern": "some_name_1"}, "some_name_9", compare=False)
        phase = pair.phase("both")
    assert (phase.stale, phase.compared, len(phase.seconds)) == (2, 1, 2)
