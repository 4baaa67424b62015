"""`normalizer report`."""

from pathlib import Path
from typing import Any

import click

from normalizer.aggregate.keys import PAIRING, check_key, keys_of
from normalizer.commands import options
from normalizer.errors import CannotRun
from normalizer.gate.paired_verdicts import margin_of
from normalizer.report.comparison_study import gather_any
from normalizer.report.export import export
from normalizer.report.export import figures as write_figures
from normalizer.report.gathering import PARTS
from normalizer.report.html_page import page
from normalizer.report.study import ReportOptions
from normalizer.terminal.help_format import Command, option
from normalizer.terminal.output import LINE, Steps, refuse_inside_ledger, write_file


@click.command(cls=Command)
@options.add_ledgers
@option("--out FILE", "The page to write.", type=options.PATH, required=True)
@options.add_by("Keys of the headline's groups, with commas.", "generator_model")
@options.add_intervals
@option(
    "--contrast KEY",
    "Compare its levels; repeatable. Default: generators, factors.",
    multiple=True,
    shell_complete=options.complete_keys,
)
@option(
    "--pair-by KEYS",
    "Keys that pairs agree in. Default: the artifact, or all other factors.",
    default="",
    shell_complete=options.complete_keys,
)
@option("--artifacts DIR", "Evaluated files, to look quoted evidence up in.", type=options.PATH)
@option("--tables DIR", "A folder for all tables as CSV, Markdown and LaTeX.", type=options.PATH)
@option("--preferences LEDGER", "A ledger of comparisons to show, too.", multiple=True, type=options.PATH)
@option("--gold LEDGER", "A ledger of human or reference labels.", multiple=True, type=options.PATH)
@option("--base LEDGER", "A ledger that this one is compared with, as by gate.", type=options.PATH)
@option("--margin X", "With --base: how much worse is no worse.", default="0")
@option("--figures DIR", "A folder for all plots as SVG, PDF and PNG.", type=options.PATH)
@options.SEED
@option("--title TEXT", "The title of the page.", default="Evaluation report")
@options.add_selection
@options.add_files
def command(
    ledgers: tuple[Path, ...],
    out: Path,
    artifacts: Path | None,
    tables: Path | None,
    figures: Path | None,
    title: str,
    **asked: Any,
) -> int:
    """Write one self-contained page: numbers with intervals, plots, and links from each number to the raw lines.

    Ledgers of comparisons have a section of their own, or a page if there are no others.
    A LEDGER may also be a file of judgements: it is read with --dialect or, if it is certain how, without.
    The page fetches nothing, and the same ledgers and options give the same bytes. With --artifacts it tells whether
    quoted evidence is in the evaluated files.
    """
    if artifacts is not None and not artifacts.is_dir():
        raise CannotRun(f"{artifacts} is not a folder: give the one that the manifests' paths start from")
    if not out.absolute().parent.is_dir():
        raise CannotRun(f"cannot write {out}: there is no folder {out.parent}")
    refuse_inside_ledger(out, tables, figures)
    wanted = ReportOptions(
        contrasts=tuple(check_key(key) for key in asked["contrast"]),
        paired_by=keys_of(asked["pair_by"], PAIRING),
        artifacts=artifacts,
        seed=asked["seed"],
        preferences=options.open_files(asked["preferences"]),
        gold=options.open_files(asked["gold"]),
        base=asked["base"],
        margin=margin_of(asked["margin"]),
    )
    chosen = options.read_options(asked)
    done = Steps("parts of the report made", PARTS + 1 + (tables is not None) + (figures is not None))
    folders = options.open_files(ledgers)
    with gather_any(folders, chosen, wanted, done) as study:
        data = page(study, chosen, title=title)
    done()
    write_file(out, data)
    if tables is not None:
        export(study, tables)
        done()
    if figures is not None:
        write_figures(data, figures)
        done()
    LINE.clear()
    click.echo(f"{out}: {study.counts.counted} of {study.counts.about} records are in the headline; {len(data)} bytes")
    return 0
