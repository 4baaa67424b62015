"""`normalizer plan`."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from normalizer.aggregate.intervals import Method
from normalizer.aggregate.keys import ALSO_SELECTED, check_key, keys_of
from normalizer.commands import options
from normalizer.commands.unknown_levels import suggest_levels, tell_unknown_levels
from normalizer.noise.sample_size import PowerTarget
from normalizer.noise.study_plan import plan
from normalizer.tables import plan_table
from normalizer.terminal.help_format import Command, option
from normalizer.terminal.output import WIDE, print_document, show_elapsed


@click.command(cls=Command)
@options.add_ledgers
@option("--detect X", "The difference to be found.", type=click.FloatRange(0, min_open=True))
@option(
    "--margin X", "The margin that a system as good as its base must pass.", type=click.FloatRange(0, min_open=True)
)
@option("--power X", "How often the study should find it.", type=click.FloatRange(0.5, 0.999), default=0.8)
@options.add_alpha("The level of its test.")
@options.add_cluster("Artifacts with the same level of this key go together, such as answers to one question.")
@option(
    "--repeats KEYS",
    "Factors whose levels are repeats of one answer, such as factors.seed, with commas.",
    shell_complete=options.complete_keys,
    default="",
)
@options.ASSUME
@options.add_format("text", "json", "csv", "md")
@WIDE
@options.add_selection
@options.add_files
def command(ledgers: tuple[Path, ...], cluster: str | None, form: str, **asked: Any) -> int:
    """How noisy judges are when asked again, and how many items and repeats the next study needs.

    The ledgers must hold repeats: several records of one judge for one artifact. Records of one file that differ in a
    factor count as such only if --repeats names it. With --detect or --margin, print the items that a study needs for
    1, 2, 3 and 5 repeats and for panels of judges, and its power at numbers of items.
    """
    detect, margin = asked["detect"], asked["margin"]
    has_goal = detect is not None or margin is not None
    wanted = PowerTarget(detect, asked["power"], asked["alpha"], margin) if has_goal else None
    named = None if cluster is None else check_key(cluster, ALSO_SELECTED)
    folders = options.open_files(ledgers)
    chosen = replace(options.read_options(asked), interval=Method(cluster=named))
    with suggest_levels(folders, chosen.where), show_elapsed("plan", shown=not asked["verify"]):
        document = plan(folders, chosen, wanted, frozenset(keys_of(asked["repeats"])), asked["assume"])
    tell_unknown_levels(document, folders)
    every = partial(plan_table.list_tables, document)
    print_document(document, form, partial(plan_table.noise, document), every)
    return 0
