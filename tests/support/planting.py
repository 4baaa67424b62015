"""A tree for warm servers, questions to ask about it, and what a cold server answers."""

import ctypes
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.patience import until
from zeno.cache.warm_corpus import WarmCorpus
from zeno.files.tree import Tree
from zeno.options import is_without
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server

QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("grep", {"pattern": "needle", "include_hidden": True, "context": 1}),
    ("grep", {"pattern": ".", "regex": True, "max_bytes": 1000, "max_hits": 1000}),
    ("list_files", {"include_hidden": True}),
    ("list_files", {"glob": "**/*.txt"}),
    ("list_files", {"exclude_dirs": ["d", "n"], "exclude_globs": ["f2*"]}),
    ("list_files", {"gitignore": True, "include_hidden": True}),
    ("grep", {"pattern": "a", "gitignore": True}),
    ("grep", {"pattern": "a\\n|needle", "regex": True, "multiline": True}),
]


def plant(root: Path) -> None:
    """Make a tree in which nothing says needle yet, whatever was there before."""
    out = root.parent / "out"
    for old in [*root.iterdir(), *(out.iterdir() if out.exists() else []), root.parent / "way"]:
        if old.is_dir() and not old.is_symlink():
            shutil.rmtree(old)
        else:
            old.unlink(missing_ok=True)
    (root / "d").mkdir()
    (root / "e2").mkdir()
    out.mkdir(exist_ok=True)
    (root.parent / "way").symlink_to("root")
    (root / "d" / "a.txt").write_text("alphabe\n")
    (root / "d" / "b.txt").write_text("beta\n")
    (root / "e2" / "c.txt").write_text("gamma\n")
    (root / "ln.txt").symlink_to("d/b.txt")
    (root / "far.txt").symlink_to(root.parent / "way" / "d" / "b.txt")
    (root / "own.txt").symlink_to(root / "d" / "b.txt")
    (root / "via").symlink_to(root.parent / "way" / "d")
    (root / "near.txt").symlink_to("via/b.txt")
    (root / "h.txt").write_text("old\n")
    (root / ".gitignore").write_text("f1*\n[bc].txt\n")
    (root / "e2" / ".git").mkdir()
    os.link(root / "h.txt", out / "old")
    for number in range(40):
        (root / f"f{number}.txt").write_text(f"filler {number}\n")


def can_watch() -> bool:
    """Whether the system lets this user watch one thing more: all its programs together may watch so many."""
    descriptor = ctypes.CDLL(None).inotify_init1(os.O_CLOEXEC)
    if descriptor >= 0:
        os.close(descriptor)
    return bool(descriptor >= 0)


@pytest.fixture(scope="module")
def room_to_watch():
    until(can_watch, "there is room to watch (raise fs.inotify.max_user_instances, or end what else watches)")


@pytest.fixture
def planted(root, room_to_watch):
    """A tree in which nothing says needle yet."""
    plant(root)
    return root


@pytest.fixture
def both(planted):
    """A warm and a cold server in this process."""
    with Tree(str(planted)) as tree:
        corpus = WarmCorpus(tree, 1 << 20)
        yield corpus, Server(corpus), Server(ColdCorpus(tree))
        corpus.close()


def without_metrics(answer):
    answer.get("result", {}).pop("metrics", None)
    return answer


def asked(server):
    return [without_metrics(server.ask(op, **args)) for op, args in QUESTIONS]


def answers(server):
    lines = [json.dumps({"id": "1", "op": op, "args": args}).encode() for op, args in QUESTIONS]
    return [without_metrics(json.loads(server.answer(line))) for line in lines]


def cold_answers(root):
    with Tree(str(root)) as tree:
        return answers(Server(ColdCorpus(tree)))


def warm(server):
    """Wait until a server answers from memory: a search that finds nothing then reads only where links lead.

    Without inotify nothing is kept in memory, and there is nothing to wait for.
    """
    if is_without("inotify"):
        return

    def is_warm():
        metrics = server.ask("grep", pattern="no such thing", include_hidden=True)["result"]["metrics"]
        return metrics["files_scanned"] <= 5

    until(is_warm, "the server is warm")


def prepare(corpus):
    while corpus.idle():
        pass
