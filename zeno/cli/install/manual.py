"""`zeno man`: the manual page of the command, made from the texts of --help."""

import argparse
from collections.abc import Iterator

EXIT_STATUS = {
    "0": "success",
    "1": "the command ran and its answer is an error, or it found something",
    "2": "it could not run; the message says why and what would be right",
    "130": "it was ended with Ctrl-C",
}


def page(parser: argparse.ArgumentParser, version: str) -> str:
    """Return the manual page of a parser and all its commands, in the man macros of roff."""
    name = parser.prog
    lines = [
        f'.TH {_escape(name.upper())} 1 "" "{name} {version}" "User Commands"',
        ".SH NAME",
        f"{_escape(name)} \\- {_text(_lower_first(parser.description or ''))}",
        ".SH SYNOPSIS",
        f".B {_escape(name)}",
        ".I COMMAND",
        "[options]",
        ".SH DESCRIPTION",
        _text(parser.description or ""),
        *_options(parser),
        ".SH COMMANDS",
    ]
    for words, inner in _commands(parser, ()):
        lines += [f".SS {_escape(' '.join((name, *words)))}", _text(inner.description or "")]
        lines += [".PP", ".nf", _text(_usage(inner)), ".fi"]
        lines += _options(inner)
        if inner.epilog:
            lines += [".PP", _text(inner.epilog)]
    lines.append(".SH EXIT STATUS")
    for status, meaning in EXIT_STATUS.items():
        lines += [".TP", f".B {status}", _text(meaning)]
    return "\n".join(lines) + "\n"


def _commands(
    parser: argparse.ArgumentParser, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """The commands below a parser that have no commands below them."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                if any(isinstance(one, argparse._SubParsersAction) for one in inner._actions):
                    yield from _commands(inner, (*path, name))
                else:
                    yield (*path, name), inner


def _options(parser: argparse.ArgumentParser) -> list[str]:
    lines = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction) or action.help == argparse.SUPPRESS:
            continue
        value = "" if action.nargs == 0 else str(action.metavar or "|".join(map(str, action.choices or ())))
        if action.option_strings:
            head = ", ".join(f"\\fB{_escape(flag)}\\fR" for flag in action.option_strings)
            head += f" \\fI{_escape(value)}\\fR" if value else ""
        else:
            head = f"\\fI{_escape(value or action.dest)}\\fR"
        lines += [".TP", head, _text(action.help or "")]
    return lines


def _usage(parser: argparse.ArgumentParser) -> str:
    """The usage on one line, whatever the width of the terminal is."""
    return " ".join(parser.format_usage().removeprefix("Usage: ").split())


def _lower_first(text: str) -> str:
    return (text[:1].lower() + text[1:]).rstrip(".")


def _text(text: str) -> str:
    """Escape a paragraph: no line of it is a request of roff, and hyphens stay what is typed."""
    escaped = _escape(" ".join(text.replace("%%", "%").split()))
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _escape(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-")
