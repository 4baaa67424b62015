"""Names of commits mean what they mean to git, and are nothing else: no option, path or expression."""

import shutil
import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.repositories import commit, git, init, served
from zeno.errors import Denied, ObjectUnavailable, UnknownRev
from zeno.revisions.refs import _NOT_IN_NAMES, is_matched

UNKNOWN = [
    "HEAD~1",
    "HEAD^",
    "main:a.txt",
    "v1..main",
    ":/one",
    "--help",
    "-x",
    "../HEAD",
    "@{0}",
    "main@{1}",
    "/etc/passwd",
    "refs",
    "refs/heads",
    "none",
    "abc1234",
    "0000000000000000000000000000000000000000",
    "config",
    "packed-refs",
    "a b",
    "é",
    "main\n",
    "blob",
    "a/../b",
    "v1/x",
    "refs/heads/main/x",
    "HEAD/x",
    "ORIG_HEAD",
    "logs/HEAD",
]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = init(tmp_path_factory.mktemp("refs") / "r")
    (folder / "a.txt").write_text("one\n")
    commit(folder)
    git(folder, "tag", "v1")
    git(folder, "tag", "-a", "-m", "x", "annotated")
    git(folder, "tag", "-a", "-m", "x", "twice", "annotated")
    git(folder, "branch", "feature/deep")
    git(folder, "branch", "v1")
    git(folder, "pack-refs", "--all")
    (folder / "a.txt").write_text("two\n")
    commit(folder)
    git(folder, "branch", "loose")
    git(folder, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(folder, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    git(folder, "tag", "blob", "HEAD:a.txt")
    return folder


def known_to_git(folder: Path, name: str) -> str:
    return git(folder, "rev-parse", "-q", "--verify", f"{name}^{{commit}}").decode().strip()


def test_names_mean_what_they_mean_to_git(repository: Path) -> None:
    head = git(repository, "rev-parse", "HEAD").decode().strip()
    names = ["HEAD", "@", "main", "v1", "annotated", "twice", "feature/deep", "heads/v1", "tags/v1", "refs/heads/v1"]
    names += ["loose", "origin", "origin/main", "refs/remotes/origin/HEAD", head, head[:10], head[:17].upper()]
    with served(repository) as (_, commits):
        for name in names:
            assert commits.at(name, "args.rev").tree.rev == known_to_git(repository, name), name
        assert commits.at(head.upper(), "args.rev").tree.rev == head


@pytest.mark.parametrize(
    "name",
    UNKNOWN,
)
def test_other_names_are_unknown(repository: Path, name: str) -> None:
    with served(repository) as (_, commits), pytest.raises((UnknownRev, ObjectUnavailable)) as refused:
        commits.at(name, "args.rev")
    assert refused.value.code in ("unknown_rev", "object_unavailable")


@given(name=st.text(alphabet=string.ascii_lowercase + "./-~^:@{}*?[\\ \n\x7f", min_size=1, max_size=12))
@settings(suppress_health_check=list(HealthCheck), max_examples=60, deadline=None)
def test_a_name_that_git_refuses_is_never_looked_up(repository: Path, name: str) -> None:
    import subprocess

    fine = subprocess.run(["git", "check-ref-format", f"refs/{name}"], check=False, cwd=repository).returncode == 0
    if not fine:
        assert _NOT_IN_NAMES.search(name) or name == "@"


def test_a_moved_branch_is_seen_at_once(tmp_path: Path) -> None:
    folder = init(tmp_path / "r")
    ids = []
    with served(folder) as (_, commits):
        for number in range(3):
            (folder / "a.txt").write_text(f"{number}\n")
            ids.append(commit(folder))
            if number == 1:
                git(folder, "gc", "-q")
            assert commits.at("main", "args.rev").tree.rev == ids[-1]


def test_only_commits_that_are_allowed_are_served(repository: Path) -> None:
    old, head = known_to_git(repository, "v1"), known_to_git(repository, "main")
    for allowed, good, bad in (
        (["v*"], ["v1", "tags/v1", old, old[:12]], ["main", head, "none"]),
        (["annotated"], ["annotated", "v1", old], ["main", "HEAD"]),
        (["refs/heads/*"], ["main", "loose", head, old], ["none"]),
        (["t*", "loose"], ["twice", "loose", "main"], ["none"]),
        ([], [], ["main", "none", old]),
    ):
        with served(repository, allowed) as (_, commits):
            for name in good:
                commits.at(name, "args.rev")
            for name in bad:
                with pytest.raises(Denied):
                    commits.at(name, "args.rev")


def test_globs_match_full_and_short_names() -> None:
    assert is_matched("refs/tags/v1", "v*")
    assert is_matched("refs/tags/v1", "refs/tags/*")
    assert is_matched("refs/heads/a/b", "a/*")
    assert not is_matched("refs/heads/main", "v*")


def test_of_objects_that_may_not_be_asked_for_not_even_their_absence_is_told(repository: Path) -> None:
    with served(repository, ["v*"]) as (_, commits), pytest.raises(Denied):
        commits.at("0" * 40, "args.rev")


def test_a_reference_that_cannot_be_read_hides_no_other(repository: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(repository, folder)
    (folder / ".git" / "refs" / "heads" / "a.lock").write_bytes(b"")
    (folder / ".git" / "refs" / "heads" / "b").symlink_to("/etc/passwd")
    packed = folder / ".git" / "packed-refs"
    packed.write_text(f"{'x' * 40} refs/heads/c\n{packed.read_text()}")
    with served(folder, ["loos*", "annot*"]) as (_, commits):
        for name in ("loose", "annotated"):
            commits.at(known_to_git(repository, name), "args.rev")


def test_a_large_file_that_is_named_by_its_id_is_not_read_as_a_commit(tmp_path: Path) -> None:
    folder = init(tmp_path / "r")
    (folder / "zeros").write_bytes(bytes((1 << 24) + 1))
    commit(folder)
    blob = git(folder, "rev-parse", "HEAD:zeros").decode().strip()
    with served(folder) as (_, commits), pytest.raises(ObjectUnavailable, match="more than the 16777216"):
        commits.at(blob, "args.rev")
