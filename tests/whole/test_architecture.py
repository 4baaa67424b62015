"""ARCHITECTURE.md names files that exist, and its recipes have every step of a change.

A recipe's worked example is looked up in the whole code: a file that mentions it and is no step of the recipe is a
forgotten step.
"""

import re
import sys
from pathlib import Path

import pytest

from tests.spec.test_layout import ROOMS
from zeno.files.tree import Tree
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
RECIPES = {
    match[1]: match[2]
    for match in re.finditer(r"^### Recipe: ([^\n]+)\n(.*?)(?=^##|\Z)", TEXT, re.MULTILINE | re.DOTALL)
}

# Files that mention a worked example without being a step, each with its reason.
NO_STEP = {
    "extract_symbols": {
        "spec/openapi.json": "generated",
        "spec/rules/http.json": "an example",
        "spec/schemas/zeno/ops/describe.json": "names a limit of it",
        "spec/schemas/zeno/language.json": "the languages are its own data",
        "spec/schemas/zeno/metrics.json": "names the operation that counts symbols",
    },
    "max_line_chars": {
        "spec/openapi.json": "generated",
        "spec/schemas/zeno/ops/find_references.json": "the same argument there",
        "zeno/ops/find_references.py": "passes it on to the page of hits",
        "spec/schemas/zeno/ops/search.json": "the same argument there",
        "zeno/results/passages.py": "clips the lines of search",
        "spec/schemas/zeno/ops/peek.json": "the same argument there",
        "spec/schemas/zeno/ops/read_file.json": "the same argument there",
        "tools/scoreboard/contestants.py": "asks with it",
    },
    "severity": {
        "normalizer/statistics/generalizability.py": "adjusts means by it",
        "spec/rules/flags.json": "a flag that names it in words",
        "normalizer/statistics/self_judging.py": "compares with it in words",
    },
    "total_mismatch": {},
    "acme-judge": {},
}


def steps(recipe: str) -> tuple[str, list[str]]:
    """The worked example of a recipe, and the paths of its steps."""
    example = re.search(r"Worked example: `([^`]+)`", RECIPES[recipe])
    assert example, recipe
    found = re.findall(r"^\d+\. `([^`]+)`:", RECIPES[recipe], re.MULTILINE)
    return example[1], [path.replace("NAME", example[1]) for path in found]


def mentions(word: str) -> set[str]:
    """Files of code, contract and tools that have the word in them."""
    found = set()
    for folder in ("spec", "zeno", "normalizer", "tools"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".json", ".js", ".css"} and word in path.read_text(encoding="utf-8"):
                found.add(path.relative_to(ROOT).as_posix())
    return found


def test_there_are_recipes():
    assert set(RECIPES) == {
        "add an operation", "add an argument", "declare a dialect", "add a statistic", "add a reason code",
    }  # fmt: skip


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_step_names_a_file_that_speaks_of_the_example(recipe):
    example, paths = steps(recipe)
    assert len(paths) > 2
    for path in paths:
        assert (ROOT / path).exists(), path
        if (ROOT / path).is_file() and recipe != "declare a dialect":
            assert example in (ROOT / path).read_text(encoding="utf-8"), f"{path} does not mention {example}"


@pytest.mark.parametrize("recipe", RECIPES)
def test_no_recipe_lacks_a_step(recipe):
    example, paths = steps(recipe)
    forgotten = mentions(example) - set(paths) - NO_STEP[example].keys()
    assert not forgotten, f"ARCHITECTURE.md, {recipe}: these files mention {example}; add a step, or a reason here"
    assert NO_STEP[example].keys() <= mentions(example), "a reason that is no longer needed"


def test_every_file_that_is_named_exists():
    named = set(re.findall(r"`((?:zeno|normalizer|spec|tests|tools|docs)/[\w./-]+)`", TEXT))
    assert len(named) > 60
    assert [path for path in sorted(named) if "NAME" not in path and not (ROOT / path).exists()] == []


@pytest.mark.parametrize("package", ROOMS)
def test_every_room_is_described(package):
    for room in ROOMS[package].split(" → "):
        if (ROOT / package / room).is_dir():
            assert f"`{package}/{room}`" in TEXT, f"{package}/{room}"


# The number may only get smaller.
MOST_MODULES = 20


def test_a_cold_grep_passes_few_modules(tmp_path):
    """Modules of zeno that run code between a request line and its answer; those of the session are among them."""
    (tmp_path / "a.py").write_text("def needle(): pass\n")
    line = b'{"id":"1","op":"grep","args":{"pattern":"needle"}}'
    passed: set[str] = set()

    def see(frame, _event, _argument):
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT / "zeno"):
            passed.add(path.relative_to(ROOT).as_posix())

    with Tree(str(tmp_path)) as tree:
        server = Server(ColdCorpus(tree))
        assert b"needle" in server.answer(line)
        sys.setprofile(see)
        try:
            server.answer(line)
        finally:
            sys.setprofile(None)
    assert {"zeno/ops/grep.py", "zeno/search/loop.py", "zeno/files/walk.py"} <= passed
    assert len(passed) <= MOST_MODULES, sorted(passed)
