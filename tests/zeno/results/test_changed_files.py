"""Files that differ from those in a commit, listed and searched."""

import json
import shutil
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


@pytest.fixture
def with_submodule(repository: Path, tmp_path: Path) -> Path:
    """A repository with a checked-out submodule in another one."""
    inner, outer = init(tmp_path / "inner"), init(tmp_path / "outer")
    (inner / "deep.txt").write_text("one\n")
    commit(inner)
    (outer / "x.txt").write_text("one\n")
    (outer / "link.txt").symlink_to("x.txt")
    git(outer, "submodule", "add", "-q", str(inner), "in")
    commit(outer)
    git(repository, "submodule", "add", "-q", str(outer), "lib/sub")
    git(repository, "submodule", "update", "-q", "--init", "--recursive")
    commit(repository)
    return repository


def list_changed(root: Path, rev: str = "main") -> list[str]:
    with served(root) as (tree, commits):
        corpus = ColdCorpus(tree)
        corpus.revisions = commits
        answer = json.loads(Server(corpus).ask("1", "list_files", {"changed_since": rev}).line)
        files: list[str] = answer["result"]["files"]
        return files


def test_a_file_of_a_submodule_is_compared_with_the_commit_that_it_is_fixed_to(with_submodule: Path) -> None:
    assert list_changed(with_submodule) == []
    sub = with_submodule / "lib" / "sub"
    (sub / "x.txt").write_text("edited\n")
    (sub / "in" / "new.txt").write_text("new\n")
    assert list_changed(with_submodule) == ["lib/sub/in/new.txt", "lib/sub/link.txt", "lib/sub/x.txt"]
    # Committed in the submodule, it still differs from what the commit of the repository is fixed to.
    git(sub, "add", "x.txt")
    git(sub, "commit", "-q", "-m", "m")
    assert "lib/sub/x.txt" in list_changed(with_submodule)
    git(with_submodule, "add", "lib/sub")
    git(with_submodule, "commit", "-q", "-m", "m")
    assert list_changed(with_submodule) == ["lib/sub/in/new.txt"]
    assert list_changed(with_submodule, git(with_submodule, "rev-parse", "main^").decode().strip())[1:] == [
        "lib/sub/link.txt",
        "lib/sub/x.txt",
    ]


@pytest.mark.parametrize("target", ["../../same.txt", "../top.txt", "{root}/same.txt", "in/up.txt", "../sub/x.txt"])
def test_a_link_that_leads_out_of_a_submodule_is_compared_where_it_leads(
    repository: Path, tmp_path: Path, target: str
) -> None:
    inner, outer = init(tmp_path / "inner"), init(tmp_path / "outer")
    (inner / "up.txt").symlink_to("../../../same.txt")
    commit(inner)
    (outer / "x.txt").write_text("x\n")
    # Of the same name in the submodule: it is not what an absolute link leads to.
    (outer / "same.txt").write_text("another\n")
    (outer / "out.txt").symlink_to(target.replace("{root}", str(repository)))
    git(outer, "submodule", "add", "-q", str(inner), "in")
    commit(outer)
    (repository / "lib").mkdir()
    (repository / "lib" / "top.txt").symlink_to("sub/in/up.txt")
    git(repository, "submodule", "add", "-q", str(outer), "lib/sub")
    git(repository, "submodule", "update", "-q", "--init", "--recursive")
    commit(repository)
    assert list_changed(repository) == []
    file = repository / ("lib/sub/x.txt" if target.endswith("x.txt") else "same.txt")
    file.write_text("edited\n")
    assert "lib/sub/out.txt" in list_changed(repository)


@pytest.mark.parametrize("how", ["no repository", "elsewhere", "no name", "a link", "another commit"])
def test_files_of_a_submodule_that_cannot_be_compared_count_as_changed(
    with_submodule: Path, tmp_path: Path, how: str
) -> None:
    modules = with_submodule / ".git" / "modules"
    if how == "no repository":
        (with_submodule / "lib" / "sub" / ".git").unlink()
    elif how == "elsewhere":
        (modules / "lib" / "sub").rename(tmp_path / "moved")
        (with_submodule / "lib" / "sub" / ".git").write_text(f"gitdir: {tmp_path / 'moved'}\n")
    elif how == "no name":
        (with_submodule / "lib" / "sub" / ".git").write_bytes(b"gitdir: ../../.git/modules/lib/sub\0\n")
    elif how == "a link":
        (modules / "lib" / "sub").rename(tmp_path / "moved")
        (modules / "lib" / "sub").symlink_to(tmp_path / "moved")
    else:
        shutil.rmtree(modules / "lib" / "sub" / "objects")
        (modules / "lib" / "sub" / "objects").mkdir()
    assert list_changed(with_submodule) == ["lib/sub/in/deep.txt", "lib/sub/link.txt", "lib/sub/x.txt"]


def test_a_file_whose_object_is_missing_is_compared_by_its_id(repository: Path) -> None:
    for name in ("same.txt", "edited.txt"):
        lost = git(repository, "rev-parse", f"HEAD:{name}").decode().strip()
        (repository / ".git" / "objects" / lost[:2] / lost[2:]).unlink(missing_ok=True)
    (repository / "edited.txt").write_text("two\n")
    assert list_changed(repository) == ["edited.txt"]
