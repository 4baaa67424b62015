"""`normalizer calibrate`."""

from functools import partial
from pathlib import Path

import click

from normalizer.aggregate.eligibility import Rules
from normalizer.aggregate.intervals import Method
from normalizer.aggregate.keys import ALSO_SELECTED, keys_of, where_of
from normalizer.aggregate.summary import Options
from normalizer.api.datasheet import write_datasheet
from normalizer.calibration.judge_accuracy import calibrate
from normalizer.calibration.labels import CONSENSUS
from normalizer.commands.options import (
    DIAGNOSTIC,
    FILE,
    MIX,
    PATH,
    RESAMPLES,
    SEED,
    VERIFY,
    WHERE,
    add_by,
    add_files,
    add_format,
    add_ledgers,
    choose_check,
    open_files,
)
from normalizer.tables import calibration_table
from normalizer.terminal.help_format import Command
from normalizer.terminal.output import WIDE, print_document, refuse_inside_ledger, show_elapsed, write_file

_CRITERION = ("criterion",)


@click.command(cls=Command)
@add_ledgers
@click.option(
    "--gold",
    multiple=True,
    type=PATH,
    metavar="LEDGER",
    help="A ledger of human or reference labels; repeatable. Without it, those of LEDGER are gold.",
)
@click.option(
    "--gold-kind",
    multiple=True,
    type=click.Choice(["human", "reference"]),
    help="Whose labels are gold; repeatable. Default: the kind that there is; both are mixed only if both are named.",
)
@add_by("Also give numbers for each group, such as factors.topic.")
@VERIFY
@WHERE
@click.option(
    "--consensus", type=click.Choice(CONSENSUS), default="median", show_default=True, help="Of several annotators."
)
@DIAGNOSTIC
@MIX
@RESAMPLES
@SEED
@click.option(
    "--datasheet",
    type=FILE,
    metavar="FILE",
    help="Also write a Markdown page about the judges: instrument, gold, agreement, bias, noise, failures.",
)
@add_format("text", "json", "csv", "md")
@WIDE
@add_files
def command(
    ledgers: tuple[Path, ...],
    gold: tuple[Path, ...],
    gold_kind: tuple[str, ...],
    by: str,
    where: tuple[str, ...],
    consensus: str,
    diagnostic: bool,
    mix: tuple[str, ...],
    resamples: int,
    seed: int,
    verify: bool,
    datasheet: Path | None,
    form: str,
) -> int:
    """Compare judges with gold: human or reference labels of the same artifacts.

    Agreement, correlation, bias by level, annotators' own agreement as the ceiling, the closest judge or panel, and
    gold means estimated from few labels and many judgements. Gold are records whose judge_kind is human or reference.
    Of comparisons, the verdicts on the same two answers are compared.
    """
    options = Options(
        by=keys_of(by, _CRITERION),
        where=where_of(where, (*ALSO_SELECTED, *_CRITERION)),
        rules=Rules(diagnostic, frozenset(mix)),
        check=choose_check(verify),
    )
    folders = open_files((*ledgers, *(folder for folder in gold if folder not in ledgers)))
    method = Method(bootstrap=True, resamples=resamples, seed=seed)
    with show_elapsed("calibrate", shown=not verify):
        document = calibrate(folders, options, consensus, method, frozenset(gold_kind))
    if datasheet is not None:
        refuse_inside_ledger(datasheet)
        write_file(datasheet, write_datasheet(folders, options, document).encode())
    every = partial(calibration_table.list_tables, document)
    print_document(document, form, partial(calibration_table.judges, document), every)
    return 0
