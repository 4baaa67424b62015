"""`normalizer check`."""

from pathlib import Path
from typing import Any

import click

from normalizer.aggregate.keys import DESIGN_KEYS, FACTOR, RUN_KEYS
from normalizer.aggregate.recipes import read_recipe
from normalizer.checks.attestation import Question, differences, statement
from normalizer.checks.published_tables.compare import follows
from normalizer.checks.published_tables.figures import COMPARED_BY, Pairing
from normalizer.commands.options import (
    FILE,
    PATH,
    add_by,
    add_files,
    add_format,
    add_intervals,
    add_ledgers,
    add_recipe,
    add_selection,
    open_files,
    read_grouping,
)
from normalizer.documents.study_file import compare_analysis, read_study
from normalizer.errors import CannotRun
from normalizer.ledger.reader import is_ledger
from normalizer.tables import check_table, formats
from normalizer.terminal.help_format import Command
from normalizer.terminal.output import WIDE, print_note, print_table, refuse_inside_ledger, show_elapsed, write_file


@click.command(cls=Command)
@click.argument("table", type=PATH, metavar="TABLE")
@add_ledgers
@add_by("Keys of the groups, with commas; columns of the table.")
@add_intervals
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME=STATISTIC",
    help="The statistic of a column, such as 'Mean score=total.mean' or 'Model=generator_model'; repeatable.",
)
@click.option("--baseline", metavar="NAME", help="Of comparisons: every generator against this one.")
@add_recipe("comparisons", "scores")
@click.option(
    "--attest", type=FILE, metavar="FILE", help="Write a statement of in-toto: which cells follow from which records."
)
@click.option(
    "--attested",
    type=FILE,
    metavar="FILE",
    help="Make this statement again, with its options, and list what is not as it states.",
)
@click.option(
    "--frozen",
    type=FILE,
    metavar="FILE",
    help="A study file: also say whether these options are those it froze before the data arrived.",
)
@click.option("--all", "everything", is_flag=True, help="List the cells that match, too.")
@add_format("text", "json", "csv", "md")
@WIDE
@add_selection
@add_files
def command(
    table: Path,
    ledgers: tuple[Path, ...],
    columns: tuple[str, ...],
    baseline: str | None,
    recipe: str | None,
    recipe_file: tuple[Path, ...],
    attest: Path | None,
    attested: Path | None,
    frozen: Path | None,
    everything: bool,
    form: str,
    **chosen: Any,
) -> int:
    """Check cell by cell whether a published table follows from these ledgers. Exit status 1 when a cell does not.

    TABLE is CSV (commas, semicolons or tabs), Markdown or LaTeX. Cells may be written 13.32, 13.32 (1.16), with a
    plus-minus sign, in percent, with thousands; the message says which spread it is, or which rounding would be true.
    Columns are known by the names that `aggregate` uses: the keys of --by, n, total, A_DIMENSION, total.sd,
    total.ci95_low, "95 % interval" and so on; --column names others. Of comparisons the keys are generator, against
    and those of `preferences`, the statistics wins, items, rate, weighted, rating and, with --recipe, score.
    A cell matches if the exact value, rounded to the cell's own number of places, is what it says; where the exact
    value lies just between two, either is a tie.
    A statement (--attest) has no signature: `normalizer sign FILE --key KEY` signs it.
    A number for a group that has none does not follow; columns whose names are no statistic are listed and skipped.
    """
    if is_ledger(table):
        raise CannotRun(f"{table} is a ledger: the table comes first, then its ledgers")
    if attested is not None:
        return _compare_statement(attested, table, open_files(ledgers), recipe_file)
    named = {}
    for text in columns:
        name, sign, statistic = text.rpartition("=")
        if not sign:
            raise CannotRun(f"--column {text} names no statistic: write NAME=STATISTIC")
        named[name] = statistic
    with show_elapsed("check", shown=not chosen["verify"]):
        asked = Question(
            open_files(ledgers),
            read_grouping(**chosen, also=COMPARED_BY),
            named,
            Pairing(baseline, read_recipe(recipe, recipe_file)),
        )
        report = asked.report(table)
        if frozen is not None:
            given = {**chosen, "judge_kind": chosen["judge_kinds"], "baseline": baseline, "recipe": recipe}
            report["frozen"] = compare_analysis(read_study(frozen), given)
    if attest is not None:
        refuse_inside_ledger(attest)
        write_file(attest, statement(table, asked, report))
        print_note(f"stated in {attest}, unsigned")
    if not follows(report) and (lacking := _find_keys(report)):
        print_note(f"{table.name} has columns that are keys of groups: --by {','.join([*report['by'], *lacking])}")
    if form == "json":
        click.echo(formats.dumps(report))
    else:
        found = check_table.table(report, everything=everything)
        if form == "csv" and report["diagnostic"]:
            found = formats.add_flags(found, ["diagnostic"])
        print_table(found, form)
    return 0 if follows(report) and report.get("frozen", {"agrees": True})["agrees"] else 1


def _find_keys(report: dict[str, Any]) -> list[str]:
    """Return the columns of a checked table that are no statistics and have the name of a key."""
    names = dict.fromkeys(cell["column"] for cell in report["cells"] if cell["statistic"] is None)
    return [name for name in names if name in (*DESIGN_KEYS, *RUN_KEYS, *COMPARED_BY) or name.startswith(FACTOR)]


def _compare_statement(path: Path, table: Path, ledgers: tuple[Path, ...], recipe_files: tuple[Path, ...]) -> int:
    found = differences(path, table, ledgers, recipe_files)
    for line in found:
        click.echo(formats.printable(line))
    if not found:
        click.echo(formats.printable(f"{path}: made again from {table} and its ledgers, and the same"))
    return 1 if found else 0
