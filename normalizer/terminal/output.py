"""Print tables and lines: fitted and in colour on a terminal, as they are elsewhere."""

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable

import click

from normalizer.tables import formats
from normalizer.tables.formats import Table
from normalizer.terminal.fitted import cut, fit_table

_META = "normalizer.terminal.wide"


def _remember(ctx: click.Context, _: click.Parameter, wide: bool) -> None:
    ctx.meta[_META] = wide


WIDE = click.option(
    "--wide",
    is_flag=True,
    expose_value=False,
    callback=_remember,
    help="On a terminal: show whole cells and all columns, however long lines get.",
)
"""The option of every command that prints a table as text."""


def print_table(table: Table, form: str, *, nl: bool = False) -> None:
    """Print a table in a format. `nl`: with an empty line after it."""
    if form == "text" and _on_terminal():
        text = fit_table(table, _width(), colour=_in_colour())
    else:
        text = formats.write_table(table, form)
    # Bytes that a terminal would take for colours may be part of a name, and stay.
    click.echo(text, nl=nl, color=True)


def print_tables(named: Iterable[tuple[str, Table]], form: str) -> None:
    """Print tables with their titles."""
    for name, table in named:
        title = name
        if form == "text" and _on_terminal() and (width := _width()) is not None:
            title = textwrap.fill(title, width)
        click.echo(f"## {title}\n" if form == "md" else title)
        print_table(table, form, nl=True)


def print_line(line: str) -> None:
    """Print one line, cut to the terminal's width."""
    width = _width() if _on_terminal() else None
    click.echo(line if width is None else cut(line, width), color=True)


def _on_terminal() -> bool:
    return sys.stdout.isatty()


def _width() -> int | None:
    """Columns of the terminal; None where --wide asks for all."""
    ctx = click.get_current_context(silent=True)
    if ctx is not None and ctx.meta.get(_META):
        return None
    return shutil.get_terminal_size().columns


def _in_colour() -> bool:
    return "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
