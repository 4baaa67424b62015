"""Manual pages: every command and option of --help is in them, and roff reads them without a warning."""

import argparse
import subprocess
import sys

import click
import pytest

from normalizer.cli import COMMANDS, group
from tests.support.lacking import needs
from tools.release import manual_pages
from zeno.cli.install.completion import commands
from zeno.cli.parser import make_parser


def man(name: str) -> str:
    return subprocess.run([sys.executable, "-m", name, "man"], capture_output=True, text=True, check=True).stdout


def rendered(page: str) -> str:
    """The page as `man` shows it, in one long line."""
    command = ["groff", "-man", "-Tutf8", "-ww", "-rLL=200n", "-P-cbou"]
    done = subprocess.run(command, input=page, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return " ".join(done.stdout.split())


@needs("groff", "groff")
def test_every_command_and_flag_of_zeno_is_in_its_page():
    text = rendered(man("zeno"))
    for command in commands(make_parser(of_trace=True)):
        if not any(word in ("start", "verify", "serve") for word, _ in command.words):
            assert " ".join(("zeno", *command.path)) in text
        for flag, about in command.flags:
            assert flag in text
            assert about == argparse.SUPPRESS or about.split()[0] in text
    assert "EXIT STATUS" in text
    assert "refuse longer requests (default: 1 MiB)" in text


@needs("groff", "groff")
def test_every_command_and_option_of_normalizer_is_in_its_page():
    text = rendered(man("normalizer"))
    root = click.Context(group, info_name="normalizer")
    for name in COMMANDS:
        assert f"normalizer {name} [OPTIONS]" in text
        command = group.get_command(root, name)
        assert command is not None
        for parameter in command.params:
            for flag in parameter.opts if isinstance(parameter, click.Option) else ():
                assert flag in text
    assert "Give either" not in text
    assert "nothing was changed." in text


@needs("man", "man-db")
@pytest.mark.parametrize("name", ["zeno", "normalizer"])
def test_man_shows_the_page(name, tmp_path):
    (tmp_path / "page.1").write_text(man(name))
    command = ["man", "--warnings", "-l", str(tmp_path / "page.1")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{name.upper()}(1)" in done.stdout
    assert done.stderr == ""


def test_pages_do_not_depend_on_the_terminal(monkeypatch):
    before = manual_pages()
    monkeypatch.setenv("COLUMNS", "30")
    assert manual_pages() == before
