"""`normalizer verify-signature`."""

from pathlib import Path

import click

from normalizer.ledger.signature import complaints
from normalizer.tables.formats import printable


@click.command()
@click.argument("ledger", type=click.Path(path_type=Path))
@click.option(
    "--signature", required=True, type=click.Path(path_type=Path), help="The file that `normalizer sign` wrote."
)
@click.option(
    "--signers",
    required=True,
    type=click.Path(path_type=Path),
    help="A file with a line NAME KEY for each key you trust.",
)
@click.option("--signer", required=True, help="The NAME that must have signed.")
def command(ledger: Path, signature: Path, signers: Path, signer: str) -> int:
    """Check the signature of a ledger, and that its files are those that were signed.

    Exit status: 0 both are good, 1 one is not, 2 it could not be checked. `normalizer audit` also normalizes the raw
    bundles again, which shows whether the records follow from them.
    """
    found = complaints(ledger, signature, signers, signer)
    for sentence in found:
        click.echo(printable(sentence))
    if not found:
        click.echo(printable(f"{ledger}: signed by {signer}, and its files are those that were signed"))
    return 1 if found else 0
