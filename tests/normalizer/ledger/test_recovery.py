"""Readers write nothing, whatever a ledger holds; recovery follows no link and moves only what a run has made."""

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from normalizer.cli import main
from normalizer.ledger.buckets import raw_place
from tests.normalizer.batch.test_run import made
from tests.support.bundles import bundle, entry

READERS = {
    "aggregate": [],
    "agreement": [],
    "audit": [],
    "calibrate": [],
    "check": ["LEDGER"],
    "audit --claims": [],
    "explain": ["0"],
    "export": ["--to", "jsonl"],
    "gate": ["LEDGER"],
    "list": [],
    "plan": [],
    "preferences": [],
    "report": ["--out", "PAGE"],
    "restore": ["a"],
    "sign": ["--key", "KEY", "--out", "PAGE"],
    "compare": [],
    "audit --signers KEY": ["--signature", "KEY", "--signer", "x"],
    "audit --artifacts .": [],
}


def everything(folder: Path) -> dict[str, tuple[int, bytes | str]]:
    """Every entry below a folder: its mode, and its bytes or where it leads."""
    found: dict[str, tuple[int, bytes | str]] = {}
    for path in sorted(folder.rglob("*")):
        shown = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
        found[path.relative_to(folder).as_posix()] = (path.lstat().st_mode, shown)
    return found


@pytest.fixture
def mine(tmp_path):
    """A folder of somebody who is sent a ledger."""
    folder = tmp_path / "mine"
    (folder / "deep" / "00").mkdir(parents=True)
    (folder / "package.json").write_text("my own")
    (folder / "deep" / "00" / f"{'0' * 64}.json").write_text("my own, deeper")
    (folder / "headers.jsonl").write_text("my own, too")
    (folder / "table.csv").write_text("judge_model,mean\n")
    return folder


@pytest.fixture
def sent(tmp_path):
    """A ledger whose run was cut right after its COMMIT, with a staged bundle, as somebody may have made it up."""
    paths = made(tmp_path / "b", 4)
    folder = tmp_path / "sent"
    assert main(["normalize", *map(str, paths), "--out", str(folder)]) == 1
    (folder / ".lock").unlink()
    staged = folder / ".staging"
    for name in ("incoming/00", "known", "parts", "new", "settings"):
        (staged / name).mkdir(parents=True)
    (staged / "COMMIT").write_bytes(b"replaced")
    return folder


