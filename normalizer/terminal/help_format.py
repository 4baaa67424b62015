"""Options, and the help of a command, in the style of `zeno`: how it is called, what it does, arguments, options."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

ARGUMENTS = {
    "BASE": "The ledger or file to compare with.",
    "BUNDLE": "A judge bundle, a file of another tool, or a folder of them; - is standard input.",
    "CANDIDATE": "The ledger or file that is judged.",
    "DOCUMENT": "A rubric, a run manifest, a dialect or a JSON Schema.",
    "FILE": "A file of judgements.",
    "LEDGER": "A folder that normalize wrote.",
    "NAME": "A name from the list.",
    "PAGE": "A page of the list, such as dialects.",
    "RECORD": "A record, by its id, its file or its artifact, or a bundle, by its hash.",
    "RUN.json": "A run manifest.",
    "SHA256": "The hash of a bundle, or its first digits.",
    "SHELL": "One of bash, fish and zsh.",
    "STUDY": "A study file.",
    "TABLE": "A published table.",
}
"""The arguments of all commands."""

_OR_A_FILE = "A folder that normalize wrote, or a file of judgements."

EXAMPLES = {
    "normalize": "normalize runs/*.json --out ledger",
    "guess": "guess scores.csv --save guessed",
    "dialects": "dialects judgebench",
    "lint": "lint rubric.json run.json",
    "judge": "judge run.json --artifacts files --command ./judge.py --model judge-large --out run",
    "list": "list ledger --invalid",
    "explain": "explain ledger b14f7e47",
    "restore": "restore ledger 4f6ee1 > bundle.json",
    "audit": "audit ledger",
    "repair": "repair ledger --out rebuilt",
    "sign": "sign ledger --key ~/.ssh/id_ed25519",
    "aggregate": "aggregate ledger --by generator_model",
    "compare": "compare ledger --by generator_model",
    "agreement": "agreement ledger",
    "preferences": "preferences ledger --baseline writer-alder",
    "calibrate": "calibrate ledger --gold people",
    "plan": "plan ledger --detect 0.5",
    "gate": "gate base candidate --margin 0.25",
    "check": "check table.csv ledger --by generator_model",
    "report": "report ledger --out report.html",
    "export": "export ledger --to csv --out records.csv",
    "build": "build normalizer.toml",
    "docs": "docs which-number",
}
"""One use of each command."""

_LONGEST = 40
"""Columns of a flag with its choices; longer ones do not fit a narrow terminal."""

_SECTIONS = {
    "Which records count": ("where", "base_where", "candidate_where", "diagnostic", "mix", "judge_kinds", "gold_kinds"),
    "Files in place of ledgers": ("dialect", "rubric"),
    "Checks and limits": ("verify", "quick", "engine", "memory", "jobs", "max_bundle_bytes", "max_entries"),
}
"""Options of many commands, under headings of their own below a command's."""


def option(flag: str, about: str, *names: str, choices: Iterable[str] = (), **more: Any) -> Callable[[F], F]:
    """Return what adds an option, such as `--jobs N`; without a name for a value, choices or a type it is a switch.

    `names` may have the name of the parameter, `more` is what click takes besides. A default is told.
    """
    name, _, value = flag.partition(" ")
    if choices:
        more["type"] = click.Choice(list(choices))
    if value:
        more["metavar"] = value
    elif not {"type", "flag_value"} & more.keys():
        more["is_flag"] = True
    return click.option(name, *names, help=about, show_default=more.get("default") not in (None, ""), **more)


def add_all(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return what adds several options, in this order."""

    def add(function: F) -> F:
        for each in reversed(options):
            function = each(function)
        return function

    return add


class Command(click.Command):
    """A command whose help lists its arguments, and the options that many commands have apart from its own."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command does, as wide as the terminal, and what its arguments are."""
        write_text(formatter, self.help or "")
        names = [each.make_metavar(ctx).strip("[].") for each in self.params if isinstance(each, click.Argument)]
        if names:
            with formatter.section("Arguments"):
                formatter.write_dl([(name, self.describe(name)) for name in names])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options, then those of many commands under their headings."""
        for heading, options in self.sections(ctx):
            with formatter.section(heading):
                formatter.write_dl(options, col_max=28)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one use of the command."""
        if ctx.info_name in EXAMPLES:
            write_text(formatter, f"Example: normalizer {EXAMPLES[ctx.info_name]}")

    def sections(self, ctx: click.Context) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Yield headings, each with its options as they are typed and what they do."""
        # A dialect that does not stand for a ledger is the command's own.
        shared = {name: heading for heading, names in _SECTIONS.items() for name in names}
        if not self._takes_files():
            shared = {name: heading for name, heading in shared.items() if name not in ("dialect", "rubric")}
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        for heading in ("Options", *_SECTIONS):
            own = [each for each in options if shared.get(each.name or "", "Options") == heading]
            if rows := [_list_choices(*record) for each in own if (record := each.get_help_record(ctx)) is not None]:
                yield heading, rows

    def _takes_files(self) -> bool:
        return any(each.name == "dialect" and not each.expose_value for each in self.params)

    def describe(self, name: str) -> str:
        """Return what an argument is."""
        return _OR_A_FILE if name == "LEDGER" and self._takes_files() else ARGUMENTS[name]


def describe_parameter(parameter: click.Parameter, ctx: click.Context) -> tuple[str, str]:
    """Return an option or an argument as it is typed, and what it is, in a sentence."""
    if isinstance(parameter, click.Option):
        flag, about = parameter.get_help_record(ctx) or (parameter.opts[0], "")
        return flag, about.partition("  [")[0]
    name = parameter.make_metavar(ctx).strip("[].")
    return name, ctx.command.describe(name) if isinstance(ctx.command, Command) else ""


def _list_choices(flag: str, about: str) -> tuple[str, str]:
    """Return a flag whose many choices stand in what it does, where they can be wrapped."""
    name, _, choices = flag.partition(" [")
    if len(flag) <= _LONGEST or not choices:
        return flag, about
    return f"{name} CHOICE", f"{about}  [{choices[:-1].replace('|', ', ')}]"


def write_text(formatter: click.HelpFormatter, text: str) -> None:
    """Write the paragraphs of a help text."""
    formatter.write_paragraph()
    formatter.write_text("\n\n".join(" ".join(part.split()) for part in text.split("\n\n")))
