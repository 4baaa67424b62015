"""A commit is served with the answers that a directory with its checkout gives."""

import json
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from contract_spec.operations import args_schema, operations

from tests.support.repositories import COMMITTED_AT, commit, git, init, served
from tools.kit.chance import Dice, corpus, request
from tools.kit.trees import plant
from zeno.files.policy import Policy
from zeno.files.tree import Tree
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server

# Operations about files, with the arguments that random requests give.
ARGUMENTS = {
    op: {
        name: {**schema, "required": name in args_schema(op).get("required", ())}
        for name, schema in args_schema(op)["properties"].items()
        if "type" in schema and name not in ("rev", "changed_since", "cursor")
    }
    for op in operations()
    if op not in ("describe", "verify")
}
IGNORED = ["a\n", "*.txt\n", "b/\n", "!a\n", "/ab\n", "*\n!*/\n", "[ab]\n", "d.py\nx\n"]


def fill(dice: Dice, site_of: Path) -> tuple[Any, list[str]]:
    """Put a random tree that git can keep into a folder beside others; return its site and paths."""
    described = corpus(dice)
    described["tree"] = [entry for entry in described["tree"] if entry["type"] in ("file", "directory", "link")]
    site = plant(described, site_of)
    folders = [site.root, *(path for path in site.root.rglob("*") if path.is_dir() and not path.is_symlink())]
    for folder in folders:
        if dice.happens(0.2):
            (folder / dice.choice([".gitignore", ".ignore"])).write_text(dice.choice(IGNORED))
    for entry in described["tree"]:
        if entry["type"] == "file" and dice.happens(0.2):
            path = os.path.join(os.fsencode(site.root), _raw(entry["path"]))
            os.chmod(path, 0o755)
    return site, [entry["path"] for entry in described["tree"]]


def _raw(path: str) -> bytes:
    from zeno.text.path_names import raw

    return raw(path, "path")


def check_out(root: Path, git_dir: Path, rev: str) -> None:
    """Make a directory the clean checkout of a commit, with its time, and without `.git`."""
    for entry in list(os.scandir(os.fsencode(root))):
        shutil.rmtree(entry.path) if entry.is_dir(follow_symlinks=False) else os.unlink(entry.path)
    if git(root, "ls-tree", rev, git_dir=git_dir):
        git(root, "checkout", "-q", "-f", rev, "--", ".", git_dir=git_dir)
    for folder, folders, files in os.walk(os.fsencode(root)):
        for name in [b".", *folders, *files]:
            os.utime(os.path.join(folder, name), (COMMITTED_AT, COMMITTED_AT), follow_symlinks=False)


def answer(server: Server, op: str, args: Any) -> dict[str, Any]:
    """Return an answer without what may differ: metrics, the commit, and sizes of directories."""
    found: dict[str, Any] = json.loads(server.ask("1", op, args).line)
    result = found.get("result", {})
    for name in ("metrics", "rev", "cursor"):
        result.pop(name, None)
    for item in result.get("items", ()):
        if item.get("is_dir"):
            item.pop("size")
    return found


def read_repository(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return mode, time of change and bytes of all in a repository but the index, which the checkouts here write."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in folder.rglob("*")
        if path != folder / "index"
    }


@pytest.mark.parametrize("seed", range(12))
def test_every_commit_answers_as_its_checkout_does(seed: int, tmp_path: Path) -> None:
    dice = Dice(f"commits {seed}")
    root, kept = tmp_path / "t" / "root", tmp_path / "kept"
    ids: list[tuple[str, list[str]]] = []
    site: Any = None
    for number in range(3):
        shutil.rmtree(tmp_path / "t", ignore_errors=True)
        (tmp_path / "t").mkdir()
        site, known = fill(dice, tmp_path / "t")
        if number:
            kept.rename(root / ".git")
        else:
            init(root, "--object-format=sha256" if dice.happens(0.3) else "--object-format=sha1")
        ids.append((commit(root), known))
        if dice.happens(0.6):
            git(root, "gc", "-q")
        (root / ".git").rename(kept)
    kept.rename(root / ".git")
    before = read_repository(root / ".git")
    policy = Policy(deny=["*.md", "b"], ignored=dice.happens(0.5)) if dice.happens(0.4) else None
    seen: Counter[str] = Counter()
    cache_bytes = [0, 3000, 1 << 20][seed % 3]
    with served(root, policy=policy, cache_bytes=cache_bytes) as (_, commits):
        corpora = {rev: commits.at(rev, "args.rev") for rev, _ in ids}
        (root / ".git").rename(kept)
        for rev, known in ids:
            check_out(root, kept, rev)
            with Tree(str(root), policy) as tree:
                there, here = Server(ColdCorpus(tree)), Server(corpora[rev])
                for _ in range(60):
                    op, args = request(dice, known, ARGUMENTS)
                    args = json.loads(site.fill(json.dumps(args)))
                    wanted = answer(there, op, args)
                    assert answer(here, op, args) == wanted, (op, args)
                    for _ in range(dice.choice([0, 1, 3]) if commits.memory else 0):
                        assert commits.memory is not None
                        commits.memory.idle() or commits.idle()
                    seen[wanted.get("error", {}).get("code", op)] += 1
    assert len(seen) > 5
    assert read_repository(kept) == before
