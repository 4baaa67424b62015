"""`normalizer aggregate`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from normalizer.aggregate.recipes import read_recipe
from normalizer.aggregate.summary import aggregate
from normalizer.commands import options
from normalizer.commands.unknown_levels import tell_unknown_levels
from normalizer.documents.exact import PLACES
from normalizer.errors import CannotRun
from normalizer.statistics.sensitivity import aggregate_with_sensitivity
from normalizer.tables import formats, summary_table
from normalizer.terminal.help_format import Command, option
from normalizer.terminal.output import WIDE, print_table, print_tables, show_elapsed

SHOWN = 3
"""Decimal places in tables for people: fixed, so that numbers below each other are compared at a glance."""


@click.command(cls=Command)
@options.add_ledgers
@options.add_by("Keys of the groups, with commas.")
@options.add_intervals
@options.add_format(*options.FORMATS)
@option("--places N", f"Decimal places.  [default: {SHOWN}; {PLACES} in json and csv]", type=click.IntRange(0, 12))
@option(
    "--cells",
    "A table for a paper: each cell is a mean, with half of its interval or its standard deviation.",
    choices=["mean", "mean-ci", "mean-sd"],
)
@option("--columns NAMES", "Only these columns, with commas, in this order.", default="")
@option("--rename OLD=NEW", "Another name for a column; repeatable.", multiple=True)
@option(
    "--sensitivity",
    "Also invalid rates, the bounds that INVALID records and absent files leave, means without each judge.",
)
@option("--bold", "With --cells: the best of each column in bold.", choices=["highest", "lowest"])
@options.add_recipe("scores")
@WIDE
@options.add_selection
@options.add_files
def command(
    ledgers: tuple[Path, ...], form: str, places: int | None, cells: str | None, sensitivity: bool, **asked: Any
) -> int:
    """Mean, spread and interval of total and dimensions, group by group, over VALID and eligible records only.

    KEYS are judge_model, generator_model, protocol_version, judge_prompt_version, phase, run_id and factors.NAME.
    With the unit artifact the judges of each artifact are averaged first. Records left out are counted by reason.
    """
    columns, rename = asked["columns"], asked["rename"]
    if sensitivity and (form in ("csv", "latex") or cells is not None or columns or rename):
        raise CannotRun("--sensitivity has tables of its own: choose json, md or text, without --cells and --columns")
    # A table for a paper is rounded once, when it is written.
    if places is None:
        places = PLACES if form in ("json", "csv") and cells is None else SHOWN
    with show_elapsed("aggregate", shown=not asked["verify"]):
        recipe = read_recipe(asked["recipe"], asked["recipe_file"])
        exact = places if cells is None else places + 12
        chosen = replace(options.read_options(asked), recipe=recipe, places=exact)
        make = aggregate_with_sensitivity if sensitivity else aggregate
        folders = options.open_files(ledgers)
        summary = make(folders, chosen)
    tell_unknown_levels(summary, folders)
    if cells is not None or columns or rename:
        if form == "json":
            raise CannotRun("--cells, --columns and --rename are for tables: choose csv, md, latex or text")
        best = {} if asked["bold"] is None else {"lower_is_better": asked["bold"] == "lowest"}
        table = (
            _table(summary, form) if cells is None else summary_table.lay_out_for_paper(summary, cells, places, **best)
        )
        wanted = tuple(name.strip() for name in columns.split(",")) if columns else ()
        print_table(formats.choose_columns(table, wanted, _read_renames(rename)), form)
    elif form == "json":
        click.echo(formats.dumps(summary))
    elif sensitivity:
        more = summary_table.list_sensitivity(summary["sensitivity"], summary["by"])
        print_tables([("Means", summary_table.narrow(summary)), *more], form)
    else:
        print_table(_table(summary, form), form)
    return 0


def _table(summary: dict[str, Any], form: str) -> formats.Table:
    return summary_table.wide(summary) if form == "csv" else summary_table.narrow(summary)


def _read_renames(texts: tuple[str, ...]) -> dict[str, str]:
    names = {}
    for text in texts:
        old, sign, new = text.partition("=")
        if not sign or not new:
            raise CannotRun(f"--rename {text} gives no name: write OLD=NEW")
        names[old] = new
    return names
