"""One set of words and flags for both commands, their help, pages and docs: the table is `words.json`."""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import click
import pytest

from normalizer.cli import COMMANDS, load_command
from zeno.cli.parser import make_parser
from zeno.trace.verify import CitationVerdict

ROOT = Path(__file__).parents[2]
TABLE: dict[str, Any] = json.loads((Path(__file__).parent / "words.json").read_text())
PARAMETERS: dict[str, list[click.Parameter]] = {name: load_command(name).params for name in COMMANDS}
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "llms.txt", "AGENTS.md")]
PAGES += [page for page in sorted((ROOT / "docs").rglob("*.md")) if "example" not in str(page)]


def zeno_actions(parser: argparse.ArgumentParser, name: str = "zeno") -> Iterator[tuple[str, argparse.Action]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner, below in action.choices.items():
                yield from zeno_actions(below, f"{name} {inner}")
        else:
            yield name, action


ACTIONS = list(zeno_actions(make_parser()))


def flags() -> Iterator[tuple[str, str, str, str | None]]:
    """Every flag: its command, its name, what it takes, and its help."""
    for name, parameters in PARAMETERS.items():
        for each in parameters:
            if isinstance(each, click.Option):
                value = "choice" if isinstance(each.type, click.Choice) else each.metavar or ""
                yield name, each.opts[0], "" if each.is_flag else value, each.help
    for name, action in ACTIONS:
        if action.option_strings:
            taken = "" if action.nargs == 0 else "choice" if action.choices else str(action.metavar)
            yield name, action.option_strings[-1], taken, action.help


def test_a_flag_takes_one_kind_of_value_wherever_it_stands_and_has_a_help():
    found: dict[str, set[str]] = {}
    for command, flag, value, about in flags():
        found.setdefault(flag, set()).add(value)
        assert about, f"{command} {flag}"
    assert {flag: sorted(values) for flag, values in sorted(found.items())} == {
        flag: [value] if isinstance(value, str) else value for flag, value in TABLE["flags"].items()
    }


def test_arguments_have_the_names_of_the_table():
    named = {
        each.make_metavar(click.Context(click.Command(name))).strip("[].")
        for name, parameters in PARAMETERS.items()
        for each in parameters
        if isinstance(each, click.Argument)
    }
    for _, action in ACTIONS:
        if not action.option_strings:
            named |= set(str(action.metavar).replace("[DIR] ", "DIR ").split())
    assert named == TABLE["arguments"].keys()


def test_a_directory_may_stand_alone_in_every_command_that_has_a_root():
    with_root = {name for name, action in ACTIONS if "--root" in action.option_strings}
    with_directory = {name for name, action in ACTIONS if "DIR" in str(action.metavar) and not action.option_strings}
    writers = {"claim", "record", "append", "subcall start", "subcall end"}  # their words are claims, programs, ids
    assert with_root - with_directory == {f"zeno trace {name}" for name in writers}


def test_a_file_may_stand_for_a_ledger_wherever_numbers_are_made_or_records_looked_at():
    ledgers = {name for name, each in PARAMETERS.items() if any(one.name in ("ledgers", "base") for one in each)}
    for name in (*ledgers, "list", "explain"):
        options = {each.opts[0] for each in PARAMETERS[name]}
        assert {"--dialect", "--rubric"} <= options, name


def test_every_command_that_prints_what_it_found_has_format_with_text_first():
    formats = {name: each.type for name, parameters in PARAMETERS.items() for each in parameters if each.name == "form"}
    formats.pop("export")  # --to is its own list
    assert PARAMETERS.keys() - formats.keys() == TABLE["without_format"].keys()
    listed = [list(kind.choices) for kind in formats.values() if isinstance(kind, click.Choice)]
    listed += [list(action.choices or ()) for _, action in ACTIONS if "--format" in action.option_strings]
    for choices in listed:
        assert choices[0] == "text"
        assert choices == [form for form in TABLE["formats"] if form in choices]


def test_the_page_of_a_trace_has_the_verdicts_of_the_terminal():
    script = (ROOT / "zeno/trace/page/view.js").read_text()
    for constant, name in (("VERDICTS", "citations"), ("ANSWERS", "cited answers")):
        block = re.search(rf"const {constant} = \{{(.*?)\}};", script, re.DOTALL)
        assert block is not None
        assert re.findall(r"(\w+): \"", block[1]) == TABLE["verdicts"][name]
    words = re.search(r"const claimWord = .*", script)
    assert words is not None
    assert set(re.findall(r'"([^"]+)"', words[0])) == set(TABLE["verdicts"]["claims of a trace"])
    assert set(TABLE["verdicts"]["citations"]) == set(get_args(CitationVerdict))


@pytest.mark.parametrize("word", TABLE["instead_of"])
def test_no_page_and_no_help_uses_another_word(word):
    pattern = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
    helps = [about or "" for _, _, _, about in flags()]
    found = [text for text in helps if pattern.search(text)]
    found += [str(page.relative_to(ROOT)) for page in PAGES if pattern.search(page.read_text())]
    assert found == [], f"say {TABLE['instead_of'][word]}"
