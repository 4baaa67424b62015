"""`normalizer plan`."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from normalizer.aggregate.intervals import Method
from normalizer.aggregate.keys import ALSO_SELECTED, check_key, keys_of
from normalizer.commands.options import (
    ASSUME,
    add_alpha,
    add_cluster,
    add_files,
    add_format,
    add_ledgers,
    add_selection,
    open_files,
    read_selection,
)
from normalizer.commands.value_completion import complete_keys
from normalizer.noise.sample_size import PowerTarget
from normalizer.noise.study_plan import plan
from normalizer.tables import plan_table
from normalizer.terminal.help_format import Command
from normalizer.terminal.output import WIDE, print_document, show_elapsed


@click.command(cls=Command)
@add_ledgers
@click.option("--detect", type=click.FloatRange(0, min_open=True), metavar="X", help="The difference to be found.")
@click.option(
    "--margin",
    type=click.FloatRange(0, min_open=True),
    metavar="X",
    help="The margin that a system as good as its base must pass.",
)
@click.option(
    "--power",
    type=click.FloatRange(0.5, 0.999),
    metavar="X",
    default=0.8,
    show_default=True,
    help="How often the study should find it.",
)
@add_alpha("The level of its test.")
@add_cluster("Artifacts with the same level of this key go together, such as answers to one question.")
@click.option(
    "--repeats",
    metavar="KEYS",
    shell_complete=complete_keys,
    default="",
    help="Factors whose levels are repeats of one answer, such as factors.seed, with commas.",
)
@ASSUME
@add_format("text", "json", "csv", "md")
@WIDE
@add_selection
@add_files
def command(
    ledgers: tuple[Path, ...],
    detect: float | None,
    margin: float | None,
    power: float,
    alpha: float,
    cluster: str | None,
    repeats: str,
    assume: str,
    form: str,
    **chosen: Any,
) -> int:
    """How noisy judges are when asked again, and how many items and repeats the next study needs.

    The ledgers must hold repeats: several records of one judge for one artifact. Records of one file that differ in a
    factor count as such only if --repeats names it. With --detect or --margin, print the items that a study needs for
    1, 2, 3 and 5 repeats and for panels of judges, and its power at numbers of items.
    """
    wanted = None if detect is None and margin is None else PowerTarget(detect, power, alpha, margin)
    named = None if cluster is None else check_key(cluster, ALSO_SELECTED)
    with show_elapsed("plan", shown=not chosen["verify"]):
        document = plan(
            open_files(ledgers),
            replace(read_selection(**chosen), interval=Method(cluster=named)),
            wanted,
            frozenset(keys_of(repeats)),
            assume,
        )
    every = partial(plan_table.list_tables, document)
    print_document(document, form, partial(plan_table.noise, document), every)
    return 0
