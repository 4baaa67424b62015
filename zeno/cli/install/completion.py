"""`zeno completion SHELL`: a completion script for bash, zsh or fish, made from the command line's own parser."""

import argparse
from collections.abc import Iterator
from typing import NamedTuple

import contract_spec as spec
from contract_spec import pages

SHELLS = ("bash", "zsh", "fish")


class Command(NamedTuple):
    """A command with the words that may follow it: subcommands, or a choice of arguments, and flags."""

    path: tuple[str, ...]
    words: tuple[tuple[str, str], ...]
    flags: tuple[tuple[str, str], ...]
    values: dict[str, tuple[str, ...]]
    """By flag: the values that it takes, where they are listed."""


def commands(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[Command]:
    """Every command below a parser, itself first."""
    words: list[tuple[str, str]] = []
    flags: list[tuple[str, str]] = []
    values: dict[str, tuple[str, ...]] = {}
    below: list[tuple[tuple[str, ...], argparse.ArgumentParser]] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {one.dest: one.help or "" for one in action._choices_actions}
            for name, inner in action.choices.items():
                words.append((name, helps.get(name, "")))
                below.append(((*path, name), inner))
        elif action.option_strings:
            flags += [(name, action.help or "") for name in action.option_strings]
            if action.choices:
                values[action.option_strings[-1]] = tuple(map(str, action.choices))
        elif action.choices:
            words += [(str(choice), "") for choice in action.choices]
    words += [(word, "") for word in _values(path)]
    yield Command(path, tuple(words), tuple(flags), values)
    for inner_path, inner in below:
        yield from commands(inner, inner_path)


def _values(path: tuple[str, ...]) -> list[str]:
    """Return the words that may follow a command whose parser does not list them."""
    schemas = [name.removesuffix(".json") for name in spec.names()]
    known: dict[tuple[str, ...], list[str]] = {
        ("call",): [name.removeprefix("zeno/ops/") for name in schemas if name.startswith("zeno/ops/")],
        ("docs",): pages.names(),
        ("schema",): [name.rpartition("/")[2] for name in schemas if name.startswith("zeno/")],
    }
    return known.get(path, [])


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The completion script of a parser's program."""
    name = parser.prog
    listed = list(commands(parser))
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](name, listed)


def _cases(listed: list[Command]) -> str:
    """The branches of a shell `case` that set `words` by the commands typed so far."""
    lines: list[str] = []
    for command in sorted(listed, key=lambda one: -len(one.path)):  # the first pattern that matches counts
        names = " ".join(word for word, _ in (*command.words, *command.flags))
        path = " ".join(command.path)
        lines.append(f"    '{path} '*) words='{names}' ;;")
        # The word before the one that is completed may be a flag with a list of values.
        lines[-1:-1] = [f"    '{path} {flag}') words='{' '.join(known)}' ;;" for flag, known in command.values.items()]
    return "\n".join(lines)


_BASH = """\
# Completion of {name} for bash. Put this into ~/.bashrc:  eval "$({name} completion bash)"
_{function}() {{
  local word path='' words='' known i
  known='{known}'
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${{path:+$path }}${{COMP_WORDS[i]}}"
    case "$known" in *"|$word|"*) path="$word" ;; esac
  done
  case "$path ${{COMP_WORDS[COMP_CWORD-1]}}" in
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _{function} {name}
"""

_ZSH = """\
#compdef {name}
# Completion of {name} for zsh. Put this into ~/.zshrc:  eval "$({name} completion zsh)"
_{function}() {{
  local word path_='' known words_='' i
  known='{known}'
  for ((i = 2; i < CURRENT; i++)); do
    word="${{path_:+$path_ }}${{words[i]}}"
    [[ "$known" == *"|$word|"* ]] && path_="$word"
  done
  case "$path_ ${{words[CURRENT-1]}}" in
{cases}
  esac
  compadd -- ${{=words_}}
  [[ "${{words[CURRENT]}}" == -* ]] || _files
}}
if [[ "$funcstack[1]" == "_{function}" ]]; then _{function} "$@"; else compdef _{function} {name}; fi
"""


def _list_known(listed: list[Command]) -> str:
    return "|".join(["", *(" ".join(command.path) for command in listed if command.path), ""])


def _bash(name: str, listed: list[Command]) -> str:
    function = name.replace("-", "_")
    return _BASH.format(name=name, function=function, known=_list_known(listed), cases=_cases(listed))


def _zsh(name: str, listed: list[Command]) -> str:
    function = name.replace("-", "_")
    cases = _cases(listed).replace(" words='", " words_='")
    return _ZSH.format(name=name, function=function, known=_list_known(listed), cases=cases)


def _fish(name: str, listed: list[Command]) -> str:
    lines = [f"# Completion of {name} for fish. Save as ~/.config/fish/completions/{name}.fish"]
    for command in listed:
        deeper = [word for word, _ in command.words]
        seen = [f"__fish_seen_subcommand_from {part}" for part in command.path]
        unseen = f"not __fish_seen_subcommand_from {' '.join(deeper)}" if deeper else ""
        condition = "; and ".join(filter(None, [*seen, unseen])) or "true"
        for word, about in command.words:
            lines.append(f"complete -c {name} -n '{condition}' -f -a {word} -d {_quote(about)}")
        for flag, about in command.flags:
            kind = f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
            known = command.values.get(flag)
            taken = f" -x -a {_quote(' '.join(known))}" if known else ""
            lines.append(f"complete -c {name} -n '{condition}' {kind}{taken} -d {_quote(about)}")
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    """Quote text for fish: in single quotes only backslash and the quote itself are special."""
    return "'" + text.replace("%%", "%").replace("\\", "\\\\").replace("'", "\\'") + "'"
