"""The help of `zeno`, in the style of `normalizer`: how it is called, what it does, arguments, options, limits last."""

import argparse
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from typing import Any

_WIDEST = 100
"""Columns of a line on a terminal that is wider."""


class HelpFormatter(argparse.HelpFormatter):
    """Short usage, headings in words, and sentences, wrapped to the terminal."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=min(shutil.get_terminal_size().columns, _WIDEST) - 2)

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[Any],
        prefix: str | None = None,
    ) -> None:
        """Add the words that are typed: options are listed below. The empty prefix asks for the name of a command."""
        if prefix == "":
            super().add_usage(usage, actions, groups, prefix)
            return
        words = [_word(action) for action in actions if not action.option_strings]
        super().add_usage(usage or " ".join(["%(prog)s [OPTIONS]", *words]), [], groups, "Usage: ")

    def _expand_help(self, action: argparse.Action) -> str:
        text = super()._expand_help(action)
        about, default = re.fullmatch(r"(.*?)(?: \((default: .*)\))?", text, re.DOTALL).groups()  # type: ignore[union-attr] # all text matches
        end = "" if re.search(r"[.?:]$", about) else "."
        return f"{about[:1].upper()}{about[1:]}{end}" + (f"  [{default}]" if default else "")

    def _metavar_formatter(self, action: argparse.Action, default_metavar: str) -> Callable[[int], tuple[str, ...]]:
        if action.choices is not None and action.metavar is None:
            return lambda size: (f"[{'|'.join(map(str, action.choices or ()))}]",) * size
        return super()._metavar_formatter(action, default_metavar)


def _word(action: argparse.Action) -> str:
    name = str(action.metavar or action.dest)
    if isinstance(action, argparse._SubParsersAction):
        return f"{name} [ARGS]..."
    shown = {"?": f"[{name}]", "*": f"[{name}]...", "+": f"{name}..."}
    return shown.get(str(action.nargs), name)


def format_help(parser: argparse.ArgumentParser, listed: dict[str, Sequence[str]]) -> str:
    """Return the help of a parser whose commands stand under headings."""
    formatter = parser._get_formatter()
    formatter.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups)
    formatter.add_text(parser.description)
    commands: list[argparse.Action] = []
    for group in parser._action_groups:
        own = [each for each in group._group_actions if not isinstance(each, argparse._SubParsersAction)]
        own.sort(key=lambda each: each.dest == "help")  # last, as in the help of normalizer
        for each in group._group_actions:
            if isinstance(each, argparse._SubParsersAction):
                commands = list(each._choices_actions)
        formatter.start_section(_HEADINGS.get(str(group.title), group.title))
        formatter.add_text(group.description)
        formatter.add_arguments(own)
        formatter.end_section()
    for heading, names in (listed or {"Commands": [each.dest for each in commands]}).items():
        formatter.start_section(heading)
        formatter.add_arguments([each for name in names for each in commands if each.dest == name])
        formatter.end_section()
    formatter.add_text(parser.epilog)
    return formatter.format_help()


_HEADINGS = {"positional arguments": "Arguments", "options": "Options"}
