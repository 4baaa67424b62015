"""Listing a commit: submodules, links, hostile trees."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.repositories import commit, git, init, served
from zeno.revisions import commit_walk
from zeno.session.server import Server


def ask(folder: Path, op: str, rev: str = "HEAD", **args: Any) -> dict[str, Any]:
    with served(folder) as (_, commits):
        answer: dict[str, Any] = json.loads(Server(commits.at(rev, "args.rev")).ask("1", op, args).line)
        found: dict[str, Any] = answer.get("result") or answer["error"]
        return found


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = init(tmp_path / "r")
    (folder / "a.txt").write_text("one\n")
    commit(folder)
    return folder


def test_the_files_of_a_submodule_are_told_as_unreadable_and_never_as_missing(repository: Path) -> None:
    head = git(repository, "rev-parse", "HEAD").decode().strip()
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{head},lib/sub")
    git(repository, "commit", "-q", "-m", "m")
    listed = ask(repository, "list_files")
    assert (listed["files"], listed["complete"]) == (["a.txt"], False)
    assert listed["skipped_files"] == [{"path": "lib/sub/", "reason": "unreadable"}]
    assert ask(repository, "grep", pattern="none")["complete"] is False
    assert ask(repository, "grep", pattern="none", paths=["a.txt"])["complete"] is True
    assert ask(repository, "read_file", path="lib/sub/x.py")["code"] == "object_unavailable"
    assert ask(repository, "read_file", path="lib/sub")["code"] == "not_a_file"
    items = ask(repository, "stat", paths=["lib/sub", "lib/sub/x.py"])["items"]
    assert items[0]["is_dir"] is True
    assert "submodule" in items[1]["error"]


def test_a_link_that_leads_to_what_git_cannot_give_is_told_as_unreadable(repository: Path) -> None:
    head = git(repository, "rev-parse", "HEAD").decode().strip()
    (repository / "into").symlink_to("sub/x.py")
    (repository / "gone").symlink_to("a.txt")
    (repository / "nowhere").symlink_to("b.txt")
    git(repository, "add", "-A")
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    git(repository, "commit", "-q", "-m", "m")
    gone = git(repository, "rev-parse", "HEAD:gone").decode().strip()
    (repository / ".git" / "objects" / gone[:2] / gone[2:]).unlink()
    skipped = {one["path"]: one["reason"] for one in ask(repository, "list_files")["skipped_files"]}
    assert skipped == {"gone": "unreadable", "into": "unreadable", "sub/": "unreadable", "nowhere": "not_regular"}


def test_a_file_whose_object_is_missing_is_listed_by_its_path_and_by_a_link_in_any_order(repository: Path) -> None:
    (repository / "lost.txt").write_text("lost\n")
    (repository / "to.txt").symlink_to("lost.txt")
    commit(repository)
    lost = git(repository, "rev-parse", "HEAD:lost.txt").decode().strip()
    (repository / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    for sort in ("path", "mtime"):
        listed = ask(repository, "list_files", sort=sort)
        assert (listed["files"], listed["complete"]) == (["a.txt", "lost.txt", "to.txt"], True)
    skipped = ask(repository, "grep", pattern="lost")["skipped_files"]
    assert skipped == [{"path": name, "reason": "unreadable"} for name in ("lost.txt", "to.txt")]


def test_a_commit_without_files_has_none(tmp_path: Path) -> None:
    folder = init(tmp_path / "r")
    commit(folder)
    listed = ask(folder, "list_files")
    assert (listed["files"], listed["complete"], listed["files_selected"]) == ([], False, 0)


def test_a_tree_that_names_itself_many_times_over_is_refused(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_walk, "MAX_NAMES", 10_000)
    tree = git(repository, "rev-parse", "HEAD^{tree}").decode().strip()
    for _ in range(10):
        (repository / "list").write_text("".join(f"040000 tree {tree}\tf{number}\n" for number in range(10)))
        tree = _hash(repository, (repository / "list").read_bytes())
    one = git(repository, "commit-tree", "-m", "m", tree).decode().strip()
    assert ask(repository, "list_files", one)["code"] == "object_unavailable"
    # One path is found without listing all of them.
    path = "/".join(f"f{number % 10}" for number in range(10)) + "/a.txt"
    assert ask(repository, "read_file", one, path=path)["text"] == "one"


def _hash(repository: Path, listed: bytes) -> str:
    import subprocess

    made = subprocess.run(["git", "mktree"], cwd=repository, input=listed, capture_output=True, check=True)
    return made.stdout.decode().strip()


def test_a_directory_that_no_checkout_can_have_is_told_as_unreadable(repository: Path) -> None:
    blob = git(repository, "rev-parse", "HEAD:a.txt").decode().strip()
    data = b"100644 a.txt\0" + bytes.fromhex(blob) + b"100644 ..\0" + bytes.fromhex(blob)
    (repository / "raw").write_bytes(data)
    tree = git(repository, "hash-object", "--literally", "-t", "tree", "-w", "raw").decode().strip()
    one = git(repository, "commit-tree", "-m", "m", tree).decode().strip()
    listed = ask(repository, "list_files", one)
    assert (listed["files"], listed["complete"]) == ([], False)
    assert ask(repository, "read_file", one, path="a.txt")["code"] == "object_unavailable"


def test_a_pointer_to_a_large_file_elsewhere_has_its_own_text(repository: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"
    (repository / "big.bin").write_text(pointer)
    (repository / ".gitattributes").write_text("*.bin filter=lfs\n")
    commit(repository)
    read = ask(repository, "read_file", path="big.bin", end_line=9)
    assert read["text"] == pointer.rstrip("\n")
    assert "pointer of Git LFS: the 5 bytes" in read["hints"][0]


def test_a_link_that_no_checkout_can_have_is_told_and_not_followed(tmp_path: Path) -> None:
    folder = init(tmp_path / "r")
    (folder / "a").write_bytes(b"./" * 2048 + b"b")
    (folder / "b").write_text("one\n")
    git(folder, "add", "-A")
    blob = git(folder, "rev-parse", ":a").decode().strip()
    git(folder, "update-index", "--cacheinfo", f"120000,{blob},a")
    git(folder, "commit", "-q", "-m", "m")
    with served(folder) as (_, commits):
        server = Server(commits.at("HEAD", "args.rev"))
        assert b'"object_unavailable"' in server.ask("1", "read_file", {"path": "a"}).line
        assert json.loads(server.ask("1", "list_files", {}).line)["result"]["skipped"]["unreadable"] == 1


def test_an_empty_file_of_a_commit_has_no_lines(repository: Path) -> None:
    (repository / "empty").touch()
    commit(repository)
    for op in ("read_file", "peek"):
        assert ask(repository, op, path="empty")["total_lines"] == 0
