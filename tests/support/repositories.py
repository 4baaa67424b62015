"""Repositories for tests, made by git itself."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zeno.cache.warm_corpus import WarmCorpus
from zeno.files.policy import Policy
from zeno.files.tree import Tree
from zeno.revisions.repository import RepositoryAtRoot
from zeno.revisions.served_commits import ALL, ServedCommits

COMMITTED_AT = 1_234_567_890


def git(folder: Path, *args: str | bytes, git_dir: Path | None = None) -> bytes:
    """Run git without settings of the user, and return what it prints."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example",
        "GIT_COMMITTER_NAME": "c",
        "GIT_COMMITTER_EMAIL": "c@example",
        "GIT_AUTHOR_DATE": f"{COMMITTED_AT} +0200",
        "GIT_COMMITTER_DATE": f"{COMMITTED_AT} +0200",
    }
    where = [] if git_dir is None else [f"--git-dir={git_dir}", f"--work-tree={folder}"]
    command = ["git", "-c", "core.autocrlf=false", "-c", "protocol.file.allow=always", *where, *args]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def init(folder: Path, *flags: str) -> Path:
    """Make a repository and return its folder."""
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q", "-b", "main", *flags)
    return folder


def commit(folder: Path, message: str = "m", *flags: str) -> str:
    """Commit everything in a folder, ignored files too; return the id."""
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "--allow-empty", "-m", message, *flags)
    return git(folder, "rev-parse", "HEAD").decode().strip()


@contextmanager
def served(
    folder: Path, allowed: list[str] | None = None, policy: Policy | None = None, cache_bytes: int = 0
) -> Iterator[tuple[Tree, ServedCommits]]:
    """Open a folder and the commits of its repository: all of them, unless `allowed` says which.

    With `cache_bytes`, texts are kept by the warm corpus `commits.memory`.
    """
    with Tree(str(folder), policy) as tree:
        repository = RepositoryAtRoot(tree.descriptor)
        memory = WarmCorpus(tree, cache_bytes) if cache_bytes else None
        commits = ServedCommits(tree, repository, [ALL] if allowed is None else allowed, memory)
        try:
            yield tree, commits
        finally:
            if memory is not None:
                memory.close()
            repository.close()
