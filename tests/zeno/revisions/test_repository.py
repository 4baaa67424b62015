"""Which repositories are read, which are refused and why, and that nothing in them changes or is run."""

import hashlib
import os
import traceback
from pathlib import Path

import pytest

from tests.support.repositories import commit, git, init, served
from zeno.errors import ObjectUnavailable
from zeno.revisions.repository import NoRepository, Repository, RepositoryAtRoot, read_settings
from zeno.revisions.served_commits import ServedCommits
from zeno.session.server import Server


def opened(folder: Path) -> Repository:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        return Repository(descriptor)
    finally:
        os.close(descriptor)


def refusal(folder: Path) -> str:
    with pytest.raises(NoRepository) as refused:
        opened(folder)
    return str(refused.value)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = init(tmp_path / "r")
    (folder / "a.txt").write_text("one\ntwo\n")
    commit(folder)
    return folder


def text_of(commits: ServedCommits, path: str, rev: str = "HEAD") -> bytes:
    with commits.at(rev, "args.rev").open(path) as file:
        return file.read_text()


def test_a_directory_without_a_repository_is_refused(tmp_path: Path) -> None:
    assert "no .git at the root" in refusal(tmp_path)


def test_a_bare_repository_is_served(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repository), "bare")
    with served(tmp_path / "bare") as (_, commits):
        assert text_of(commits, "a.txt") == b"one\ntwo\n"


def test_a_worktree_that_its_repository_names_is_served(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "w"), "-b", "other")
    (tmp_path / "w" / "a.txt").write_text("three\n")
    commit(tmp_path / "w")
    with served(tmp_path / "w") as (_, commits):
        assert text_of(commits, "a.txt") == b"three\n"
        assert text_of(commits, "a.txt", "main") == b"one\ntwo\n"


def test_a_git_file_that_leads_to_a_repository_of_others_is_refused(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / ".git").write_text(f"gitdir: {repository / '.git'}\n")
    assert "names no worktree at this root" in refusal(tmp_path / "w")
    git(repository, "worktree", "add", "-q", str(tmp_path / "v"), "-b", "other")
    (tmp_path / "w" / ".git").write_text((tmp_path / "v" / ".git").read_text())
    assert "names no worktree at this root" in refusal(tmp_path / "w")
    (tmp_path / "w" / ".git").write_text("gitdir: \0\n")
    assert "names no worktree at this root" in refusal(tmp_path / "w")


def test_links_in_a_repository_are_not_followed(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / ".git").symlink_to(repository / ".git")
    assert "is a link" in refusal(tmp_path / "w")
    for name in ("objects", "config", "refs"):
        kept = tmp_path / f"kept-{name}"
        (repository / ".git" / name).rename(kept)
        (repository / ".git" / name).symlink_to(kept)
        if name == "refs":
            with served(repository) as (_, commits), pytest.raises(Exception, match="is a link"):
                commits.at("main", "args.rev")
        else:
            assert "is a link" in refusal(repository)
        (repository / ".git" / name).unlink()
        kept.rename(repository / ".git" / name)
    opened(repository).close()


