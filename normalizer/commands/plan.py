"""`normalizer plan`."""

from pathlib import Path
from typing import Any

import click

from normalizer.aggregate.keys import keys_of
from normalizer.commands.options import LEDGERS, add_selection, read_selection
from normalizer.noise.overview import PowerTarget, plan
from normalizer.tables import plan_table, pretty
from normalizer.terminal.output import WIDE, print_table, print_tables
from normalizer.terminal.progress import elapsed


@click.command()
@LEDGERS
@click.option("--detect", type=click.FloatRange(0, min_open=True), metavar="D", help="The difference to be found.")
@click.option("--power", type=click.FloatRange(0.5, 0.999), default=0.8, show_default=True)
@click.option("--alpha", type=click.FloatRange(0, 0.5, min_open=True), default=0.05, show_default=True)
@click.option(
    "--repeats",
    metavar="KEYS",
    default="",
    help="Factors whose levels are repeats of one answer, such as factors.seed, with commas.",
)
@click.option("--format", "form", type=click.Choice(["json", "csv", "md", "text"]), default="text", show_default=True)
@WIDE
@add_selection
def command(
    ledgers: tuple[Path, ...], detect: float | None, power: float, alpha: float, repeats: str, form: str, **chosen: Any
) -> int:
    """How noisy judges are when asked again, and how many items and repeats the next study needs.

    The ledgers must hold repeats: several records of one judge for one artifact. Records of one file that differ in a
    factor count as such only if --repeats names it. With --detect, print the items that a study needs to find a
    difference of D, for 1, 2, 3 and 5 repeats.
    """
    wanted = None if detect is None else PowerTarget(detect, power, alpha)
    with elapsed("plan", shown=not chosen["verify"]):
        document = plan(ledgers, read_selection(**chosen), wanted, frozenset(keys_of(repeats)))
    if form == "json":
        click.echo(pretty.dumps(document))
    elif form == "csv":
        print_table(plan_table.noise(document), form)
    else:
        print_tables(plan_table.named(document), form)
    return 0
