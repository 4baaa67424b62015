"""`normalizer check`."""

from pathlib import Path
from typing import Any

import click

from normalizer.aggregate.keys import DESIGN_KEYS, FACTOR, RUN_KEYS
from normalizer.aggregate.recipes import read_recipe
from normalizer.checks.attestation import Question, differences, statement
from normalizer.checks.published_tables.compare import follows
from normalizer.checks.published_tables.figures import COMPARED_BY, Pairing
from normalizer.commands import options
from normalizer.documents.study_file import compare_analysis, read_study
from normalizer.errors import CannotRun
from normalizer.ledger.reader import is_ledger
from normalizer.tables import check_table, formats
from normalizer.terminal.help_format import Command, option
from normalizer.terminal.output import WIDE, print_note, print_table, refuse_inside_ledger, show_elapsed, write_file


@click.command(cls=Command)
@click.argument("table", type=options.PATH, metavar="TABLE")
@options.add_ledgers
@options.add_by("Keys of the groups, with commas; columns of the table.")
@options.add_intervals
@option(
    "--column NAME=STATISTIC",
    "The statistic of a column, such as 'Mean score=total.mean' or 'Model=generator_model'; repeatable.",
    "columns",
    multiple=True,
)
@option("--baseline NAME", "Of comparisons: every generator against this one.")
@options.add_recipe("comparisons", "scores")
@option("--attest FILE", "Write a statement of in-toto: which cells follow from which records.", type=options.FILE)
@option(
    "--attested FILE",
    "Make this statement again, with its options, and list what is not as it states.",
    type=options.FILE,
)
@option(
    "--frozen FILE",
    "A study file: also say whether these options are those it froze before the data arrived.",
    type=options.FILE,
)
@option("--all", "List the cells that match, too.", "everything")
@options.add_format("text", "json", "csv", "md")
@WIDE
@options.add_selection
@options.add_files
def command(
    table: Path, ledgers: tuple[Path, ...], attest: Path | None, frozen: Path | None, form: str, **asked: Any
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
    if asked["attested"] is not None:
        return _compare_statement(asked["attested"], table, options.open_files(ledgers), asked["recipe_file"])
    named = {}
    for text in asked["columns"]:
        name, sign, statistic = text.rpartition("=")
        if not sign:
            raise CannotRun(f"--column {text} names no statistic: write NAME=STATISTIC")
        named[name] = statistic
    with show_elapsed("check", shown=not asked["verify"]):
        pairing = Pairing(asked["baseline"], read_recipe(asked["recipe"], asked["recipe_file"]))
        folders = options.open_files(ledgers)
        question = Question(folders, options.read_options(asked, *COMPARED_BY), named, pairing)
        report = question.report(table)
        if frozen is not None:
            given = {**asked, "judge_kind": asked["judge_kinds"]}
            report["frozen"] = compare_analysis(read_study(frozen), given)
    if attest is not None:
        refuse_inside_ledger(attest)
        write_file(attest, statement(table, question, report))
        print_note(f"stated in {attest}, unsigned")
    if not follows(report) and (lacking := _find_keys(report)):
        print_note(f"{table.name} has columns that are keys of groups: --by {','.join([*report['by'], *lacking])}")
    if form == "json":
        click.echo(formats.dumps(report))
    else:
        found = check_table.table(report, everything=asked["everything"])
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
