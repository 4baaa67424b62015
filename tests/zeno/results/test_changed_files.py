"""Files that differ from those in a commit, listed and searched."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.repositories import commit, git, init, served
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = init(tmp_path / "r")
    for name in ("same.txt", "edited.txt", "removed.txt"):
        (folder / name).write_text("one\n")
    commit(folder, "first")
    return folder


def test_only_files_that_differ_are_listed_and_searched(repository: Path) -> None:
    with served(repository) as (tree, commits):
        corpus = ColdCorpus(tree)
        corpus.revisions = commits
        first = commits.at("main", "args.rev").tree.rev
        (repository / "edited.txt").write_text("two\n")
        (repository / "new.txt").write_text("one\n")
        (repository / "removed.txt").unlink()
        second = commit(repository, "second")
        (repository / "later.txt").write_text("one\n")

        def ask(op: str, **args: Any) -> Any:
            answer = json.loads(Server(corpus).ask("1", op, args).line)
            return answer.get("result") or answer["error"]

        assert ask("list_files", changed_since=first)["files"] == ["edited.txt", "later.txt", "new.txt"]
        assert ask("list_files", changed_since=first, rev=second)["files"] == ["edited.txt", "new.txt"]
        assert ask("list_files", changed_since="main")["files"] == ["later.txt"]
        assert ask("list_files", changed_since=first, glob="n*")["files"] == ["new.txt"]
        found = ask("grep", pattern="one", changed_since=first)
        assert [hit["path"] for hit in found["hits"]] == ["later.txt", "new.txt"]
        assert (found["files_selected"], found["complete"]) == (3, True)
        assert ask("grep", pattern="one", changed_since=first, paths=["s*"])["files_selected"] == 0
        assert ask("grep", pattern="one", changed_since="none")["code"] == "unknown_rev"


def test_a_page_goes_on_from_the_same_commit(repository: Path) -> None:
    with served(repository) as (tree, commits):
        corpus = ColdCorpus(tree)
        corpus.revisions = commits
        for name in "abc":
            (repository / name).write_text("x\n")
        server = Server(corpus)
        args = {"changed_since": "main", "max": 1}
        first = json.loads(server.ask("1", "list_files", args).line)["result"]
        again = json.loads(server.ask("1", "list_files", {**args, "cursor": first["cursor"]}).line)["result"]
        assert (first["files"], again["files"]) == (["a"], ["b"])
        commit(repository, "second")
        moved = json.loads(server.ask("1", "list_files", {**args, "cursor": first["cursor"]}).line)
        assert moved["error"]["code"] == "invalid_cursor"


def test_files_of_a_submodule_count_as_changed(repository: Path, tmp_path: Path) -> None:
    other = init(tmp_path / "other")
    (other / "x.txt").write_text("one\n")
    commit(other)
    git(repository, "submodule", "add", "-q", str(other), "sub")
    commit(repository)
    with served(repository) as (tree, commits):
        corpus = ColdCorpus(tree)
        corpus.revisions = commits
        answer = json.loads(Server(corpus).ask("1", "list_files", {"changed_since": "main"}).line)
        assert answer["result"]["files"] == ["sub/x.txt"]
