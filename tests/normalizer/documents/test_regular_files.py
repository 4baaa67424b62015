"""What may come from somebody else is read only if it is a file: no FIFO blocks, no device fills memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from normalizer.cli import main
from normalizer.documents.artifacts import open_regular, regular_bytes
from tests.support.bundles import bundle, entry
from tests.support.patience import PATIENCE

READING = {
    "audit": [],
    "restore": ["BUNDLE"],
    "sign": ["--key", "KEY", "--out", "SIGNATURE"],
    "verify-signature": ["--signature", "KEY", "--signers", "KEY", "--signer", "x"],
}


@pytest.fixture
def ledger(tmp_path):
    (tmp_path / "b.json").write_text(json.dumps(bundle(entry("a"), entry("b"))))
    assert main(["normalize", str(tmp_path / "b.json"), "--out", str(tmp_path / "ledger")]) == 0
    (tmp_path / "key").write_text("no key")
    return tmp_path / "ledger"


def fifo(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def never_ending(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [fifo, never_ending])
def test_only_a_file_is_read(tmp_path, make):
    make(tmp_path / "x")
    before = set(os.listdir("/dev/fd"))
    for read in (open_regular, regular_bytes):
        with pytest.raises(OSError, match="not a regular file"):
            read(tmp_path / "x")
    assert set(os.listdir("/dev/fd")) == before
    (tmp_path / "file").write_bytes(b"bytes")
    (tmp_path / "link").symlink_to("file")
    assert regular_bytes(tmp_path / "link") == b"bytes"


def run(*argv: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own: one that blocks is ended, and fails the test."""
    command = [sys.executable, "-m", "normalizer", *argv]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize("place", ["commit.json", "bundles", "settings"])
def test_no_fifo_in_a_ledger_blocks_its_reader(ledger, command, place):
    odd = ledger / place if place == "commit.json" else next((ledger / place).iterdir())
    sha256 = next((ledger / "bundles").iterdir()).stem
    fifo(odd)
    named = {"BUNDLE": sha256, "KEY": str(ledger.parent / "key"), "SIGNATURE": str(ledger.parent / "out.sig")}
    done = run(command, str(ledger), *(named.get(flag, flag) for flag in READING[command]))
    if (command, place) == ("restore", "settings"):
        # It writes raw bytes, and needs no settings for that.
        assert done.returncode == 0
    else:
        assert done.returncode in (1, 2)
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("argv", [["check", "ODD", "LEDGER"], ["build", "ODD"], ["sign", "LEDGER", "--key", "ODD"]])
def test_no_fifo_is_read_as_a_table_a_study_or_a_key(ledger, argv):
    fifo(ledger.parent / "odd")
    named = {"ODD": str(ledger.parent / "odd"), "LEDGER": str(ledger)}
    done = run(*(named.get(part, part) for part in argv))
    assert (done.returncode, done.stderr.startswith(f"normalizer: cannot read {named['ODD']}: ")) == (2, True)


def test_a_changed_row_is_not_shown_as_the_source_of_a_record(tmp_path, capsys):
    rows = Path(__file__).parents[2] / "support" / "dialects" / "mt-bench.jsonl"
    ledger = tmp_path / "ledger"
    assert main(["normalize", str(rows), "--dialect", "mt-bench", "--out", str(ledger)]) == 1
    record = json.loads((ledger / "records.jsonl").read_text().splitlines()[0])["record_id"]
    assert main(["explain", str(ledger), record]) == 0
    kept = next((ledger / "bundles").iterdir())
    data = kept.read_bytes()
    kept.write_bytes(data.replace(b'"score"', b'"sc0re"'))
    capsys.readouterr()
    assert main(["explain", str(ledger), record]) == 2
    assert "are not those of its hash" in capsys.readouterr().err
