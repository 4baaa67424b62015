"""Bundles that are no regular files: nothing hangs, nothing is read without end."""

import io
import json
import os
import subprocess
import sys

import pytest

from normalizer.batch import intake
from normalizer.cli import main
from normalizer.documents.settings import LIMITS
from tests.support.bundles import bundle, entry


@pytest.mark.parametrize("kind", ["fifo", "/dev/zero", "socket"])
@pytest.mark.parametrize("option", ["bundle", "--manifest", "--rubric"])
def test_only_regular_files_are_read(tmp_path, capsys, kind, option):
    place = kind if kind.startswith("/") else str(tmp_path / "x")
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "socket":
        import socket

        with socket.socket(socket.AF_UNIX) as made:
            made.bind(place)
    (tmp_path / "b.json").write_text(json.dumps(bundle(entry())))
    given = [place] if option == "bundle" else [str(tmp_path / "b.json"), option, place]
    assert main(["normalize", *given, "--out", str(tmp_path / "l")]) == 2
    assert f"cannot read {place}" in capsys.readouterr().err


def test_a_device_without_an_end_on_standard_input_is_refused(tmp_path):
    argv = [sys.executable, "-m", "normalizer", "normalize", "-", "--out", str(tmp_path / "l")]
    with open("/dev/zero", "rb") as zero:
        done = subprocess.run(argv, stdin=zero, capture_output=True, timeout=120, check=False)
    assert done.returncode == 2
    assert b"a device without an end" in done.stderr


def test_a_bundle_with_too_many_entries_is_one_unreadable_bundle(tmp_path, capsys):
    entries = ",".join(["{}"] * (LIMITS["max_entries"] + 1))
    (tmp_path / "b.json").write_text(f'{{"per_file_scores":[{entries}]}}')
    assert main(["normalize", str(tmp_path / "b.json"), "--out", str(tmp_path / "l")]) == 1
    assert "1 unreadable" in capsys.readouterr().err
    [item] = (tmp_path / "l" / "audit.jsonl").read_text().splitlines()
    [reason] = json.loads(item)["reasons"]
    assert reason["code"] == "too_large"
    assert reason["pointer"] == "/per_file_scores"


def test_standard_input_is_read_up_to_a_limit(tmp_path, capsys, monkeypatch):
    near, far = os.pipe()
    os.write(far, b"x" * 2000)
    os.close(far)
    monkeypatch.setattr(intake, "MAX_PIPED_BYTES", 1000)
    with os.fdopen(near, "rb") as stream:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
        assert main(["normalize", "-", "--out", str(tmp_path / "l")]) == 2
    assert "standard input goes on after 1000 bytes" in capsys.readouterr().err
    assert not (tmp_path / "l" / "bundles").exists()


@pytest.mark.parametrize(
    ("dialect", "start", "end"), [(None, b'{"per_file_scores":[', b"0]}"), ("alpaca-eval", b"[", b"0]")]
)
def test_a_bundle_of_tens_of_millions_of_values_is_not_read(tmp_path, dialect, start, end):
    """Each value takes a hundred bytes, however short it is."""
    (tmp_path / "b.json").write_bytes(start + b"0," * 9_000_000 + end)
    flags = ["--dialect", dialect] if dialect else []
    ledger = tmp_path / "ledger"
    assert main(["normalize", str(tmp_path / "b.json"), *flags, "--out", str(ledger)]) == 1
    (line,) = (ledger / "audit.jsonl").read_text().splitlines()
    (reason,) = json.loads(line)["reasons"]
    assert "more than 8388608 commas and opening brackets" in reason["message"]
    assert main(["audit", str(ledger)]) == 0
