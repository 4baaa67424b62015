"""A tree of any depth is read with few descriptors: its answers do not depend on the limit of open files."""

import errno
import os
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Pipe
from tests.support.patience import PATIENCE, open_files, until
from zeno.options import is_without

DEPTH = 1500
FEW, MANY = "64:64", "4096:4096"
DEEP = "d/" * DEPTH + "f"
QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("list_files", {}),
    ("list_files", {"gitignore": True, "include_hidden": True}),
    ("grep", {"pattern": "needle"}),
    ("read_file", {"path": DEEP}),
    ("read_file", {"path": "d/" * (DEPTH // 2) + "../" * 100 + "d/" * (DEPTH // 2 + 100) + "f"}),
    ("stat", {"paths": [DEEP, "d/" * DEPTH + "up", "d/" * 700 + "side"]}),
)


@pytest.fixture(scope="module")
def deep(tmp_path_factory):
    """Directories one in the other, some with more below them, a file and a link at the end."""
    root = tmp_path_factory.mktemp("deep")
    held = os.open(root, os.O_RDONLY)
    for level in range(DEPTH):
        os.mkdir("d", dir_fd=held)
        if level % 100 == 0:
            # After `d` in the order of paths: the walk comes back here from far below.
            for name in ("e", "e/g"):
                os.mkdir(name, dir_fd=held)
            _write(held, "e/g/h", b"needle\n")
            _write(held, ".gitignore", b"e/g/i\n")
            _write(held, "e/g/i", b"needle\n")
        below = os.open("d", os.O_RDONLY, dir_fd=held)
        os.close(held)
        held = below
    _write(held, "f", b"needle\n")
    os.symlink("f", "up", dir_fd=held)
    os.close(held)
    yield root
    # Python's own needs a descriptor for each level.
    subprocess.run(["rm", "-rf", root], check=True)


def _write(folder, name, data):
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT, dir_fd=folder)
    os.write(descriptor, data)
    os.close(descriptor)


def answers(root, limits, *flags):
    command = [sys.executable, "-m", "zeno", "serve", "--root", str(root), *flags]
    pipe = Pipe(root, command=["prlimit", f"--nofile={limits}", *command])
    try:
        told = [pipe.ask(op, **args) for op, args in QUESTIONS]
    finally:
        pipe.process.kill()
        pipe.process.communicate(timeout=PATIENCE)
    for answer in told:
        answer.get("result", {}).pop("metrics", None)
    return told


@pytest.mark.parametrize("flags", [["--no-cache"], [], ["--no-cache", "--deny", "ignored"]], ids=str)
def test_answers_do_not_depend_on_the_limit(deep, flags):
    few = answers(deep, FEW, *flags)
    assert few == answers(deep, MANY, *flags)
    listed = few[0]["result"]
    assert listed["complete"] is True
    assert DEEP in listed["files"]
    assert len([path for path in listed["files"] if path.endswith("e/g/h")]) == DEPTH // 100
    assert [hit["path"] for hit in few[2]["result"]["hits"]] == listed["files"][: len(few[2]["result"]["hits"])]
    assert few[3]["result"]["text"] == few[4]["result"]["text"] == "needle"
    assert [item["exists"] for item in few[5]["result"]["items"]] == [True, True, False]


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of other processes can be set on Linux only")
@pytest.mark.parametrize("flags", [(), ("--no-cache",)])
@pytest.mark.parametrize("left", range(5))
def test_with_few_descriptors_left_an_answer_says_so_and_the_next_one_is_right(root, pipe, flags, left):
    (root / "d").mkdir()
    (root / "d" / "f.txt").write_text("needle\n")
    server = pipe(*flags)
    questions: list[tuple[str, dict[str, Any]]] = [
        ("read_file", {"path": "d/f.txt"}),
        ("peek", {"path": "d/f.txt"}),
        ("list_files", {"tree": True}),
    ]
    questions += [("grep", {"pattern": "needle"}), ("extract_symbols", {"path": "d/f.txt"}), ("list_files", {})]
    right = {}
    for number, (op, args) in enumerate(questions):
        right[number] = server.ask(op, **args)
    pid = server.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    for number, (op, args) in enumerate(questions):
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (len(os.listdir(f"/proc/{pid}/fd")) + left, before[1]))
        answer = server.ask(op, **args)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        if not answer["ok"]:
            assert answer["error"]["code"] == "permission_denied"
            assert os.strerror(errno.EMFILE) in answer["error"]["message"]
        elif op in ("grep", "list_files") and not args.get("tree"):
            result = answer["result"]
            assert not result["complete"] or result.get("hits", result.get("files"))
        assert server.ask(op, **args)["result"].keys() == right[number]["result"].keys()


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of other processes can be set on Linux only")
@pytest.mark.parametrize(("op", "args"), [("grep", {"pattern": "needle"}), ("list_files", {}), ("peek", {"path": "f"})])
def test_a_server_without_descriptors_goes_on_before_it_has_loaded_an_operation(root, pipe, op, args):
    """Operations, their schemas and the cache are loaded when they are needed, or between requests."""
    (root / "f").write_text("needle\n")
    server = pipe()
    server.ask("stat", path="f")
    pid = server.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    # 3 is less than any server has open.
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, before[1]))
    for _ in range(3):
        answer = server.ask(op, **args)
        if not answer["ok"]:
            assert answer["error"]["code"] == "permission_denied"
            assert os.strerror(errno.EMFILE) in answer["error"]["message"]
    resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
    assert server.ask(op, **args)["ok"]


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of other processes can be set on Linux only")
@pytest.mark.skipif(is_without("inotify"), reason="nothing is cached without inotify")
@pytest.mark.parametrize("changed", ["new/f", "f"])
@pytest.mark.parametrize("flags", [(), ("--confine", "off")], ids=str)
def test_a_server_that_ran_out_of_descriptors_caches_the_tree_again(root, pipe, flags, changed):
    (root / "f").write_text("needle\n")
    server = pipe(*flags)
    pid = server.process.pid
    server.ask("grep", pattern="needle")
    until(lambda: watches(pid), "the tree is watched")
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    for number in range(3):
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, before[1]))
        # A directory or a file has to be opened, and cannot be.
        path = root / changed.replace("new", f"new{number}")
        path.parent.mkdir(exist_ok=True)
        path.write_text("needle\n" * (number + 2))
        answer = server.ask("grep", pattern="needle")
        assert not answer["ok"] or not answer["result"]["complete"]
        until(lambda: not watches(pid), "the cache is given up")
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        until(partial(finds_and_watches, server, path, number + 2), "the tree is watched again")


def finds_and_watches(server: Pipe, path: Path, hits: int) -> bool:
    """Whether the server watches files. A new cache is built after some searches, so each look is a search."""
    assert server.ask("grep", pattern="needle", paths=[str(path)])["result"]["metrics"]["hits"] == hits
    return watches(server.process.pid)


def watches(pid: int) -> bool:
    """Whether a process watches files with inotify."""
    return "anon_inode:inotify" in open_files(pid)
