"""`normalizer check`."""

from pathlib import Path
from typing import Any

import click

from normalizer.checks.published_tables.compare import check, follows
from normalizer.commands.options import LEDGERS, add_intervals, add_selection, join_values, read_grouping
from normalizer.errors import CannotRun
from normalizer.ledger.reader import is_ledger
from normalizer.tables import check_table, formats, pretty
from normalizer.terminal.output import WIDE, print_table
from normalizer.terminal.progress import elapsed


@click.command()
@click.argument("table", type=click.Path(path_type=Path), metavar="TABLE")
@LEDGERS
@click.option(
    "--by",
    multiple=True,
    callback=join_values,
    metavar="KEYS",
    help="Keys of the groups, with commas; columns of the table.",
)
@add_intervals
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME=STATISTIC",
    help="The statistic of a column, such as 'Mean score=total.mean' or 'Model=generator_model'; repeatable.",
)
@click.option("--all", "everything", is_flag=True, help="List the cells that match, too.")
@click.option("--format", "form", type=click.Choice(["json", "text", "csv", "md"]), default="text", show_default=True)
@WIDE
@add_selection
def command(
    table: Path,
    ledgers: tuple[Path, ...],
    columns: tuple[str, ...],
    everything: bool,
    form: str,
    **chosen: Any,
) -> int:
    """Check cell by cell whether a published table follows from these ledgers. Exit status 1 when a cell does not.

    TABLE is CSV (commas, semicolons or tabs), Markdown or LaTeX. Cells may be written 13.32, 13.32 (1.16), with a
    plus-minus sign, in percent, with thousands; the message says which spread it is, or which rounding would be true.
    Columns are known by the names that `aggregate` uses: the keys of --by, n, total, A_DIMENSION, total.sd,
    total.ci95_low, "95 % interval" and so on; --column names others. A cell matches if the exact value, rounded to
    the cell's own number of places, is what it says; where the exact value lies just between two, either is a tie.
    A number for a group that has none does not follow; columns whose names are no statistic are listed and skipped.
    """
    if is_ledger(table):
        raise CannotRun(f"{table} is a ledger: the table comes first, then its ledgers")
    named = {}
    for text in columns:
        name, sign, statistic = text.rpartition("=")
        if not sign:
            raise CannotRun(f"--column {text} names no statistic: write NAME=STATISTIC")
        named[name] = statistic
    with elapsed("check", shown=not chosen["verify"]):
        report = check(table, ledgers, read_grouping(**chosen), named)
    if form == "json":
        click.echo(pretty.dumps(report))
    else:
        found = check_table.table(report, everything=everything)
        if form == "csv" and report["diagnostic"]:
            found = formats.flagged(found, ["diagnostic"])
        print_table(found, form)
    return 0 if follows(report) else 1
