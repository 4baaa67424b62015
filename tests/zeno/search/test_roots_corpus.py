"""Several roots answer like one directory that holds them under their names."""

import json
import os
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.patience import until
from tests.support.request_model import arguments
from tools.kit.chance import Dice, corpus, request
from tools.kit.trees import plant
from zeno.cache.warm_corpus import WarmCorpus
from zeno.errors import OutsideRoot, ZenoError
from zeno.files.policy import Policy
from zeno.files.roots import Roots
from zeno.files.tree import Tree
from zeno.search.corpus import ColdCorpus
from zeno.search.roots_corpus import corpus_of
from zeno.session.server import Server

NAMES = ["a", "a-b", "x", "B2"]
IGNORE = ["*.txt\n", "a\n!b\n", "/a/*\n", "b/\n", "a-b/\n**/x\n"]


def prune(root: Path) -> None:
    """Remove the links that leave a root: for one directory that holds the roots they would be inside."""
    with Tree(str(root)) as tree:
        for folder, folders, files in os.walk(root):
            for name in [*folders, *files]:
                link = Path(folder, name)
                if link.is_symlink() and (os.readlink(link).startswith("/") or leaves(tree, link.relative_to(root))):
                    link.unlink()


def leaves(tree: Tree, link: Path) -> bool:
    try:
        tree.place(os.fsencode(str(link)).decode("utf-8", "ignore"))
    except OutsideRoot:
        return True
    except ZenoError:
        return False
    return os.fsencode(str(link)) != str(link).encode("utf-8", "ignore")


def planted(dice: Dice, home: Path) -> tuple[dict[str, str], Path, list[str]]:
    """Roots by name, a directory that holds copies of them, and paths to ask for."""
    roots, known = {}, []
    whole = home / "whole"
    whole.mkdir()
    for name in sorted(dice.sample(NAMES, dice.randint(1, 3))):
        described = corpus(dice)
        for ignored in [entry["path"] for entry in described["tree"] if entry["type"] == "directory"][:2]:
            described["tree"].append({"path": f"{ignored}/.gitignore", "type": "file", "text": dice.choice(IGNORE)})
        if dice.happens(0.5):
            described["tree"].append({"path": ".gitignore", "type": "file", "text": dice.choice(IGNORE)})
        for folder in ("apart", "copy"):
            (home / folder / name).mkdir(parents=True)
            site = plant(described, home / folder / name)
            prune(site.root)
        roots[name] = str(home / "apart" / name / "root")
        (home / "copy" / name / "root").rename(whole / name)
        known += [name, *(f"{name}/{entry['path']}" for entry in described["tree"])]
    return roots, whole, known


def policy(dice: Dice, known: list[str]) -> Policy:
    deny = [dice.choice([*known, ".h", "*.txt", "a*", "b"]) for _ in range(dice.choice([0, 0, 0, 1, 2]))]
    only = [dice.choice([*known, "*/a*", "x", "**/*.txt"]) for _ in range(dice.choice([0, 0, 0, 1, 2]))]
    return Policy(deny, only, ignored=dice.happens(0.1))


def questions(dice: Dice, known: list[str]) -> list[tuple[str, dict[str, Any]]]:
    asked = []
    for _ in range(60):
        op, args = request(dice, known, arguments())
        if op in ("grep", "list_files") and dice.happens(0.3):
            args["gitignore"] = True
        if dice.happens(0.1):
            cited = {"path": dice.choice(known), "start_line": 1, "end_line": 1, "text": dice.choice(["a", "", "ab"])}
            op, args = "verify", {"citations": [cited]}
        text = json.dumps([op, args]).replace("{root}//", "").replace("{root}/", "").replace("{root}", ".")
        asked.append(tuple(json.loads(text.replace("{beside}", "/nowhere"))))
    return asked


def told(answer: bytes, *, counts: bool) -> Any:
    """An answer without times, and without sizes and times of directories."""
    value = json.loads(answer)
    metrics = value.get("result", {}).pop("metrics", None)
    for item in value.get("result", {}).get("items", ()):
        if item.get("is_dir"):
            del item["size"], item["mtime"], item["mtime_iso"]
    return value, metrics and counts and {**metrics, "time_ms": 0}


def crosses(args: dict[str, Any], answer: Any) -> bool:
    """Whether a path with `..` was refused. For several roots that is outside, even where another root is there."""
    return ".." in json.dumps(args) and answer.get("error", {}).get("code") == "path_outside_root"


def pages(server: Server, op: str, args: dict[str, Any]) -> list[bytes]:
    """The answer, and the next two pages if there are more."""
    answers = [server.ask("1", op, args).line]
    while len(answers) < 3 and (cursor := json.loads(answers[-1]).get("result", {}).get("cursor")):
        answers.append(server.ask("1", op, {**args, "cursor": cursor}).line)
    return answers


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_several_roots_answer_like_one_directory_that_holds_them(tmp_path, seed, warm):
    dice = Dice(f"roots {seed}")
    with ExitStack() as stack:
        roots, whole, known = planted(dice, tmp_path)
        stack.callback(shutil.rmtree, tmp_path, ignore_errors=True)
        rules = policy(dice, known)
        expected = Server(ColdCorpus(stack.enter_context(Tree(str(whole), rules))))
        several = stack.enter_context(Roots(roots, rules))
        joined = corpus_of(several, (lambda tree: WarmCorpus(tree, 1 << 20)) if warm else ColdCorpus)
        stack.callback(joined.close)
        server = Server(joined)
        if warm:
            until(lambda: not server.idle(), "the cache is filled")
        for op, args in questions(dice, known):
            for now, then in zip(pages(server, op, args), pages(expected, op, args), strict=True):
                found = told(now, counts=not warm)
                assert found == told(then, counts=not warm) or crosses(args, found[0]), (
                    op,
                    args,
                    rules.deny,
                    rules.only,
                )


def test_a_change_in_any_root_is_seen_by_the_next_request(tmp_path):
    roots = {}
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "old.txt").write_text("needle\n")
        roots[name] = str(tmp_path / name)
    with Roots(roots) as tree, ExitStack() as stack:
        joined = corpus_of(tree, lambda root: WarmCorpus(root, 1 << 20))
        stack.callback(joined.close)
        server, cold = Server(joined), Server(corpus_of(tree, ColdCorpus))
        until(lambda: not server.idle(), "the cache is filled")

        def same() -> int:
            found = [[told(one.ask("1", *asked).line, counts=False) for asked in QUESTIONS] for one in (server, cold)]
            assert found[0] == found[1]
            return len(found[0][0][0]["result"]["hits"])

        assert [same(), same()] == [2, 2]
        for name in ("b", "a"):
            (tmp_path / name / "new.txt").write_text("needle\n")
            same()
        assert same() == 4
        (tmp_path / "a" / "old.txt").write_text("nothing\n")
        (tmp_path / "b" / "old.txt").unlink()
        assert same() == 2


QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("grep", {"pattern": "needle"}),
    ("grep", {"pattern": "needle", "paths": ["b", "a/old.txt"]}),
    ("grep", {"pattern": "needle", "max_files": 2}),
    ("list_files", {"exclude_globs": ["a/*"]}),
    ("list_files", {"max": 1}),
]
