"""Completion scripts, run by the shells they are for."""

import subprocess
import sys

import pytest

from tests.support.lacking import needs
from zeno.cli.install.completion import SHELLS, commands
from zeno.cli.parser import make_parser


def made(shell: str) -> str:
    command = [sys.executable, "-m", "zeno", "completion", shell]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def bash(script: str, *words: str) -> set[str]:
    """What bash offers for the last of the words."""
    typed = " ".join(f"'{word}'" for word in ("zeno", *words))
    program = f"{script}\nCOMP_WORDS=({typed}); COMP_CWORD={len(words)}; _zeno; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    return set(subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True).stdout.split())


def fish(script: str, typed: str) -> set[str]:
    program = f"{script}\ncomplete --do-complete '{typed}'"
    done = subprocess.run(["fish", "--no-config", "-c", program], capture_output=True, text=True, check=True)
    return {line.split("\t")[0] for line in done.stdout.splitlines()}


def test_bash_offers_commands_subcommands_and_flags():
    script = made("bash")
    assert bash(script, "se") == {"serve"}
    assert bash(script, "trace", "ver") == {"verify"}
    assert bash(script, "trace", "subcall", "") >= {"start", "end"}
    assert bash(script, "serve", "--root", "x", "--max-l") == {"--max-lines"}
    assert bash(script, "completion", "") >= set(SHELLS)
    assert bash(script, "call", "list") == {"list_files"}
    assert bash(script, "docs", "prot") == {"protocol"}
    assert bash(script, "schema", "gre") == {"grep"}


@needs("fish", "fish")
def test_fish_offers_commands_subcommands_and_flags():
    script = made("fish")
    assert fish(script, "zeno se") == {"serve"}
    assert fish(script, "zeno trace ver") == {"verify"}
    assert fish(script, "zeno trace subcall ") >= {"start", "end"}
    assert fish(script, "zeno serve --max-l") == {"--max-lines"}


@needs("zsh", "zsh")
def test_zsh_loads_the_script_and_knows_every_command():
    script = made("zsh")
    program = (
        'compdef() { print -r -- "compdef $*" }; compadd() { shift; print -rl -- $@ }; _files() { : }\n'
        f"{script}\nwords=(zeno trace subcall ''); CURRENT=4; _zeno"
    )
    done = subprocess.run(["zsh", "-f", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "compdef _zeno zeno"
    assert {"start", "end"} <= set(done.stdout.split())


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_and_flag_of_the_parser_is_in_the_script(shell):
    script = made(shell)
    for command in commands(make_parser(of_trace=True)):
        for word, _ in (*command.words, *command.flags):
            assert (word[2:] if shell == "fish" and word.startswith("--") else word) in script
