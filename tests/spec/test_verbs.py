"""Functions are named by what they do: `read_entry`, not `made`. The names that are still participles only get fewer.

Properties count, too: `exemptions` says what one gets, `relaxed` does not.
"""

import ast
import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LEFT = json.loads((Path(__file__).parent / "participles.json").read_text(encoding="utf-8"))
"""How many functions of each package have which participle as their name."""

_IRREGULAR = """
beaten begun broken brought built chosen done drawn driven fallen forgotten found frozen given gone grown held hidden
kept known laid left lost made meant met paid proven rebuilt rewritten said seen sent shown sold spent spoken stolen
stood sworn taken taught thought thrown told torn understood withdrawn withheld woken worn written
"""
IRREGULAR = set(_IRREGULAR.split())
VERBS = {"bleed", "bring", "embed", "exceed", "feed", "need", "proceed", "ring", "seed", "shed", "speed"}
NOUNS = {
    "beginning",
    "ceiling",
    "everything",
    "finding",
    "meaning",
    "nothing",
    "reading",
    "spelling",
    "string",
    "tipping",
}
"""Words that end like a participle and are the thing that a function returns."""


def is_participle(name: str) -> bool:
    """Whether the first word of a name is a participle, past or present."""
    word = name.strip("_").split("_")[0]
    return (word.endswith(("ed", "ing")) or word in IRREGULAR) and word not in VERBS | NOUNS


@cache
def participles(package: str) -> "Counter[str]":
    """Count the functions of a package that are named by a participle, by name."""
    found: Counter[str] = Counter()
    for path in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and is_participle(node.name):
                found[node.name] += 1
    return +found


@pytest.mark.parametrize("package", ["normalizer", "zeno"])
def test_no_more_functions_are_named_by_participles(package):
    assert participles(package) - Counter(LEFT[package]) == Counter(), "name it by what it does: a verb"


@pytest.mark.parametrize("package", ["normalizer", "zeno"])
def test_names_that_are_gone_are_not_listed(package):
    assert LEFT[package].keys() - participles(package).keys() == set()


def test_a_participle_is_seen():
    assert all(
        map(is_participle, ["made", "_opened", "kept_files", "listed", "frozen", "nested", "_fitting", "missing_rows"])
    )
    assert not any(
        map(is_participle, ["make", "is_kept", "feed", "speed_up_lookups", "read", "list_kept", "reading", "bring_up"])
    )
