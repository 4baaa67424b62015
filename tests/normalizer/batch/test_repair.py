"""A damaged ledger is rebuilt from its raw bundles, byte for byte, and what cannot be rebuilt is told."""

import errno
import json
import re
import shutil
from pathlib import Path

import pytest

from normalizer.batch import repair
from normalizer.batch.run import run
from normalizer.cli import main
from tests.normalizer.batch.test_run import made, tree
from tests.support.bundles import bundle, entry
from tests.support.ledgers import without_record


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A ledger with lines in every file, under two settings."""
    folder = tmp_path_factory.mktemp("whole")
    paths = made(folder / "b", 8)
    (folder / "own.json").write_text(json.dumps(bundle(entry("0.pdf"), run_id="own")))
    (folder / "manifest.json").write_text(json.dumps({"files": [{"file": f"{n}.pdf"} for n in range(3)]}))
    main(["normalize", *map(str, paths), "--out", str(folder / "ledger")])
    argv = ["normalize", str(folder / "own.json"), "--manifest", str(folder / "manifest.json")]
    main([*argv, "--out", str(folder / "ledger")])
    return folder / "ledger"


@pytest.fixture
def ledger(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "ledger")
    return tmp_path / "ledger"


def flip(path: Path, text: bytes) -> None:
    data = path.read_bytes()
    assert text in data
    path.write_bytes(data.replace(text, bytes([text[0] ^ 1]) + text[1:], 1))


def other_settings(path: Path) -> None:
    """A line names another document, which is not kept."""
    data = path.read_bytes()
    digest = re.findall(rb'"rubric":"([0-9a-f]{64})"', data)[-1]
    other = (b"1" if digest[:1] == b"0" else b"0") + digest[1:]
    path.write_bytes(other.join(data.rsplit(digest, 1)))


DAMAGES = {
    "a hash of settings in a header": lambda ledger: other_settings(ledger / "headers.jsonl"),
    "a hash of settings in an audit item": lambda ledger: other_settings(ledger / "audit.jsonl"),
    "a record": lambda ledger: flip(ledger / "records.jsonl", b'"scores"'),
    "all records": lambda ledger: (ledger / "records.jsonl").write_bytes(b""),
    "no records": lambda ledger: (ledger / "records.jsonl").unlink(),
    "a count in a header": lambda ledger: flip(ledger / "headers.jsonl", b'"valid"'),
    "the settings in a header": lambda ledger: flip(ledger / "headers.jsonl", b'"rubric"'),
    "the hash in an audit item": lambda ledger: flip(ledger / "audit.jsonl", b'"bundle_sha256"'),
    "the built-in rubric": lambda ledger: flip(built_in(ledger), b'"name"'),
}


def built_in(ledger: Path) -> Path:
    return next(path for path in (ledger / "settings").iterdir() if b"prompt-drift-v1" in path.read_bytes())


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_ledger_is_rebuilt_byte_for_byte(whole, ledger, capsys, damage):
    DAMAGES[damage](ledger)
    before = tree(ledger)
    out = ledger.parent / "rebuilt"
    assert main(["repair", str(ledger), "--out", str(out)]) == 0, capsys.readouterr().err
    assert "nothing is lost" in capsys.readouterr().out
    assert tree(out) == tree(whole)
    assert tree(ledger) == before
    assert main(["audit", str(out)]) == 0


@pytest.mark.parametrize("lost", [["headers"], ["headers", "audit", "records", "invalid"]])
def test_lines_of_several_bundles_in_a_bucket_are_rebuilt_together(tmp_path, capsys, lost):
    ledger = tmp_path / "ledger"
    paths = made(tmp_path / "b", 70)
    main(["normalize", *map(str, paths), "--out", str(ledger)])
    whole = tree(ledger)
    for kind in lost:
        (ledger / f"{kind}.jsonl").unlink()
    assert main(["repair", str(ledger), "--out", str(tmp_path / "rebuilt")]) == 0, capsys.readouterr().err
    assert tree(tmp_path / "rebuilt") == whole


def test_a_damaged_commit_record_is_made_anew(whole, ledger, capsys):
    flip(ledger / "commit.json", b'"files"')
    assert main(["repair", str(ledger), "--out", str(ledger.parent / "rebuilt")]) == 0
    assert "no usable commit.json" in capsys.readouterr().err
    assert tree(ledger.parent / "rebuilt") == tree(whole)


def test_what_cannot_be_rebuilt_is_told(ledger, capsys):
    first, second, *_ = [path for path in sorted((ledger / "bundles").glob("*/*")) if b'"own"' not in path.read_bytes()]
    first.write_bytes(b"changed")
    second.unlink()
    manifest = next(path for path in (ledger / "settings").iterdir() if b'"files"' in path.read_bytes())
    manifest.unlink()
    assert main(["repair", str(ledger), "--out", str(ledger.parent / "rebuilt")]) == 1
    said = capsys.readouterr().err
    assert f"bundle {first.stem}: its raw bytes were changed" in said
    assert f"bundle {second.stem}: its raw bytes are missing" in said
    assert f"{manifest} is missing" in said
    assert "do not have the digests" in said
    assert main(["audit", str(ledger.parent / "rebuilt")]) == 0


def test_settings_are_not_guessed_where_no_digest_proves_them(ledger, capsys):
    without_record(ledger)
    flip(ledger / "headers.jsonl", b'"rubric"')
    flip(ledger / "headers.jsonl", b'"bundle_sha256"')
    assert main(["repair", str(ledger), "--out", str(ledger.parent / "rebuilt")]) == 1
    assert "no digest proves others" in capsys.readouterr().err


def test_a_repair_never_writes_over_something(ledger, capsys):
    assert main(["repair", str(ledger), "--out", str(ledger)]) == 2
    assert "is there already" in capsys.readouterr().err


@pytest.mark.parametrize("cut_before", [1, 2])
def test_a_repair_that_is_cut_leaves_no_part_of_a_ledger(whole, ledger, monkeypatch, cut_before):
    """The ledger has two settings, so two runs make it; after the first it would pass for a whole one."""
    flip(ledger / "records.jsonl", b'"scores"')
    before = sorted(ledger.parent.iterdir())
    runs = []

    def cut(*args, **options):
        runs.append(args)
        if len(runs) == cut_before:
            raise OSError(errno.ENOSPC, "No space left on device")
        return run(*args, **options)

    monkeypatch.setattr(repair, "run", cut)
    out = ledger.parent / "some" / "where" / "rebuilt"
    assert main(["repair", str(ledger), "--out", str(out)]) == 2
    assert len(runs) == cut_before
    assert sorted(ledger.parent.iterdir()) == before
    monkeypatch.undo()
    assert main(["repair", str(ledger), "--out", str(out)]) == 0
    assert tree(out) == tree(whole)
    assert [path.name for path in out.parent.iterdir()] == ["rebuilt"]
