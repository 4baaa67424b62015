"""`normalizer verify-evidence`."""

from pathlib import Path

import click

from normalizer.checks.evidence import is_clean
from normalizer.checks.evidence import verify as look_up
from normalizer.commands.aggregate import VERIFY, check_of
from normalizer.tables import evidence_table, pretty
from normalizer.terminal.output import WIDE, print_table
from normalizer.terminal.progress import LINE


@click.command()
@click.argument("ledger", type=click.Path(path_type=Path))
@click.option(
    "--artifacts", type=click.Path(path_type=Path), required=True, help="The folder that manifests' paths start from."
)
@click.option("--format", "form", type=click.Choice(["json", "csv", "md", "text"]), default="text", show_default=True)
@WIDE
@VERIFY
def command(ledger: Path, artifacts: Path, form: str, verify: bool) -> int:
    """Look up every quotation in the evaluated file: PDF, Markdown or text.

    Verdicts: exact, folded, elided, other_artifact (which), absent, empty; not_checked where the file is missing or is
    not the one whose hash the manifest gives. They change no score and no validity. Exit status 1: a quotation was not
    found or a file is not as expected.
    """
    report = look_up(ledger, artifacts, check_of(verify), LINE)
    LINE.clear()
    if form == "json":
        click.echo(pretty.dumps(report))
    elif form == "csv":
        print_table(evidence_table.everything(report), form)
    else:
        print_table(evidence_table.counts(report), form, nl=True)
        wrong = evidence_table.wrong(report)
        if wrong.rows:
            print_table(wrong, form)
    return 0 if is_clean(report) else 1
