"""ARCHITECTURE.md and CONTRIBUTING.md name files that exist, and recipes have every step of a change.

A recipe's worked example is looked up in the whole code: a file that mentions it and is no step of the recipe is a
forgotten step.
"""

import asyncio
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from mcp import Client

from tests.spec.test_layout import ROOMS
from tests.support.patience import until
from zeno.cache.warm_corpus import WarmCorpus
from zeno.files.tree import Tree
from zeno.interfaces.mcp.tools import Calls, mcp_server
from zeno.interfaces.workers import Workers
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server

ROOT = Path(__file__).parents[2]
TEXT = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("ARCHITECTURE.md", "CONTRIBUTING.md"))
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
        "spec/rules/guess_words.json": "a word that columns are called by",
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
    assert not forgotten, f"CONTRIBUTING.md, {recipe}: these files mention {example}; add a step, or a reason here"
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


# The numbers may only get smaller.
MOST_MODULES = 20
MOST_MODULES_OF_MCP = 26


@contextmanager
def passing() -> Iterator[set[str]]:
    """Collect the modules of zeno that run code in this thread."""
    passed: set[str] = set()

    def see(frame, _event, _argument):
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT / "zeno"):
            passed.add(path.relative_to(ROOT).as_posix())

    sys.setprofile(see)
    try:
        yield passed
    finally:
        sys.setprofile(None)


def test_a_cold_grep_passes_few_modules(tmp_path):
    """Modules of zeno that run code between a request line and its answer; those of the session are among them."""
    (tmp_path / "a.py").write_text("def needle(): pass\n")
    line = b'{"id":"1","op":"grep","args":{"pattern":"needle"}}'
    with Tree(str(tmp_path)) as tree:
        server = Server(ColdCorpus(tree))
        assert b"needle" in server.answer(line)
        with passing() as passed:
            server.answer(line)
    assert {"zeno/ops/grep.py", "zeno/search/loop.py", "zeno/files/walk.py"} <= passed
    assert len(passed) <= MOST_MODULES, sorted(passed)


class OnlyCalls(Workers):
    """Workers whose server does no background work, which belongs to no call."""

    def start_warming(self) -> None:
        pass


async def grep_over_mcp(server: Server) -> set[str]:
    """Modules that run code between the call of a tool and its result, in the event loop and in the thread."""
    with OnlyCalls(server) as workers, ExitStack() as stack:
        async with Client(mcp_server(workers, Calls())) as client:
            await client.call_tool("grep", {"pattern": "needle"})
            in_thread = await workers.run(lambda: stack.enter_context(passing()))
            with passing() as passed:
                result = await client.call_tool("grep", {"pattern": "needle"})
            await workers.run(stack.close)
            assert "needle" in str(result.content)
            return passed | in_thread


def test_a_warm_grep_over_mcp_passes_few_modules(tmp_path):
    # Enough text for an index.
    for number in range(20):
        (tmp_path / f"{number}.py").write_text(f"def needle_{number}(): pass\n" + "some_other = text\n" * 4000)
    with Tree(str(tmp_path)) as tree:
        corpus = WarmCorpus(tree, 1 << 26)
        # A clock that stands: on a busy machine the request would be moved to another process.
        server = Server(corpus, clock=lambda: 0.0)
        until(lambda: not server.idle() and not corpus.texts.index._builder.is_busy, "everything is prepared")
        passed = asyncio.run(grep_over_mcp(server))
        corpus.close()
    assert {"zeno/interfaces/mcp/tools.py", "zeno/cache/located.py", "zeno/index/piece_index.py"} <= passed
    assert len(passed) <= MOST_MODULES_OF_MCP, "\n".join(sorted(passed))
