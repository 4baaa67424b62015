"""`normalizer man`: the manual page of the command, made from the texts of --help."""

from importlib.metadata import version

import click

from normalizer.terminal.help_format import Command

_EXIT_STATUS = {
    "0": "all is well",
    "1": "the command ran and found something: invalid records, cells that do not follow, a gate that fails",
    "2": "it could not run, and changed nothing; the message says why and what would be right",
    "130": "it was ended with Ctrl-C",
}


@click.command(cls=Command)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Print the manual page, for `normalizer man | man -l -` or a folder of manual pages."""
    click.echo(page(ctx.find_root(), version("zeno-normalizer")), nl=False)


def page(root: click.Context, number: str) -> str:
    """Return the manual page of a group and all its commands, in the man macros of roff."""
    group = root.command
    assert isinstance(group, click.Group)  # noqa: S101 - for the type checker
    about = group.get_short_help_str(200).rstrip(".")
    lines = [
        f'.TH NORMALIZER 1 "" "normalizer {number}" "User Commands"',
        ".SH NAME",
        f"normalizer \\- {_text(about[:1].lower() + about[1:])}",
        ".SH SYNOPSIS",
        ".B normalizer",
        ".I COMMAND",
        "[options]",
        ".SH DESCRIPTION",
        _text(group.help or ""),
        *_options(group, root),
        ".SH COMMANDS",
    ]
    for name in group.list_commands(root):
        inner = group.get_command(root, name)
        assert inner is not None  # noqa: S101 - for the type checker
        ctx = click.Context(inner, info_name=name, parent=root)
        usage = " ".join([f"normalizer {name}", *inner.collect_usage_pieces(ctx)])
        lines += [f".SS {_escape(f'normalizer {name}')}", *_paragraphs(inner.help or "")]
        lines += [".PP", ".nf", _text(usage), ".fi", *_options(inner, ctx)]
    lines.append(".SH EXIT STATUS")
    for status, meaning in _EXIT_STATUS.items():
        lines += [".TP", f".B {status}", _text(meaning)]
    return "\n".join(lines) + "\n"


def _options(command: click.Command, ctx: click.Context) -> list[str]:
    lines = []
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None:
            flags, about = record
            lines += [".TP", f"\\fB{_escape(flags)}\\fR", _text(about)]
    return lines


def _paragraphs(text: str) -> list[str]:
    parts = [_text(part) for part in text.split("\n\n")]
    return [line for part in parts for line in (part, ".PP")][:-1]


def _text(text: str) -> str:
    """Escape a paragraph: no line of it is a request of roff, and hyphens stay what is typed."""
    escaped = _escape(" ".join(text.replace("\b", " ").split()))
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _escape(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-")
