"""The help of every command of both programs: one style, wrapped to the terminal, with an example that is one."""

import json
import re
import shlex
from contextlib import suppress
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from normalizer.cli import COMMANDS, group, load_command, main
from normalizer.terminal.help_format import ARGUMENTS, EXAMPLES
from tests.spec.test_words import ACTIONS
from zeno.cli.parser import main as zeno

WORDS = json.loads((Path(__file__).parents[2] / "spec" / "words.json").read_text())
OF_ZENO = sorted({name for name, _ in ACTIONS})


def help_of(name: str, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    program, *words = name.split()
    monkeypatch.setenv("COLUMNS", str(columns))
    if program == "zeno":
        with pytest.raises(SystemExit):
            zeno([*words, "--help"])
    else:
        assert main([*words, "--help"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", [*OF_ZENO, "normalizer", *(f"normalizer {name}" for name in COMMANDS)])
def test_help_has_one_style_and_fits_the_terminal(name, monkeypatch, capsys):
    for columns in (60, 80, 200):
        text = help_of(name, columns, monkeypatch, capsys)
        assert [line for line in text.splitlines() if len(line) > columns] == []
        usage, blank, about = text.splitlines()[:3]
        assert usage.startswith(f"Usage: {name} [OPTIONS]")
        assert blank == ""
        assert about[0].isupper()
        headings = [each for each in re.findall(r"^(\S.*):$", text, re.MULTILINE) if each in ("Arguments", "Options")]
        assert headings[-1] == "Options"
        assert "--help Show this message and exit." in " ".join(text.split())
        assert not re.search(r"\{\w+,", text), "choices are [a|b]"


def test_a_bare_command_prints_its_help(capsys):
    assert main([]) == 2
    printed = capsys.readouterr().err
    assert "\nRead:\n  normalize " in printed
    assert "\N{REPLACEMENT CHARACTER}" not in printed


def test_arguments_have_the_names_of_the_table():
    named = {
        each.make_metavar(click.Context(click.Command(name))).strip("[].")
        for name in (*COMMANDS, "completion")
        for each in load_command(name).params
        if isinstance(each, click.Argument)
    }
    assert named == ARGUMENTS.keys()
    assert named <= WORDS["arguments"].keys()


def test_every_command_has_an_example_that_it_takes():
    assert EXAMPLES.keys() == COMMANDS.keys()
    for name, example in EXAMPLES.items():
        words = shlex.split(example.partition(" > ")[0])
        assert words[0] == name
        command = group.get_command(click.Context(group), name)
        assert command is not None
        with suppress(click.BadParameter):  # a file that is not there
            command.make_context(name, words[1:])
        shown = CliRunner().invoke(group, [name, "--help"], prog_name="normalizer").output
        assert f"Example: normalizer {example}" in " ".join(shown.split())