def instead(path: Path, target: Path) -> None:
    """A link where something else was."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.symlink_to(target)


def staged_bundle(sent: Path, data: bytes = b"{}") -> Path:
    sha256 = hashlib.sha256(data).hexdigest()
    path = sent / ".staging" / "incoming" / sha256[:2] / f"{sha256}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


def staged_package(sent: Path, mine: Path) -> None:
    (sent / ".staging" / "incoming" / "00" / "package.json").write_text("not yours")
    instead(sent / "bundles", mine)


def linked_bundle(sent: Path, mine: Path) -> None:
    instead(staged_bundle(sent), mine / "package.json")


def whole_staging_elsewhere(sent: Path, mine: Path) -> None:
    (sent / ".staging").rename(mine / "staging")
    (sent / ".staging").symlink_to(mine / "staging")


def false_bundle(sent: Path, _mine: Path) -> None:
    staged_bundle(sent).write_bytes(b"[]")


def false_settings(sent: Path, _mine: Path) -> None:
    (sent / ".staging" / "settings" / f"{'1' * 64}.json").write_bytes(b"{}\n")


def pipe(sent: Path, _mine: Path) -> None:
    os.mkfifo(sent / ".staging" / "new" / "records.jsonl")


def pipe_for_lines(sent: Path, _mine: Path) -> None:
    (sent / "headers.jsonl").unlink()
    os.mkfifo(sent / "headers.jsonl")


def folder_for_a_bundle(sent: Path, _mine: Path) -> None:
    raw_place(sent, staged_bundle(sent).stem).mkdir(parents=True)


def linked(place: str, target: str = "") -> Callable[[Path, Path], None]:
    return lambda sent, mine: instead(sent / place, mine / target)


def written(place: str, data: bytes = b"x") -> Callable[[Path, Path], None]:
    def spring(sent: Path, _mine: Path) -> None:
        (sent / place).write_bytes(data)

    return spring


TRAPS: dict[str, tuple[Callable[[Path, Path], None], str]] = {
    "incoming leads out": (linked(".staging/incoming"), ".staging/incoming"),
    "a bucket leads out": (linked(".staging/incoming/00", "deep/00"), ".staging/incoming/00"),
    "a staged bundle leads out": (linked_bundle, ".json"),
    "staged settings lead out": (linked(".staging/settings"), ".staging/settings"),
    "staged lines lead out": (linked(".staging/new"), ".staging/new"),
    "staging leads out": (whole_staging_elsewhere, ".staging"),
    "COMMIT leads out": (linked(".staging/COMMIT", "package.json"), ".staging/COMMIT"),
    "COMMIT leads nowhere": (linked(".staging/COMMIT", "nothing"), ".staging/COMMIT"),
    "settings lead out": (linked("settings"), "settings"),
    "bundles lead out": (linked("bundles"), "bundles"),
    "bundles lead out and a package is staged": (staged_package, "bundles"),
    "headers lead out": (linked("headers.jsonl", "headers.jsonl"), "headers.jsonl"),
    "a package is staged": (written(".staging/incoming/00/package.json"), "incoming/00/package.json"),
    "a bundle without a bucket": (written(f".staging/incoming/{'0' * 64}.json"), f"incoming/{'0' * 64}.json"),
    "another document is staged": (written(".staging/settings/notes.json"), "settings/notes.json"),
    "another file of lines": (written(".staging/new/more.jsonl"), "new/more.jsonl"),
    "a stranger": (written(".staging/README"), ".staging/README"),
    "COMMIT says something else": (written(".staging/COMMIT", b"replaced!"), ".staging/COMMIT"),
    "a bundle of another hash": (false_bundle, "does not have the bytes of its hash"),
    "settings of another hash": (false_settings, "does not have the bytes of its hash"),
    "a pipe": (pipe, ".staging/new/records.jsonl"),
    "a folder where a bundle belongs": (folder_for_a_bundle, "is not a file, and one belongs there"),
    "a pipe where lines belong": (pipe_for_lines, "headers.jsonl is not a file"),
    "lines that no run writes": (written(".staging/new/headers.jsonl", b"{}\n"), "headers.jsonl"),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_no_reader_changes_anything(sent, mine, tmp_path, capsys, trap):
    TRAPS[trap][0](sent, mine)
    before = everything(tmp_path)
    for command, flags in READERS.items():
        capsys.readouterr()
        named = {"PAGE": str(tmp_path / "page.html"), "KEY": str(mine / "package.json"), "LEDGER": str(sent)}
        first = str(mine / "table.csv") if command == "check" else str(sent)
        assert (
            main(
                [
                    *(named.get(word, word) for word in command.split()),
                    first,
                    *(named.get(flag, flag) for flag in flags),
                ]
            )
            == 2
        ), command
        assert f"`normalizer repair {sent}` completes it" in capsys.readouterr().err
        assert everything(tmp_path) == before, command


@pytest.mark.parametrize("writer", ["repair", "normalize", "normalize --replace"])
@pytest.mark.parametrize("trap", TRAPS)
def test_no_writer_follows_a_link_or_moves_what_no_run_has_made(sent, mine, tmp_path, capsys, trap, writer):
    spring, named = TRAPS[trap]
    spring(sent, mine)
    (sent / ".lock").touch()
    argv = ["repair", str(sent)]
    if writer != "repair":
        (tmp_path / "new.json").write_text(json.dumps(bundle(entry("a"), run_id="new")))
        argv = ["normalize", str(tmp_path / "new.json"), *writer.split()[1:], "--out", str(sent)]
    before = everything(tmp_path)
    capsys.readouterr()
    assert main(argv) == 2
    said = capsys.readouterr().err
    assert named in said
    assert said.endswith("; nothing was changed\n")
    assert everything(tmp_path) == before


@pytest.mark.parametrize("part", ["bundles", "settings", "records.jsonl", "invalid.jsonl", "headers.jsonl"])
@pytest.mark.parametrize("engine", ["processes", "spark"])
def test_a_run_refuses_a_ledger_with_a_linked_part(tmp_path, capsys, part, engine):
    paths = made(tmp_path / "b", 3)
    ledger = tmp_path / "ledger"
    main(["normalize", *map(str, paths[:2]), "--out", str(ledger)])
    (ledger / part).rename(tmp_path / "elsewhere")
    (ledger / part).symlink_to(tmp_path / "elsewhere")
    before = everything(tmp_path)
    assert main(["normalize", str(paths[2]), "--engine", engine, "--out", str(ledger)]) == 2
    assert f"{ledger / part} is a link" in capsys.readouterr().err
    assert everything(tmp_path) == before


def test_a_staging_folder_that_was_not_committed_is_checked_before_it_is_removed(sent, mine, tmp_path, capsys):
    (sent / ".staging" / "COMMIT").unlink()
    (sent / ".lock").touch()
    (sent / ".staging" / "thesis.tex").write_text("years of work")
    before = everything(tmp_path)
    assert main(["repair", str(sent)]) == 2
    assert "thesis.tex" in capsys.readouterr().err
    assert everything(tmp_path) == before
    assert main(["audit", str(sent)]) == 0
    (sent / ".staging" / "thesis.tex").unlink()
    assert main(["repair", str(sent)]) == 0
    assert "before it changed anything" in capsys.readouterr().out
    assert not (sent / ".staging").exists()
    assert main(["repair", str(sent)]) == 0
    assert "nothing to do" in capsys.readouterr().out


def test_what_a_run_has_staged_is_moved_and_unused_settings_go(sent, capsys):
    staged = staged_bundle(sent)
    unused = sent / "settings" / f"{'0' * 64}.json"
    unused.write_bytes(b"{}\n")
    (sent / "settings" / "notes.json").write_text("kept: no run has made it")
    assert main(["repair", str(sent)]) == 0
    assert "complete now" in capsys.readouterr().out
    assert raw_place(sent, staged.stem).read_bytes() == b"{}"
    assert not unused.exists()
    assert (sent / "settings" / "notes.json").exists()
    assert not (sent / ".staging").exists()


def test_readers_do_not_create_the_lock(sent, tmp_path):
    shutil.rmtree(sent / ".staging")
    before = everything(tmp_path)
    assert main(["audit", str(sent)]) == 0
    assert everything(tmp_path) == before


@pytest.mark.parametrize("target", ["package.json", "created.json"])
def test_the_lock_may_not_be_a_link(sent, mine, tmp_path, capsys, target):
    shutil.rmtree(sent / ".staging")
    (sent / ".lock").symlink_to(mine / target)
    before = everything(tmp_path)
    for argv in (["audit", str(sent)], ["repair", str(sent)], ["normalize", str(tmp_path / "b"), "--out", str(sent)]):
        assert main(argv) == 2
        assert ".lock: it is a link" in capsys.readouterr().err
    assert everything(tmp_path) == before


def test_only_a_ledger_is_recovered(tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("years of work")
    assert main(["repair", str(tmp_path)]) == 2
    assert "is not a ledger" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("name", [".staging", "COMMIT"])
def test_a_disk_that_does_not_tell_whether_a_run_was_committed_loses_nothing(sent, monkeypatch, name):
    before = everything(sent)
    lstat = os.lstat

    def failing(path, **named):
        if Path(path).name == name:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return lstat(path, **named)

    monkeypatch.setattr(os, "lstat", failing)
    assert main(["repair", str(sent)]) == 2
    monkeypatch.undo()
    (sent / ".lock").unlink()
    assert everything(sent) == before
