"""After a power cut at any step, or an error of any system call, the ledger is the old one or the new one.

A power cut loses what was not synced. Two kinds of file system are modelled: one that keeps only synced names and
synced content, and one that keeps every name at once but loses content that was not synced.
"""

import errno
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from normalizer.cli import main
from normalizer.ledger import durable
from normalizer.ledger.reader import is_ledger
from tests.normalizer.batch.test_run import made
from tests.normalizer.batch.test_run import tree as everything
from tests.support.lacking import lacking, needs

Tree = dict[str, bytes | None]
"""Content by path; None for a folder."""
CHANGING = ("replace", "rename", "mkdir", "unlink", "rmdir")


class Disk:
    """Follows what is synced below a folder, and tells what a power cut would leave."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._content: dict[int, bytes] = {}
        self._names: dict[int, dict[str, tuple[int, bool]]] = {}
        self._held: list[int] = []
        self.states: dict[str, Tree] = {}
        self.sync_all()

    def sync_all(self) -> None:
        for path in (self._root, *self._root.rglob("*")):
            descriptor = os.open(path, os.O_RDONLY)
            self.sync(descriptor)
            os.close(descriptor)

    def sync(self, descriptor: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        number = os.fstat(descriptor).st_ino
        self._held.append(os.dup(descriptor))  # so that the number is not used for another file
        if path.is_dir():
            self._names[number] = {item.name: (item.inode(), item.is_dir()) for item in os.scandir(path)}
        else:
            self._content[number] = path.read_bytes()

    def cut(self) -> None:
        """Note what would be left if the power went now."""
        strict: Tree = {}
        self._build(strict, "", os.stat(self._root).st_ino)
        names = {
            path.relative_to(self._root).as_posix(): None
            if path.is_dir()
            else self._content.get(path.stat().st_ino, b"")
            for path in self._root.rglob("*")
        }
        for state in (strict, names):
            self.states[hashlib.sha256(repr(sorted(state.items())).encode()).hexdigest()] = state

    def _build(self, into: Tree, at: str, number: int) -> None:
        for name, (inner, is_folder) in self._names.get(number, {}).items():
            into[at + name] = None if is_folder else self._content.get(inner, b"")
            if is_folder:
                self._build(into, f"{at}{name}/", inner)

    def close(self) -> None:
        for descriptor in self._held:
            os.close(descriptor)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of a ledger but the lock, whose content means nothing."""
    return {name: data for name, data in everything(folder).items() if name != ".lock"}


