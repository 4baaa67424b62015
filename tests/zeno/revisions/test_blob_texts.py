"""Texts are kept by content: a second commit costs what differs, and the working tree shares what is equal."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.repositories import commit, git, init, served
from zeno.cache.text_store import OVERHEAD
from zeno.revisions.served_commits import ServedCommits
from zeno.session.server import Server

TEXTS = {"a.txt": "needle\nhay\n", "b/c.txt": "hay\nneedle\n"}


def plant(root: Path, texts: dict[str, str]) -> str:
    """Commit some files and return the id."""
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return commit(root)


def grep(commits: ServedCommits, rev: str, **args: Any) -> tuple[list[str], bool]:
    """Return the files and lines of the hits at a commit, and whether they are all."""
    line = Server(commits.at(rev, "rev")).ask("1", "grep", {"pattern": "needle", **args}).line
    result = json.loads(line)["result"]
    return [f"{hit['path']}:{hit['line']}" for hit in result["hits"]], result["complete"]


def prepare(commits: ServedCommits) -> None:
    """Do all background work."""
    while commits.memory is not None and commits.memory.idle():
        pass
    while commits.idle():
        pass


def remove_objects(root: Path) -> None:
    """Remove the objects of `TEXTS` from the repository."""
    for path in TEXTS:
        name = git(root, "rev-parse", f"HEAD:{path}").decode().strip()
        (root / ".git" / "objects" / name[:2] / name[2:]).unlink()


def test_the_next_commit_reads_only_what_differs(tmp_path: Path) -> None:
    root = init(tmp_path / "root")
    first = plant(root, TEXTS)
    shutil.copytree(root / "b", root / "moved")
    second = plant(root, {"new.txt": "needle\n"})
    with served(root, cache_bytes=1 << 20) as (_, commits):
        assert grep(commits, first) == (["a.txt:1", "b/c.txt:2"], True)
        # The first search wants the texts of its commit; without them in memory nothing could be read below.
        while commits.idle():
            pass
        assert commits.at(first, "rev").is_warm
        remove_objects(root)
        assert grep(commits, second) == (["a.txt:1", "b/c.txt:2", "moved/c.txt:2", "new.txt:1"], True)
        assert grep(commits, second, paths=["moved"]) == (["moved/c.txt:2"], True)
        assert commits.at(second, "rev").open("b/c.txt").read_text() == b"hay\nneedle\n"


@pytest.mark.parametrize("kind", ["repository", "worktree"])
def test_texts_that_the_working_tree_has_are_not_read_again(tmp_path: Path, kind: str) -> None:
    root = init(tmp_path / "root")
    rev = plant(root, TEXTS)
    if kind == "worktree":
        git(root, "worktree", "add", "-q", "--detach", str(tmp_path / "other"))
    remove_objects(root)
    if kind == "worktree":
        root = tmp_path / "other"
    with served(root, cache_bytes=1 << 20) as (_, commits):
        prepare(commits)
        assert commits.memory is not None
        store = commits.memory.texts
        before = store.size
        assert grep(commits, rev) == (["a.txt:1", "b/c.txt:2"], True)
        assert store.size == before
        # Its text of the commit outlives the file's.
        (root / "a.txt").write_text("other needle\nneedle\n")
        prepare(commits)
        assert grep(commits, rev) == (["a.txt:1", "b/c.txt:2"], True)
        (root / "b" / "c.txt").unlink()
        prepare(commits)
        assert grep(commits, rev) == (["a.txt:1", "b/c.txt:2"], True)


def test_a_working_tree_takes_the_texts_of_a_commit_that_are_the_same(tmp_path: Path) -> None:
    root = init(tmp_path / "root")
    rev = plant(root, {**TEXTS, "crlf.txt": "needle\r\n"})
    for path in (*TEXTS, "crlf.txt"):
        (root / path).unlink()
    with served(root, cache_bytes=1 << 20) as (_, commits):
        assert commits.memory is not None
        store = commits.memory.texts
        prepare(commits)
        grep(commits, rev)
        prepare(commits)
        before = store.size
        git(root, "checkout", "-q", rev, "--", ".")
        # Other bytes with the same lines, and the same bytes at another path, are texts of their own.
        (root / "crlf.txt").write_text("needle\n")
        prepare(commits)
        for path in TEXTS:
            shared = commits.memory.find_cached(path)
            assert shared is not None
            assert shared.text is not None
            assert shared.text.users == 2
        assert store.size < before + 2 * OVERHEAD
        working = Server(commits.memory)
        assert len(json.loads(working.ask("1", "grep", {"pattern": "needle"}).line)["result"]["hits"]) == 3
        # An edit ends one use of a text, and leaves the commit its own.
        (root / "a.txt").write_text("none\n")
        prepare(commits)
        assert len(json.loads(working.ask("1", "grep", {"pattern": "needle"}).line)["result"]["hits"]) == 2
        assert grep(commits, rev) == (["a.txt:1", "b/c.txt:2", "crlf.txt:1"], True)


def test_memory_is_bounded_and_belongs_to_the_commit_asked_for_last(tmp_path: Path) -> None:
    root = init(tmp_path / "root")
    limit = 60_000
    ids = [plant(root, {f"{n}.txt": f"{number} needle {n}\n" * 100 for n in range(20)}) for number in range(4)]
    for path in root.glob("*.txt"):
        path.unlink()
    with served(root, cache_bytes=limit) as (_, commits):
        assert commits.memory is not None
        files = {path: path.read_bytes() for path in (root / ".git").rglob("*") if path.is_file()}
        for rev in [*ids, *ids]:
            wanted = grep(commits, rev, output="count")
            prepare(commits)
            assert commits.memory.texts.size <= limit
            assert commits.at(rev, "rev").is_warm
            assert grep(commits, rev, output="count") == wanted
        assert files == {path: path.read_bytes() for path in (root / ".git").rglob("*") if path.is_file()}


def test_a_damaged_or_missing_object_stays_unreadable_when_all_else_is_in_memory(tmp_path: Path) -> None:
    root = init(tmp_path / "root")
    rev = plant(root, {**TEXTS, "d.txt": "hay\n"})
    remove_objects(root)
    for path in TEXTS:
        (root / path).unlink()
    with served(root, cache_bytes=1 << 20) as (_, commits):
        for _ in range(2):
            assert grep(commits, rev) == ([], False)
            prepare(commits)
