"""docs/guides/trace.md names every command of `zeno trace`. What its commands print is compared by test_docs.py."""

import re
from pathlib import Path

import pytest

from zeno.cli.parser import main

DOCS = Path(__file__).parents[2] / "docs" / "guides"
PAGE = (DOCS / "trace.md").read_text(encoding="utf-8")
COMMANDS = ["lint", "replay", "verify", "coverage", "view", "record", "claim", "subcall start", "subcall end", "append"]


def test_every_command_is_told_of_and_helps(capsys):
    for command in COMMANDS:
        with pytest.raises(SystemExit) as ended:
            main(["trace", *command.split(), "--help"])
        assert ended.value.code == 0
        assert "--format" in capsys.readouterr().out
        assert f"`{command}" in PAGE
    for picture in re.findall(r"\((img/[^)]+)\)", PAGE):
        assert (DOCS / picture).is_file()
