"""`normalizer report`."""

from pathlib import Path
from typing import Any

import click

from normalizer.aggregate.keys import PAIRING, check_key, keys_of
from normalizer.commands.options import (
    PATH,
    SEED,
    add_by,
    add_files,
    add_intervals,
    add_ledgers,
    add_selection,
    open_files,
    read_grouping,
)
from normalizer.commands.value_completion import complete_keys
from normalizer.errors import CannotRun
from normalizer.gate.paired_verdicts import margin_of
from normalizer.report.comparison_page import any_page, gather_any
from normalizer.report.export import export
from normalizer.report.export import figures as write_figures
from normalizer.report.gathering import PARTS
from normalizer.report.study import ReportOptions
from normalizer.terminal.help_format import Command
from normalizer.terminal.output import LINE, Steps, refuse_inside_ledger


@click.command(cls=Command)
@add_ledgers
@click.option("--out", type=PATH, metavar="FILE", required=True, help="The page to write.")
@add_by("Keys of the headline's groups, with commas.", "generator_model")
@add_intervals
@click.option(
    "--contrast",
    multiple=True,
    metavar="KEY",
    shell_complete=complete_keys,
    help="Compare its levels; repeatable. Default: generators, factors.",
)
@click.option(
    "--pair-by",
    default="",
    metavar="KEYS",
    shell_complete=complete_keys,
    help="Keys that pairs agree in. Default: the artifact, or all other factors.",
)
@click.option("--artifacts", type=PATH, metavar="DIR", help="Evaluated files, to look quoted evidence up in.")
@click.option("--tables", type=PATH, metavar="DIR", help="A folder for all tables as CSV, Markdown and LaTeX.")
@click.option("--preferences", multiple=True, type=PATH, metavar="LEDGER", help="A ledger of comparisons to show, too.")
@click.option("--gold", multiple=True, type=PATH, metavar="LEDGER", help="A ledger of human or reference labels.")
@click.option("--base", type=PATH, metavar="LEDGER", help="A ledger that this one is compared with, as by gate.")
@click.option("--margin", default="0", show_default=True, metavar="X", help="With --base: how much worse is no worse.")
@click.option("--figures", type=PATH, metavar="DIR", help="A folder for all plots as SVG, PDF and PNG.")
@SEED
@click.option("--title", metavar="TEXT", default="Evaluation report", show_default=True, help="The title of the page.")
@add_selection
@add_files
def command(
    ledgers: tuple[Path, ...],
    out: Path,
    contrast: tuple[str, ...],
    pair_by: str,
    seed: int,
    artifacts: Path | None,
    tables: Path | None,
    preferences: tuple[Path, ...],
    gold: tuple[Path, ...],
    base: Path | None,
    margin: str,
    figures: Path | None,
    title: str,
    **chosen: Any,
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
        contrasts=tuple(check_key(key) for key in contrast),
        paired_by=keys_of(pair_by, PAIRING),
        artifacts=artifacts,
        seed=seed,
        preferences=open_files(preferences),
        gold=open_files(gold),
        base=base,
        margin=margin_of(margin),
    )
    options = read_grouping(**chosen)
    done = Steps("parts of the report made", PARTS + 1 + (tables is not None) + (figures is not None))
    folders = open_files(ledgers)
    with gather_any(folders, options, wanted, done) as study:
        data = any_page(study, options, title=title)
    done()
    try:
        out.write_bytes(data)
    except OSError as error:
        raise CannotRun(f"cannot write {out}: {error.strerror}") from None
    if tables is not None:
        export(study, tables)
        done()
    if figures is not None:
        write_figures(data, figures)
        done()
    LINE.clear()
    click.echo(f"{out}: {study.counts.counted} of {study.counts.about} records are in the headline; {len(data)} bytes")
    return 0
