"""What may come from somebody else is read only if it is a file: no FIFO blocks, no device fills memory."""

import io
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from normalizer import regular_files
from normalizer.batch.intake import take
from normalizer.cli import main
from normalizer.errors import CannotRun
from normalizer.regular_files import READING_LIMITS, open_regular, regular_bytes, whole_lines
from tests.support.bundles import bundle, entry
from tests.support.patience import PATIENCE

READING = {
    "audit": [],
    "restore": ["BUNDLE"],
    "sign": ["--key", "KEY", "--out", "SIGNATURE"],
    "audit --signature KEY": ["--signers", "KEY", "--signer", "x"],
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
    odd = ledger / place if place == "commit.json" else next((ledger / place).rglob("*.json"))
    sha256 = next((ledger / "bundles").glob("*/*")).stem
    fifo(odd)
    named = {"BUNDLE": sha256, "KEY": str(ledger.parent / "key"), "SIGNATURE": str(ledger.parent / "out.sig")}
    done = run(
        *command.replace("KEY", named["KEY"]).split(),
        str(ledger),
        *(named.get(flag, flag) for flag in READING[command]),
    )
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
    rows = Path(__file__).parents[1] / "support" / "dialects" / "mt-bench.jsonl"
    ledger = tmp_path / "ledger"
    assert main(["normalize", str(rows), "--dialect", "mt-bench", "--out", str(ledger)]) == 1
    record = json.loads((ledger / "records.jsonl").read_text().splitlines()[0])["record_id"]
    assert main(["explain", str(ledger), record]) == 0
    kept = next((ledger / "bundles").glob("*/*"))
    data = kept.read_bytes()
    kept.write_bytes(data.replace(b'"score"', b'"sc0re"'))
    capsys.readouterr()
    assert main(["explain", str(ledger), record]) == 2
    assert "are not those of its hash" in capsys.readouterr().err


def sparse(path: Path) -> None:
    """A file that seems to have 20 GB, and takes no place."""
    path.unlink(missing_ok=True)
    with path.open("wb") as file:
        file.truncate(20 << 30)


LIMITED = [
    ["normalize", "BUNDLE", "--out", "NEW", "--rubric", "ODD"],
    ["normalize", "BUNDLE", "--out", "NEW", "--manifest", "ODD"],
    ["normalize", "BUNDLE", "--out", "NEW", "--dialect", "ODD"],
    ["lint", "--rubric", "ODD"],
    ["judge", "--packet", "ODD", "--artifacts", "FOLDER", "--out", "NEW"],
    ["judge", "--packet", "MANIFEST", "--artifacts", "FOLDER", "--out", "NEW"],
    ["check", "ODD", "LEDGER"],
    ["build", "ODD"],
]


@pytest.mark.parametrize("argv", LIMITED, ids=" ".join)
def test_a_file_beyond_all_bounds_is_refused_before_it_is_read(ledger, argv, capsys):
    folder = ledger.parent
    sparse(folder / "odd")
    manifest = {"phase": 1, "judge_model": "judge-x", "generator_model": "writer-y", "files": [{"file": "odd"}]}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    named = {"ODD": "odd", "BUNDLE": "b.json", "NEW": "new", "FOLDER": "", "MANIFEST": "manifest.json"}
    named |= {"LEDGER": ledger.name}
    assert main([str(folder / named[part]) if part in named else part for part in argv]) == 2
    told = capsys.readouterr().err
    assert f"cannot read {folder / 'odd'}: it has more than 268435456 bytes" in told
    assert not (folder / "new").exists()


@pytest.mark.parametrize("place", ["records.jsonl", "headers.jsonl", "commit.json", "bundles", "settings"])
@pytest.mark.parametrize("digests", [True, False])
def test_a_sparse_file_in_a_ledger_does_not_fill_the_memory(ledger, place, digests, monkeypatch):
    monkeypatch.setitem(READING_LIMITS, "max_line_bytes", 1 << 22)
    if not digests:
        (ledger / "commit.json").unlink()
    sha256 = next((ledger / "bundles").glob("*/*")).stem
    commands = [["audit", str(ledger)], ["list", str(ledger)], ["explain", str(ledger), sha256]]
    for argv in commands:  # what they import is not what they read
        main(argv)
    odd = ledger / place if (ledger / place).suffix else next((ledger / place).rglob("*.json"))
    with odd.open("ab") as file:
        file.truncate(20 << 30)
    skipped = [["audit", str(ledger), "--no-verify"]] if place == "bundles" else []
    tracemalloc.start()
    try:
        for argv in skipped or commands:
            assert main(argv) in (0, 1, 2)
            if argv[0] == "audit" and not skipped:
                assert main(argv) != 0
        # A record that is too long is not read at all; of the other files some bytes are.
        assert tracemalloc.get_traced_memory()[1] < (64 if place == "commit.json" and digests else 600) << 20
    finally:
        tracemalloc.stop()


def test_whole_lines_are_those_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(regular_files, "_PIECE", 4)
    for data in (b"", b"\n", b"abc\nabcd\nabcde\n\nabcdefghijkl\nabc", b"abcd", b"abcdabc\nabcdabcd"):
        (tmp_path / "x").write_bytes(data)
        with (tmp_path / "x").open("rb") as file:
            assert list(whole_lines(file)) == data.splitlines(keepends=True)
    monkeypatch.setitem(READING_LIMITS, "max_line_bytes", 7)
    with (tmp_path / "x").open("rb") as file, pytest.raises(OSError, match="a line of more than 7 bytes"):
        list(whole_lines(file))


def test_a_file_that_grows_or_tells_no_size_is_read_to_its_end_or_its_limit(tmp_path, monkeypatch):
    assert regular_bytes(Path("/proc/self/status")).startswith(b"Name:")
    (tmp_path / "x").write_bytes(b"12345678")
    monkeypatch.setitem(READING_LIMITS, "max_document_bytes", 8)
    assert regular_bytes(tmp_path / "x") == b"12345678"
    monkeypatch.setitem(READING_LIMITS, "max_document_bytes", 7)
    with pytest.raises(OSError, match="more than 7 bytes"):
        regular_bytes(tmp_path / "x")


def test_a_file_that_would_make_its_reader_wait_is_refused(tmp_path, monkeypatch):
    """Such as /proc/kmsg, which poses as a regular file: a read that does not wait gives None."""
    (tmp_path / "b.json").write_bytes(b"{}")
    waiting = io.BufferedReader(_Waiting())
    monkeypatch.setattr(regular_files, "open_regular", lambda _: waiting)
    monkeypatch.setattr(os, "fstat", lambda _: os.stat(tmp_path / "b.json"))
    with pytest.raises(OSError, match="temporarily unavailable"):
        regular_bytes(tmp_path / "b.json")
    waiting = io.BufferedReader(_Waiting())
    with pytest.raises(CannotRun, match="temporarily unavailable"):
        take(waiting, tmp_path, replace=False)


class _Waiting(io.RawIOBase):
    name = "kmsg"

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 0

    def readinto(self, _buffer):
        return None


def test_a_link_to_itself_is_told(ledger, capsys):
    (ledger.parent / "loop").symlink_to("loop")
    loop = str(ledger.parent / "loop")
    for argv in (["normalize", str(ledger.parent / "b.json"), "--out", loop], ["aggregate", loop], ["audit", loop]):
        assert main(argv) == 2
        assert "loop" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["plain", "a b", 'it\'s "q" \\', "-x", "new\nline", "n\udcff", "\x1b[31m'", "$(x) `y` é\u202e"]
)
def test_a_shell_reads_a_word_as_the_path_and_no_command_as_an_option(name):
    word = regular_files.shell_word(name)
    assert word.isprintable()
    given = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True).stdout
    assert os.path.normpath(os.fsdecode(given)) == name
    assert not given.startswith(b"-")
    assert regular_files.shell_word("-") == "-"