def written(state: Tree, folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name, content in sorted(state.items()):
        if content is None:
            (folder / name).mkdir(parents=True, exist_ok=True)
        else:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def watched(monkeypatch) -> Iterator[Callable[[Path], Disk]]:
    """Begins to follow a folder: every change below it is a step at which the power may go."""
    disks: list[Disk] = []

    def begin(root: Path) -> Disk:
        disk = Disk(root)
        disks.append(disk)
        sync = os.fsync
        for name in CHANGING:
            change = getattr(os, name)

            def step(*args, _change=change, **named):
                disk.cut()
                done = _change(*args, **named)
                disk.cut()
                return done

            monkeypatch.setattr(os, name, step)

        def fsync(descriptor):
            disk.cut()
            sync(descriptor)
            disk.sync(descriptor)
            disk.cut()

        def syncfs(_descriptor):
            disk.cut()
            disk.sync_all()
            disk.cut()

        monkeypatch.setattr(os, "fsync", fsync)
        monkeypatch.setattr(durable, "_syncfs", lambda: syncfs)
        return disk

    yield begin
    for disk in disks:
        disk.close()


@pytest.mark.parametrize("few", [0, 1000], ids=["the whole file system", "file by file"])
@pytest.mark.parametrize("into", ["a new ledger", "a ledger", "a ledger, replacing"])
def test_after_a_power_cut_at_any_step_the_ledger_is_the_old_or_the_new_one(tmp_path, monkeypatch, watched, into, few):
    paths = made(tmp_path / "b", 5)
    ledger = tmp_path / "ledger"
    argv = ["normalize", *map(str, paths[2:]), "--out", str(ledger)]
    if into == "a new ledger":
        ledger.mkdir()
    else:
        main(["normalize", *map(str, paths[:4]), "--out", str(ledger)])
    if into == "a ledger, replacing":
        (tmp_path / "manifest.json").write_text('{"files": [{"file": "0.pdf"}]}')
        argv += ["--replace", "--manifest", str(tmp_path / "manifest.json")]
    before = tree(ledger)
    monkeypatch.setattr(durable, "_FEW", few)
    with monkeypatch.context():
        disk = watched(ledger)
        assert main(argv) in (0, 1)
        disk.cut()
    monkeypatch.undo()
    after = tree(ledger)
    assert before != after
    assert len(disk.states) > 15
    seen = set()
    for number, state in enumerate(disk.states.values()):
        left = written(state, tmp_path / "left" / str(number))
        if is_ledger(left):
            assert main(["repair", str(left)]) == 0, state.keys()
        found = tree(left)
        assert found in (before, after), (number, sorted(state))
        seen.add(found == after)
        shutil.rmtree(left)
    assert seen == {True, False}


def test_a_folder_that_cannot_be_listed_is_not_passed_over_when_all_is_synced(tmp_path, monkeypatch):
    (tmp_path / "deep").mkdir()
    scandir = os.scandir

    def failing(path):
        if Path(path).name == "deep":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", failing)
    with pytest.raises(OSError, match="Input/output error"):
        durable.sync_tree(tmp_path)


def test_a_ledger_in_new_folders_is_there_after_a_power_cut(tmp_path, watched):
    paths = made(tmp_path / "b", 2)
    place = tmp_path / "place"
    place.mkdir()
    disk = watched(place)
    assert main(["normalize", *map(str, paths), "--out", str(place / "deep" / "ledger")]) == 1
    disk.states.clear()
    disk.cut()
    for number, state in enumerate(disk.states.values()):
        left = written(state, tmp_path / "left" / str(number))
        assert tree(left / "deep" / "ledger") == tree(place / "deep" / "ledger")


CALLS = {"write": "ENOSPC", "fsync": "EIO", "rename,renameat,renameat2": "EIO", "mkdir,mkdirat": "ENOSPC"}
CALLS |= {"unlink,unlinkat": "EIO", "openat": "EMFILE", "syncfs": "EIO"}
STRIDE = int(os.environ.get("FAULT_STRIDE", "13"))
"""Every how manyth call fails; FAULT_STRIDE=1 for all of them."""


def traced(argv: list[str], calls: str, error: str, when: int, root: Path) -> tuple[int, bool]:
    """Run the command with one system call failing; its exit status, and whether that call was reached."""
    log = root / "strace.log"
    program = [sys.executable, "-X", "frozen_modules=on", "-m", "normalizer", *argv]
    trace = ["strace", "-f", "-qq", "-o", str(log), "-e", f"trace={calls}"]
    inject = ["-e", f"inject={calls}:error={error}:when={when}"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([*trace, *inject, *program], capture_output=True, timeout=300, env=environment, check=False)
    return done.returncode, "(INJECTED)" in log.read_text(errors="replace")


@needs("strace", "strace")
@pytest.mark.parametrize("calls", CALLS)
def test_an_error_of_any_system_call_leaves_the_old_or_the_new_ledger(tmp_path, calls):
    paths = made(tmp_path / "b", 4)
    origin, ledger = tmp_path / "origin", tmp_path / "ledger"
    main(["normalize", *map(str, paths[:2]), "--out", str(origin)])
    before = tree(origin)
    shutil.copytree(origin, tmp_path / "whole")
    argv = ["normalize", *map(str, paths[2:]), "--out"]
    main([*argv, str(tmp_path / "whole")])
    after = tree(tmp_path / "whole")
    status, _ = traced(["--version"], calls, CALLS[calls], 65535, tmp_path)
    if status != 0:
        lacking("strace may not trace processes here")
    when = 1 if calls != "openat" else 400
    reached, failed = True, 0
    while reached and when < 3000:
        shutil.copytree(origin, ledger)
        status, reached = traced([*argv, str(ledger)], calls, CALLS[calls], when, tmp_path)
        settled = {name: data for name, data in tree(ledger).items() if not name.startswith(".staging/")}
        committed = (ledger / ".staging" / "COMMIT").exists()
        assert committed or settled in (before, after), (calls, when)
        if status in (0, 1) and reached is False:
            assert settled == after
        assert main([*argv, str(ledger)]) in (0, 1), (calls, when)
        assert tree(ledger) == after, (calls, when)
        shutil.rmtree(ledger)
        failed += reached
        when += STRIDE
    assert failed or calls == "syncfs"  # which only a run with many bundles needs
