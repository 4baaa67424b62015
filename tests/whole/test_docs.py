"""Every command and snippet of every page runs as printed, and every link leads somewhere."""

import importlib.util
import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.support.doc_pages import ROOT, Block, Step, blocks, matches, pages, steps
from tests.support.transcripts import run_file

PAGES = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in pages()}
RUN = {"sh", "python"}
PARSED = {"json", "jsonl", "toml", "yaml"}
COMMAND = re.compile(r"^ *(?:zeno|normalizer|pip|pipx|uvx|python3?|nox|npx|npm|docker|git|cd|export)\b", re.MULTILINE)
LINK = re.compile(r"(?<!`)\[[^\]\n]*\]\(([^)\s]+)\)")


def commands(page: str) -> int:
    return sum(1 for block in blocks(page) if block.language in RUN and block.not_run is None)


@pytest.mark.parametrize("name", [name for name, page in PAGES.items() if commands(page)])
def test_every_command_prints_what_the_page_shows(name, tmp_path):
    outcomes = run_file(ROOT / name, tmp_path)
    wrong = [
        f"{name}:{one.step.line}: $ {one.step.command}\nshown:\n{one.step.shown}\nprinted:\n{one.printed}"
        for one in outcomes
        if not one.as_shown
    ]
    assert not wrong, "\n\n".join(wrong) + "\n\nTo take over what is printed now: python -m tools.refresh_docs"


@pytest.mark.parametrize("name", PAGES)
def test_every_block_is_run_or_parsed_or_says_why_not(name):
    outputs = {step.span for step in steps(PAGES[name]) if isinstance(step, Step)}
    for block in blocks(PAGES[name]):
        place = f"{name}:{block.line}"
        if block.span in outputs:
            continue
        if block.not_run is not None:
            assert len(block.not_run) > 10, f"{place}: say why the block is not run"
        elif block.language in PARSED:
            parse(block, place)
        elif block.language not in RUN:
            assert block.language, f"{place}: the block names no language"
            assert not COMMAND.search(block.text), f"{place}: a command in a block that is not run"


@pytest.mark.parametrize("name", [name for name in PAGES if name != "tools/locks/LICENCES.md"])  # it quotes licences
def test_lines_of_prose_have_at_most_100_characters(name):
    prose = re.sub(r"^( *)```.*?^\1```$|^---\n.*?^---$", "", PAGES[name], flags=re.MULTILINE | re.DOTALL)
    long = [
        line for line in prose.splitlines() if len(line) > 100 and not line.strip().startswith(("|", "`", "![", "<!--"))
    ]
    assert [line for line in long if " " in line.strip("- ")] == []


def parse(block: Block, place: str) -> None:
    """Fail if the block is not what its language says. JSON may be one document or one document a line."""
    try:
        if block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "json":
            try:
                json.loads(block.text)
            except ValueError:
                [json.loads(line) for line in block.text.splitlines()]
        elif block.language == "jsonl":
            [json.loads(line) for line in block.text.splitlines()]
        else:
            yaml.safe_load(block.text)
    except (ValueError, yaml.YAMLError) as error:
        pytest.fail(f"{place}: {error}")


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_somewhere(name):
    page = re.sub(r"^```.*?^```$", "", PAGES[name], flags=re.MULTILINE | re.DOTALL)
    for target in LINK.findall(page):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / name).parent / path if path else ROOT / name
        assert file.exists(), f"{name}: {target}"
        assert file.resolve().is_relative_to(ROOT), f"{name}: {target}"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{name}: {target}"


def anchors(file: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found.add(name if name not in found else f"{name}-1")
    return found


def test_blanks_stand_for_any_text_in_a_line_and_for_any_lines():
    assert matches("a ... c\n", "a b c\n")
    assert matches("a\n...\nd\n", "a\nb\nc\nd\n")
    assert matches("a\n...\n", "a\n")
    assert not matches("a ... c\n", "a b\nc\n")
    assert not matches("", "a\n")
    assert not matches("a\n", "a\nb\n")


def test_a_text_block_right_behind_commands_is_their_output():
    page = "```sh\necho a\n```\n\n```text\na\n```\n\n```sh\ntrue\n```\n\nWords\n\n```text\nb\n```\n"
    found = [(step.command, step.shown, step.line) for step in steps(page) if isinstance(step, Step)]
    assert found == [("echo a", "a\n", 2), ("true", "", 10)]


@pytest.mark.parametrize("name", PAGES)
def test_commands_can_be_pasted_as_they_stand(name):
    for block in blocks(PAGES[name]):
        assert block.language != "console", f"{name}:{block.line}: commands stand in sh, output in text behind it"
        if block.language == "sh":
            prompts = [line for line in block.text.splitlines() if line.startswith(("$ ", "> "))]
            assert prompts == [], f"{name}:{block.line}"


def test_every_test_that_a_page_names_exists():
    # The tree that the pages about traces follow has tests of its own.
    modules = [path for room in ("tests", "docs") for path in (ROOT / room).rglob("test_*.py")]
    sources = "\n".join(path.read_text(encoding="utf-8") for path in modules)
    known = {*re.findall(r"^def (test_\w+)", sources, re.MULTILINE), "test_case", "test_NAME.py"}
    known |= {name for path in modules for name in (path.name, path.stem)}
    named = [(page, name) for page, text in PAGES.items() for name in re.findall(r"\btest_\w+(?:\.py)?\b(?!/)", text)]
    assert len(named) > 50
    assert [f"{page}: {name}" for page, name in named if name not in known] == []


def test_every_import_path_that_a_page_names_works():
    named = {
        (page, name)
        for page, text in PAGES.items()
        for name in re.findall(r"`((?:zeno|normalizer|contract_models|contract_spec)(?:\.\w+)+)(?:\([^`]*\))?`", text)
        if not name.endswith((".toml", ".json", ".py", ".md"))
    }
    assert len(named) > 5
    assert [f"{page}: {name}" for page, name in sorted(named) if not importable(name)] == []


def importable(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    module, _, attribute = name.rpartition(".")
    if importlib.util.find_spec(module) and hasattr(importlib.import_module(module), attribute):
        return True
    return importlib.util.find_spec(name) is not None
