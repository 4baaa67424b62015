"""A commit is served with the answers that a directory with its checkout gives, whatever the repository is like.

More repositories than usual: COMMIT_SEEDS=300 pytest tests/zeno/revisions/test_commit_corpus.py
"""

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from contract_spec.operations import args_schema, operations

from tests.support.permissions import held_to_permissions
from tests.support.repositories import COMMITTED_AT, commit, git, init, served
from tools.kit.chance import WORDS, Dice, corpus, request
from tools.kit.trees import Site, plant, raw
from zeno.files.policy import Policy
from zeno.files.tree import Tree
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server

SEEDS = int(os.environ.get("COMMIT_SEEDS", "16"))
KINDS = ["plain", "bare", "worktree", "shallow", "partial"]
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
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 5\n" % ("0" * 64)
A_DIRECTORY = "a directory, not a text file; list_files tells what is below it"
Answers = list[dict[str, Any]]


class Asked(NamedTuple):
    """A request about a commit, and the pages of its answer."""

    op: str
    args: dict[str, Any]
    answers: Answers


class Version(NamedTuple):
    """A commit and the paths in it."""

    rev: str
    known: list[str]
    submodules: list[str]


def fill(dice: Dice, beside: Path) -> tuple[Site, list[str]]:
    """Put a random tree that git can keep into a folder beside others; return its site and paths."""
    described = corpus(dice)
    described["tree"] = [entry for entry in described["tree"] if entry["type"] in ("file", "directory", "link")]
    site = plant(described, beside)
    folders = [site.root, *(path for path in site.root.rglob("*") if path.is_dir() and not path.is_symlink())]
    for folder in folders:
        if dice.happens(0.2):
            (folder / dice.choice([".gitignore", ".ignore"])).write_text(dice.choice(IGNORED))
    for entry in described["tree"]:
        path = os.path.join(os.fsencode(site.root), raw(entry["path"]))
        if entry["type"] == "file" and dice.happens(0.1):
            Path(os.fsdecode(path)).write_text(POINTER)
        if entry["type"] == "file" and dice.happens(0.2):
            os.chmod(path, 0o755)
    return site, [entry["path"] for entry in described["tree"]]


def commit_tree(dice: Dice, root: Path, known: list[str]) -> Version:
    """Commit a folder, now and then with submodules; return the commit."""
    commit(root)
    submodules = [path for path in ("sub", "b/lib", "a/sub", ".h/s") if dice.happens(0.2)]
    # Under every name that is taken, no submodule can be.
    taken = {path[:end] for path in git(root, "ls-files", "-z").split(b"\0") for end in _ends(path)}
    files = set(git(root, "ls-files", "-z").split(b"\0"))
    kept = []
    for path in submodules:
        if path.encode() not in taken and not files & {path.encode()[:end] for end in _ends(path.encode())}:
            gitlink = git(root, "rev-parse", "HEAD").decode().strip()
            git(root, "update-index", "--add", "--cacheinfo", f"160000,{gitlink},{path}")
            kept.append(path)
    git(root, "commit", "-q", "--amend", "--allow-empty", "-m", "m")
    rev = git(root, "rev-parse", "HEAD").decode().strip()
    return Version(rev, [*known, *kept, *(f"{path}/x" for path in kept)], kept)


def _ends(path: bytes) -> list[int]:
    return [end for end in range(1, len(path) + 1) if path[end : end + 1] in (b"/", b"")]


def make_history(dice: Dice, beside: Path, kept: Path) -> tuple[Site, list[Version]]:
    """Make a repository in `kept`, with three commits of random trees."""
    versions: list[Version] = []
    site = Site(beside)
    for number in range(3):
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir()
        site, known = fill(dice, beside)
        if number:
            kept.rename(site.root / ".git")
        else:
            init(site.root, "--object-format=sha256" if dice.happens(0.3) else "--object-format=sha1")
        versions.append(commit_tree(dice, site.root, known))
        if dice.happens(0.6):
            git(site.root, "gc", "-q")
        (site.root / ".git").rename(kept)
    return site, versions


