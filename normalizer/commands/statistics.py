"""`normalizer statistics`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from normalizer.aggregate.keys import PAIRING, checked, keys_of
from normalizer.commands.options import LEDGERS, add_selection, join_values, read_selection
from normalizer.errors import CannotRun
from normalizer.statistics.contrasts import GENERATORS
from normalizer.statistics.overview import statistics
from normalizer.statistics.signflip import RESAMPLES
from normalizer.tables import pretty, statistics_tables
from normalizer.terminal.output import WIDE, print_tables
from normalizer.terminal.progress import elapsed


@click.command()
@LEDGERS
@click.option(
    "--by", multiple=True, callback=join_values, metavar="KEYS", help="Keys of the headline's groups, with commas."
)
@click.option("--unit", type=click.Choice(["artifact", "record"]), default="artifact", show_default=True)
@click.option("--contrast", metavar="KEY", help="Compare its levels, each with each. Default: generators.")
@click.option(
    "--pair-by", default="", metavar="KEYS", help="Keys that pairs agree in, such as artifact or factors.topic."
)
@click.option("--resamples", type=click.IntRange(min=100), default=RESAMPLES, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--format", "form", type=click.Choice(["json", "md", "text"]), default="text", show_default=True)
@WIDE
@add_selection
def command(
    ledgers: tuple[Path, ...],
    by: str,
    unit: str,
    contrast: str | None,
    pair_by: str,
    resamples: int,
    seed: int,
    form: str,
    **chosen: Any,
) -> int:
    """Invalid rates and their bounds on the means, paired contrasts, severity of judges, self against cross judging.

    Without --contrast, two to six generators are compared on the artifacts that they share. Contrasts are tested by
    flipping signs, exactly where that is feasible, and corrected by Holm's method. A statistic that cannot be estimated
    is NA, with the reason.
    """
    paired = keys_of(pair_by, PAIRING)
    if contrast == GENERATORS[0] and not paired:
        paired = GENERATORS[1]
    if (contrast is None) is bool(paired):
        raise CannotRun("give --contrast and --pair-by together: the key to compare, and the keys that pairs agree in")
    if contrast is not None and checked(contrast) in paired:
        raise CannotRun(f"{contrast} cannot be both compared and agreed in")
    options = replace(read_selection(**chosen), by=keys_of(by), unit=unit)
    with elapsed("statistics", shown=not chosen["verify"]):
        report = statistics(ledgers, options, contrast, paired, seed, resamples)
    if form == "json":
        click.echo(pretty.dumps(report))
        return 0
    print_tables(statistics_tables.named(report), form)
    return 0
