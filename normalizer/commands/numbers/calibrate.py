"""`normalizer calibrate`."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from normalizer.aggregate.intervals import Method
from normalizer.api.datasheet import write_datasheet
from normalizer.calibration.judge_accuracy import calibrate
from normalizer.calibration.labels import CONSENSUS
from normalizer.commands import options
from normalizer.commands.unknown_levels import suggest_levels
from normalizer.tables import calibration_table
from normalizer.terminal.help_format import Command, option
from normalizer.terminal.output import WIDE, print_document, refuse_inside_ledger, show_elapsed, write_file


@click.command(cls=Command)
@options.add_ledgers
@option(
    "--gold LEDGER",
    "A ledger of human or reference labels; repeatable. Without it, those of LEDGER are gold.",
    multiple=True,
    type=options.PATH,
)
@option(
    "--gold-kind",
    "Whose labels are gold; repeatable. Default: the kind that there is; both are mixed only if both are named.",
    multiple=True,
    choices=["human", "reference"],
)
@options.add_by("Also give numbers for each group, such as factors.topic.")
@options.VERIFY
@options.WHERE
@option("--consensus", "Of several annotators.", choices=CONSENSUS, default="median")
@options.DIAGNOSTIC
@options.MIX
@options.RESAMPLES
@options.SEED
@option(
    "--datasheet FILE",
    "Also write a Markdown page about the judges: instrument, gold, agreement, bias, noise, failures.",
    type=options.FILE,
)
@options.add_format("text", "json", "csv", "md")
@WIDE
@options.add_files
def command(ledgers: tuple[Path, ...], gold: tuple[Path, ...], datasheet: Path | None, form: str, **asked: Any) -> int:
    """Compare judges with gold: human or reference labels of the same artifacts.

    Agreement, correlation, bias by level, annotators' own agreement as the ceiling, the closest judge or panel, and
    gold means estimated from few labels and many judgements. Gold are records whose judge_kind is human or reference.
    Of comparisons, the verdicts on the same two answers are compared.
    """
    chosen = options.read_options(asked, "criterion")
    folders = options.open_files((*ledgers, *(folder for folder in gold if folder not in ledgers)))
    method = Method(bootstrap=True, resamples=asked["resamples"], seed=asked["seed"])
    with suggest_levels(folders, chosen.where), show_elapsed("calibrate", shown=not asked["verify"]):
        document = calibrate(folders, chosen, asked["consensus"], method, frozenset(asked["gold_kind"]))
    if datasheet is not None:
        refuse_inside_ledger(datasheet)
        write_file(datasheet, write_datasheet(folders, chosen, document).encode())
    every = partial(calibration_table.list_tables, document)
    print_document(document, form, partial(calibration_table.judges, document), every)
    return 0