def make_repository(kind: str, kept: Path, root: Path) -> None:
    """Make the root a repository of a kind out of the whole one in `kept`."""
    shutil.rmtree(root)
    source = f"file://{kept}"
    git(kept, "config", "uploadpack.allowFilter", "true")
    if kind == "plain":
        root.mkdir()
        shutil.copytree(kept, root / ".git")
    elif kind == "worktree":
        git(kept, "worktree", "add", "-q", "--no-checkout", "--detach", str(root))
    else:
        flags = {"bare": ["--bare"], "shallow": ["--depth=2"], "partial": ["--filter=blob:limit=25"]}[kind]
        git(kept, "clone", "-q", "--no-checkout", *flags, source, str(root))
    if kind == "partial":
        _add_links(kept, root)


def _add_links(kept: Path, root: Path) -> None:
    """Add the texts of links to a clone that lacks them: no directory can have a link without a target."""
    for line in git(kept, "log", "--all", "--raw", "-z", "--no-abbrev", "--format=", "--root", "-m").split(b"\0"):
        words = line.split()
        if line.startswith(b":") and words[1] == b"120000":
            (root / "link").write_bytes(git(kept, "cat-file", "blob", words[3]))
            git(root, "hash-object", "-w", "--no-filters", "link")
            (root / "link").unlink()


def find_missing(root: Path) -> set[bytes]:
    """Return the ids of the objects that a partial clone lacks."""
    listed = git(root, "rev-list", "--objects", "--all", "--missing=print").splitlines()
    return {line[1:] for line in listed if line.startswith(b"?")}


def check_out(root: Path, kept: Path, version: Version) -> None:
    """Make a directory the clean checkout of a commit, without `.git`."""
    shutil.rmtree(root)
    root.mkdir()
    if git(root, "ls-tree", version.rev, git_dir=kept):
        git(root, "checkout", "-q", "-f", version.rev, "--", ".", git_dir=kept)


def seal(root: Path, kept: Path, version: Version, missing: set[bytes]) -> set[bytes]:
    """Give everything in a checkout the time of the commit, and let nobody read what git cannot give.

    Returns the paths of files whose objects are missing.
    """
    for path in version.submodules:
        (root / path).mkdir(parents=True, exist_ok=True)
        (root / path / "x").write_text("a\n")
    for folder, folders, files in os.walk(os.fsencode(root)):
        for name in [b".", *folders, *files]:
            os.utime(os.path.join(folder, name), (COMMITTED_AT, COMMITTED_AT), follow_symlinks=False)
    sealed = set()
    for line in git(root, "ls-tree", "-r", "-z", version.rev, git_dir=kept).split(b"\0")[:-1]:
        head, _, entry = line.partition(b"\t")
        if head.split()[2] in missing:
            sealed.add(os.path.join(os.fsencode(root), entry))
    for place in [*sealed, *(os.fsencode(root / path) for path in version.submodules)]:
        os.chmod(place, 0)
    return sealed


def list_changed(server: Server, rev: str, since: str) -> list[str]:
    """Return the files of a commit that differ from those of another."""
    args = {"rev": rev, "changed_since": since, "include_hidden": True}
    files: list[str] = json.loads(server.ask("1", "list_files", args).line)["result"]["files"]
    return files


def read_files(root: Path, policy: Policy | None) -> dict[str, bytes]:
    """Return the contents of all files in a directory that may be read."""
    with Tree(str(root), policy) as tree:
        args = {"include_hidden": True}
        listed = json.loads(Server(ColdCorpus(tree)).ask("1", "list_files", args).line)["result"]["files"]
        contents = {}
        for path in listed:
            with tree.open(path) as file:
                contents[path] = b"".join(file.chunks())
        return contents


def ask(server: Server, op: str, args: dict[str, Any]) -> Answers:
    """Return the pages of an answer without what may differ: metrics, the commit, and sizes of directories."""
    pages: Answers = []
    following: str | None = ""
    while len(pages) < 3 and following is not None:
        page: dict[str, Any] = json.loads(server.ask("1", op, {**args, "cursor": following} if pages else args).line)
        pages.append(page)
        result = page.get("result", {})
        following = result.pop("cursor", None)
        for name in ("metrics", "rev"):
            result.pop(name, None)
        for item in result.get("items", ()):
            item.pop("rev", None)
            if item.get("is_dir"):
                item.pop("size")
        for told, name in ((page.get("error", {}), "message"), *product(result.get("items", ()), ("error", "reason"))):
            if name in told:
                told[name] = say_alike(told[name])
        if page.get("error", {}).get("code") == "object_unavailable":
            page["error"]["code"] = "permission_denied"
    return pages