def test_objects_of_another_repository_are_not_read(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--shared", str(repository), "shared")
    assert "alternates" in refusal(tmp_path / "shared")
    (repository / ".git" / "commondir").write_text("../../other/.git\n")
    assert "commondir" in refusal(repository)


def test_a_repository_of_another_user_is_refused(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert "belongs to another user" in refusal(repository)


def test_formats_that_are_not_known_are_refused(repository: Path) -> None:
    config = repository / ".git" / "config"
    for text, why in (
        ("[core]\nrepositoryformatversion = 2\n", "format '2'"),
        ("[core]\nrepositoryformatversion = 1\n[extensions]\nobjectformat = md5\n", "ids of a kind"),
        ("[core]\nrepositoryformatversion = 1\n[extensions]\nrefStorage = reftable\n", "references in another way"),
        ("[core]\nrepositoryformatversion = 1\n[extensions]\nmagic = true\n", "extension 'magic'"),
    ):
        config.write_text(text)
        assert why in refusal(repository)
    config.unlink()
    opened(repository).close()


def test_settings_are_read_as_git_reads_them() -> None:
    text = '# x\n[core]\n\tBare = False ; y\n[Extensions] objectFormat = "sha256" # z\n[a "b"]\nc = d\n[core]flag\n'
    assert read_settings(text) == {"core.bare": "false", "extensions.objectformat": "sha256", "core.flag": "true"}


def test_a_shallow_clone_is_served_as_far_as_it_goes(repository: Path, tmp_path: Path) -> None:
    first = git(repository, "rev-parse", "HEAD").decode().strip()
    (repository / "a.txt").write_text("three\n")
    commit(repository)
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", "shallow")
    with served(tmp_path / "shallow") as (_, commits):
        assert text_of(commits, "a.txt") == b"three\n"
        with pytest.raises(ObjectUnavailable, match="is not in the repository"):
            commits.at(first, "args.rev")


def test_objects_that_a_partial_clone_lacks_are_told_as_such(repository: Path, tmp_path: Path) -> None:
    (repository / "b.txt").write_text("one\n")
    commit(repository)
    git(repository, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{repository}", "partial")
    git(tmp_path / "partial", "checkout", "-q", "HEAD", "--", "a.txt")
    before = fingerprint(tmp_path / "partial" / ".git")
    with served(tmp_path / "partial") as (_, commits):
        server = Server(commits.at("HEAD", "args.rev"))
        assert b'"object_unavailable"' in server.ask("1", "read_file", {"path": "b.txt"}).line
        found = server.ask("1", "grep", {"pattern": "one"}).line
        assert b'"complete":false' in found
        assert b'{"path":"b.txt","reason":"unreadable"}' in found
    assert fingerprint(tmp_path / "partial" / ".git") == before


def test_replaced_objects_and_grafts_are_not_followed(repository: Path) -> None:
    first = git(repository, "rev-parse", "HEAD").decode().strip()
    (repository / "a.txt").write_text("three\n")
    second = commit(repository)
    git(repository, "replace", first, second)
    with served(repository) as (_, commits):
        assert text_of(commits, "a.txt", first) == b"one\ntwo\n"


def test_nothing_of_a_repository_is_run_or_changed(repository: Path, tmp_path: Path) -> None:
    mark = tmp_path / "run"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    program.chmod(0o755)
    (repository / ".gitattributes").write_text("* filter=f diff=f\n")
    commit(repository)
    for name in ("core.fsmonitor", "core.sshCommand", "core.hooksPath", "filter.f.smudge", "diff.f.textconv"):
        git(repository, "config", name, str(program))
    git(repository, "config", "include.path", str(program))
    (repository / ".git" / "hooks" / "post-checkout").symlink_to(program)
    before = fingerprint(repository / ".git")
    with served(repository) as (_, commits):
        server = Server(commits.at("HEAD", "args.rev"))
        for op, args in (("read_file", {"path": "a.txt"}), ("grep", {"pattern": "one"}), ("list_files", {})):
            assert b'"ok":true' in server.ask("1", op, args).line
    assert not mark.exists()
    assert fingerprint(repository / ".git") == before


def fingerprint(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Return mode, time and content of everything in a folder."""
    return {
        str(path): (
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in sorted(folder.rglob("*"))
    }


def test_a_refusal_that_is_told_again_and_again_keeps_nothing_of_its_requests(tmp_path: Path) -> None:
    def depth(error: BaseException) -> int:
        return sum(1 for _ in traceback.walk_tb(error.__traceback__))

    with served(tmp_path) as (tree, _):
        repository = RepositoryAtRoot(tree.descriptor)
        depths = set()
        for _ in range(20):
            with pytest.raises(NoRepository, match="no bare repository") as refused:
                repository.open()
            depths.add(depth(refused.value))
    assert max(depths) < 10
