"""`normalizer statistics`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from normalizer.aggregate.keys import checked, keys_of
from normalizer.commands.aggregate import LEDGERS, options_from, selecting
from normalizer.errors import CannotRun
from normalizer.statistics.overview import statistics
from normalizer.statistics.signflip import RESAMPLES
from normalizer.tables import formats, pretty, statistics_tables


@click.command()
@LEDGERS
@click.option("--by", default="", metavar="KEYS", help="Keys of the headline's groups, with commas.")
@click.option("--unit", type=click.Choice(["artifact", "record"]), default="artifact", show_default=True)
@click.option("--contrast", metavar="KEY", help="Compare the levels of this key, each with each.")
@click.option("--pair-by", default="", metavar="KEYS", help="What paired units agree in; needed with --contrast.")
@click.option("--resamples", type=click.IntRange(min=100), default=RESAMPLES, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--format", "form", type=click.Choice(["json", "md", "text"]), default="text", show_default=True)
@selecting
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
    """Invalid rates and what they could hide, paired contrasts, severity of judges, self against cross judging.

    Contrasts are tested by flipping signs, exactly where that is feasible, and corrected by Holm's method. What
    cannot be estimated is NA, with the reason.
    """
    paired = keys_of(pair_by)
    if (contrast is None) is bool(paired):
        raise CannotRun("give --contrast and --pair-by together: what is compared, and what its pairs agree in")
    if contrast is not None and checked(contrast) in paired:
        raise CannotRun(f"{contrast} cannot be both compared and agreed in")
    options = replace(options_from(**chosen), by=keys_of(by), unit=unit)
    report = statistics(ledgers, options, contrast, paired, seed, resamples)
    if form == "json":
        click.echo(pretty.dumps(report))
        return 0
    for title, table in statistics_tables.named(report):
        click.echo(f"## {title}\n" if form == "md" else title)
        click.echo(formats.written(table, form))
    return 0
