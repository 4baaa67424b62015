"""What rules left out is counted: compared with git, with ripgrep and with the plain names on disk, warm and cold."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import _pytest
import pydantic
import pytest
import starlette

from tests.support.lacking import needs
from tests.support.planting import prepare, without_metrics
from tests.support.request_model import glob_matches
from zeno.cache.warm_corpus import WarmCorpus
from zeno.files.tree import Tree
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server

RULES = {
    ".gitignore": "*.pyc\n/_*\n__pycache__/\n!__pycache__/keep\n*.dist-info/\n",
    "pydantic/.gitignore": "v1/\n*_*.py\n!_internal\n",
    ".git/info/exclude": "*.pyi\n",
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Part of the packages installed here, as a repository with rules and hidden names."""
    root = tmp_path_factory.mktemp("real") / "root"
    for package in (pydantic, starlette, _pytest):
        source = Path(str(package.__file__)).parent
        shutil.copytree(source, root / source.name, symlinks=True)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for path, text in RULES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    for path in (".env", ".tox/log/a.txt", "pydantic/.hidden.py", ".empty/", "_private/x.py", "c.pyc"):
        place = root / path
        (place if path.endswith("/") else place.parent).mkdir(parents=True, exist_ok=True)
        if not path.endswith("/"):
            place.write_text("text\n")
    return root


@pytest.fixture(scope="module")
def ask(repository, room_to_watch):
    """Ask a warm and a cold server, which must agree."""
    with Tree(str(repository)) as tree:
        corpus = WarmCorpus(tree, 1 << 26)
        prepare(corpus)
        servers = [Server(corpus), Server(ColdCorpus(tree))]

        def ask(op, **args):
            line = json.dumps({"id": "1", "op": op, "args": args}).encode()
            warm, cold = [without_metrics(json.loads(server.answer(line))) for server in servers]
            assert warm == cold
            return cold["result"]

        yield ask
        corpus.close()


def every_name(root):
    """Relative paths of everything below a directory but git's own, directories with a slash."""
    for folder, folders, files in os.walk(root):
        if ".git" in folders:
            folders.remove(".git")
        for name in files:
            yield os.path.relpath(os.path.join(folder, name), root)
        for name in folders:
            yield os.path.relpath(os.path.join(folder, name), root) + "/"


def topmost(names):
    """The names that are below no other of them."""
    kept: list[str] = []
    for name in sorted(names):
        if not any(name.startswith(one) for one in kept if one.endswith("/")):
            kept.append(name)
    return kept


def ignored_by_git(root, names):
    asked = "".join(f"{name}\0" for name in names)
    told = subprocess.run(
        ["git", "check-ignore", "--no-index", "-z", "--stdin"], cwd=root, input=asked, capture_output=True, text=True
    )
    return set(told.stdout.split("\0")) - {""}


def is_hidden(name):
    return any(part.startswith(".") for part in name.rstrip("/").split("/"))


def test_ignored_names_are_those_that_git_ignores(repository, ask):
    names = [name for name in every_name(repository) if not is_hidden(name)]
    ignored = topmost(ignored_by_git(repository, names))
    result = ask("list_files", gitignore=True, max=10**6, max_files=10**6)
    folders = sum(name.endswith("/") for name in ignored)
    hidden = topmost(name for name in every_name(repository) if is_hidden(name))
    seen = [name for name in hidden if not any(name.startswith(one) for one in ignored if one.endswith("/"))]
    assert len(ignored) > 10
    assert folders > 1
    assert result["left_out"]["ignored"] == len(ignored)
    # Git's own directory is hidden too.
    assert result["left_out"]["hidden"] == len(seen) + 1
    assert result["left_out"]["directories"] == folders + sum(name.endswith("/") for name in seen) + 1


@needs("rg", "ripgrep")
def test_with_nothing_left_out_the_files_are_those_of_ripgrep_without_rules(repository, ask):
    listed = subprocess.run(["rg", "-uuu", "--files"], cwd=repository, capture_output=True, text=True, check=True)
    result = ask("list_files", include_hidden=True, max=10**6, max_files=10**6)
    assert result["files"] == sorted(listed.stdout.splitlines())
    assert result["files_selected"] == len(result["files"])
    assert set(result["left_out"].values()) == {0}
    shown = ask("list_files", gitignore=True, max=10**6, max_files=10**6)
    assert set(shown["files"]) < set(result["files"])


@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"include_hidden": True, "exclude_dirs": ["_internal", ".git"]},
        {"exclude_dirs": ["__pycache__"], "exclude_globs": ["**/*.py"]},
    ],
)
@pytest.mark.parametrize("glob", [None, "pydantic/*", "**/*s.py", "pydantic/[_a]*/x", ".tox/log/a.txt"])
def test_counts_are_those_of_the_names_on_disk(repository, ask, rules, glob):
    covered = {} if glob is None else {"glob": glob}
    result = ask("list_files", **rules, **covered, max=10**6, max_files=10**6)
    names = [*every_name(repository), ".git/"]
    hidden = [] if rules.get("include_hidden") else topmost(name for name in names if is_hidden(name))
    folders = tuple(
        name for name in names if name.endswith("/") and name[:-1].split("/")[-1] in rules.get("exclude_dirs", [])
    )
    below_hidden = tuple(name for name in hidden if name.endswith("/"))
    visible = [name for name in names if not (hidden and is_hidden(name))]
    excluded = topmost(name for name in folders if name in visible)
    excluded += [
        name
        for name in visible
        if not name.endswith("/")
        and not name.startswith(tuple(excluded))
        and any(glob_matches(one, name) for one in rules.get("exclude_globs", []))
    ]
    hidden = [name for name in hidden if not name.startswith(folders)] if folders else hidden

    def covers(name):
        if glob is None:
            return True
        if not name.endswith("/"):
            return glob_matches(glob, name)
        literal = glob.partition("*")[0].partition("[")[0]
        return literal.startswith(name) or (literal != glob and name.startswith(literal))

    assert below_hidden or rules.get("include_hidden")
    assert result["left_out"] == {
        "hidden": sum(map(covers, hidden)),
        "ignored": 0,
        "excluded": sum(map(covers, excluded)),
        "directories": sum(covers(name) for name in [*hidden, *excluded] if name.endswith("/")),
    }
