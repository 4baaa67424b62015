"""`normalizer agreement`."""

from pathlib import Path
from typing import Any

import click

from normalizer.commands.options import FORMATS, LEDGERS, add_selection, read_selection
from normalizer.statistics.agreement import agreement
from normalizer.tables import agreement_table, pretty
from normalizer.terminal.output import WIDE, print_table
from normalizer.terminal.progress import elapsed


@click.command()
@LEDGERS
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@WIDE
@add_selection
def command(ledgers: tuple[Path, ...], form: str, **chosen: Any) -> int:
    """How well each pair of judges agrees on the artifacts both judged, and all judges together.

    Mean absolute difference, share of equal values, bias, kappa, weighted kappa, Krippendorff's alpha; confusion
    matrices in the JSON. A measure that is undefined for a table is NA, with the reason.
    """
    with elapsed("agreement", shown=not chosen["verify"]):
        report = agreement(ledgers, read_selection(**chosen))
    if form == "json":
        click.echo(pretty.dumps(report))
    else:
        print_table(agreement_table.table(report), form)
    return 0
