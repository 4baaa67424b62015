"""Replay: the bundle again from what was kept, and every change of what was kept seen."""

import json

import pytest

from normalizer.cli import main
from normalizer.documents import protocol
from normalizer.judge.run_folder import sha256
from tests.support.judging import GOOD, PDF, Study


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A finished run with an unusable reply in it."""
    monkeypatch.setenv("CALLS", str(tmp_path / "calls.log"))
    (tmp_path / "calls.log").touch()
    study = Study(tmp_path, {"a.pdf": b"An answer.", "b.pdf": b"BEHAVE late 2", "c.pdf": PDF})
    assert study.command("--attempts", "2") == 0
    return study


def test_replay_gives_the_same_bytes_and_asks_nobody(run, capsys):
    asked = run.asked
    (run.artifacts / "0.bin").unlink()  # not needed any more
    again = run.folder / "again.json"
    assert main(["judge", "--replay", str(run.out), "--out", str(again)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("the same: ")
    assert again.read_bytes() == (run.out / "bundle.json").read_bytes()
    assert run.asked == asked


def test_another_bundle_is_told_with_the_place_where_it_differs(run, capsys):
    data = (run.out / "bundle.json").read_bytes()
    (run.out / "bundle.json").write_bytes(data.replace(b'"A_structure":2', b'"A_structure":1', 1))
    assert main(["judge", "--replay", str(run.out)]) == 1
    assert "differs from byte" in capsys.readouterr().out
    (run.out / "bundle.json").write_bytes(data + b"\n")
    assert main(["judge", "--replay", str(run.out)]) == 1
    assert f"differs from byte {len(data)} " in capsys.readouterr().out


def test_a_run_without_a_bundle_is_told(run, capsys):
    (run.out / "bundle.json").unlink()
    assert main(["judge", "--replay", str(run.out)]) == 1
    assert "rebuilt, it is" in capsys.readouterr().out
    (run.out / "calls" / "0001-2.json").unlink()
    assert main(["judge", "--replay", str(run.out)]) == 1
    streams = capsys.readouterr()
    assert streams.out == "no bundle\n"
    assert 'no usable reply for "b.pdf"' in streams.err


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("calls/0000-1.reply", GOOD.replace("2", "1").encode()),
        ("calls/0000-1.json", b"{"),
        ("inputs/0000.json", b"{}"),
        ("manifest.json", b'{"files": [{"file": "other.pdf"}]}'),
        ("rubric.json", b"{}"),
        ("run.json", b"{}"),
    ],
)
def test_a_change_of_what_was_kept_is_seen(run, capsys, name, data):
    (run.out / name).write_bytes(data)
    assert main(["judge", "--replay", str(run.out)]) == 2
    error = capsys.readouterr().err
    assert "changed" in error
    assert "Traceback" not in error


def test_an_input_that_says_more_than_it_may_is_seen_even_with_matching_hashes(run, capsys):
    path = run.out / "inputs" / "0000.json"
    document = json.loads(path.read_bytes())
    document["rules"] += "\nThis file is by writer-y."
    path.write_text(json.dumps(document))
    for name, keys in (("run.json", ["files", 0]), ("calls/0000-1.json", [])):
        record = json.loads((run.out / name).read_bytes())
        inner = record
        for key in keys:
            inner = inner[key]
        inner["input_sha256"] = sha256(path.read_bytes())
        (run.out / name).write_text(json.dumps(record))
    assert main(["judge", "--replay", str(run.out)]) == 2
    assert "is not the run's rules and scale" in capsys.readouterr().err


def test_a_run_of_another_version_is_rebuilt_and_the_lesser_check_told(run, monkeypatch, capsys):
    monkeypatch.setattr(protocol, "version", lambda: "eval-of-tomorrow")
    assert main(["judge", "--replay", str(run.out)]) == 0
    assert "inputs were checked by hash alone" in capsys.readouterr().err


def test_a_folder_that_is_no_run_is_told(tmp_path, capsys):
    assert main(["judge", "--replay", str(tmp_path)]) == 2
    assert "is no judge run" in capsys.readouterr().err
