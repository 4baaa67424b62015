"""`normalizer agreement`."""

from pathlib import Path
from typing import Any

import click

from normalizer.commands import options
from normalizer.commands.unknown_levels import tell_unknown_levels
from normalizer.statistics.agreement import agreement
from normalizer.tables import agreement_table
from normalizer.terminal.help_format import Command
from normalizer.terminal.output import WIDE, print_document, show_elapsed


@click.command(cls=Command)
@options.add_ledgers
@options.add_format(*options.FORMATS)
@WIDE
@options.add_selection
@options.add_files
def command(ledgers: tuple[Path, ...], form: str, **asked: Any) -> int:
    """How well judges agree, how harsh each is, and what each adds for its own model.

    Mean absolute difference, share of equal values, bias, kappa, AC1, weighted kappa, Krippendorff's alpha, with
    intervals; severity of judges; self against cross judging. csv and latex have the first table; the JSON has
    confusion matrices, too. A measure that is undefined for a table is NA, with the reason.
    """
    with show_elapsed("agreement", shown=not asked["verify"]):
        folders = options.open_files(ledgers)
        report = agreement(folders, options.read_options(asked))
    tell_unknown_levels(report, folders)
    print_document(report, form, lambda: agreement_table.table(report), lambda: agreement_table.list_tables(report))
    return 0