def say_alike(message: str) -> str:
    """Tell what git cannot give in the words for what nobody may read, and a submodule as a directory."""
    message = re.sub(r": (it is in the submodule|the object [0-9a-f]+ is not in) .*", ": Permission denied", message)
    return message.replace("a submodule, not a text file", A_DIRECTORY)


def cite(dice: Dice, known: list[str]) -> tuple[str, dict[str, Any]]:
    """Return a request to verify random citations."""
    citations = []
    for _ in range(dice.randint(1, 4)):
        start = dice.choice([1, 1, 2, 5])
        cited = {"path": dice.choice([*known, "none"]), "text": dice.choice(WORDS)}
        citations.append({**cited, "start_line": start, "end_line": start + dice.choice([0, 1, 3])})
    return "verify", {"citations": citations}


def ask_randomly(dice: Dice, version: Version, site: Site, here: Server, at_root: Server) -> Iterator[Asked]:
    """Yield random requests about a commit with their answers, asked of its own server or with `rev`."""
    for _ in range(40):
        op, args = cite(dice, version.known) if dice.happens(0.1) else request(dice, version.known, ARGUMENTS)
        args = json.loads(site.fill(json.dumps(args)))
        if dice.happens(0.5):
            yield Asked(op, args, ask(here, op, args))
        elif op == "verify":
            revs = [{**citation, "rev": version.rev} for citation in args["citations"]]
            yield Asked(op, args, ask(at_root, op, {"citations": revs}))
        else:
            yield Asked(op, args, ask(at_root, op, {**args, "rev": version.rev}))


def without_lost(answers: Answers, sealed: set[bytes], root: Path) -> Answers:
    """Return answers without items of `stat` about files that nobody may read: a directory tells their sizes."""
    for page in answers:
        result = page.get("result", {})
        if "items" in result:
            result["items"] = [
                item
                for item in result["items"]
                if os.path.realpath(os.path.join(os.fsencode(root), raw(item["path"]))) not in sealed
            ]
    return answers


def read_repository(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return mode, time of change and bytes of everything in a repository."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_commit_answers_as_its_checkout_does(seed: int, tmp_path: Path) -> None:
    dice = Dice(f"commits {seed}")
    kind = KINDS[seed % len(KINDS)]
    kept = tmp_path / "kept"
    site, versions = make_history(dice, tmp_path / "t", kept)
    root = site.root
    make_repository(kind, kept, root)
    missing = find_missing(root) if kind == "partial" else set()
    places = [root, kept]
    before = [read_repository(place) for place in places]
    policy = Policy(deny=["*.md", "b"], ignored=dice.happens(0.5)) if dice.happens(0.4) else None
    cache_bytes = [0, 3000, 1 << 20][seed % 3]
    asked: dict[str, list[Asked]] = {}
    with served(root, policy=policy, cache_bytes=cache_bytes) as (tree, commits):
        working = ColdCorpus(tree)
        working.revisions = commits
        if kind == "shallow":
            old = ask(Server(working), "list_files", {"rev": versions.pop(0).rev})
            assert old[0]["error"]["code"] == "permission_denied"
        for version in versions:
            asked[version.rev] = []
            here = Server(commits.at(version.rev, "args.rev"))
            for one in ask_randomly(dice, version, site, here, Server(working)):
                asked[version.rev].append(one)
                for _ in range(dice.choice([0, 1, 3]) if commits.memory else 0):
                    assert commits.memory is not None
                    commits.memory.idle() or commits.idle()
        pairs = list(product([version.rev for version in versions], repeat=2))
        changed = {pair: list_changed(Server(working), *pair) for pair in pairs}
    assert [read_repository(place) for place in places] == before
    seen: Counter[str] = Counter()
    contents: dict[str, dict[str, bytes]] = {}
    for version in versions:
        check_out(root, kept, version)
        contents[version.rev] = read_files(root, policy)
        sealed = seal(root, kept, version, missing)
        with held_to_permissions(), Tree(str(root), policy) as tree:
            there = Server(ColdCorpus(tree))
            for op, args, answers in asked[version.rev]:
                wanted = ask(there, op, args)
                assert without_lost(answers, sealed, root) == without_lost(wanted, sealed, root), (op, args)
                seen[op] += 1
    assert len(seen) > 5
    for (now, then), files in changed.items():
        assert files == [path for path, data in contents[now].items() if contents[then].get(path) != data]
