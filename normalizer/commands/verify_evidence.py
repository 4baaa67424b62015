"""`normalizer verify-evidence`."""

from pathlib import Path

import click

from normalizer.checks.evidence import is_clean
from normalizer.checks.evidence import verify as look_up
from normalizer.commands.aggregate import VERIFY, check_of
from normalizer.tables import evidence_table, formats, pretty


@click.command()
@click.argument("ledger", type=click.Path(path_type=Path))
@click.option(
    "--artifacts", type=click.Path(path_type=Path), required=True, help="The folder that manifests' paths start from."
)
@click.option("--format", "form", type=click.Choice(["json", "csv", "md", "text"]), default="text", show_default=True)
@VERIFY
def command(ledger: Path, artifacts: Path, form: str, verify: bool) -> int:
    """Look up every quoted evidence in the evaluated file: PDF, Markdown or text.

    Verdicts: exact, folded, elided, other_artifact (which), absent, empty; not_checked where the file is missing or
    is not the one whose hash the manifest gives. They change no score and no validity. Status 1: something is amiss.
    """
    report = look_up(ledger, artifacts, check_of(verify))
    if form == "json":
        click.echo(pretty.dumps(report))
    elif form == "csv":
        click.echo(formats.written(evidence_table.everything(report), "csv"), nl=False)
    else:
        click.echo(formats.written(evidence_table.counts(report), form))
        wrong = evidence_table.wrong(report)
        if wrong.rows:
            click.echo(formats.written(wrong, form), nl=False)
    return 0 if is_clean(report) else 1
