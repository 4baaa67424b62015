"""docs/explanation/threats.md names tests; each of them exists."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")

MODULES = re.compile(r"`(?:tests/[\w/]+/)?(test_\w+\.py)`")


def rows() -> list[str]:
    text = (ROOT / "docs" / "explanation" / "threats.md").read_text(encoding="utf-8")
    return [item for item in re.findall(r"^- .*(?:\n  .*)*", text, re.MULTILINE) if "Stopped:" in item]


def test_there_is_a_list():
    assert len(rows()) > 10


@pytest.mark.parametrize("row", rows())
def test_every_row_names_tests_that_exist(row):
    named, modules = NAMED.findall(row), MODULES.findall(row)
    assert named or modules, "a row without a test is a claim that nobody checks"
    for module in modules:
        assert list((ROOT / "tests").rglob(module)), f"there is no {module}"
    for path, name in named:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        assert name in functions, f"{path} has no {name}"


def test_every_test_named_in_the_text_exists():
    text = (ROOT / "docs" / "explanation" / "threats.md").read_text(encoding="utf-8")
    for path in re.findall(r"`((?:tests|zeno|docs)/[\w/]+\.(?:py|md))", text):
        assert (ROOT / path).exists(), path
