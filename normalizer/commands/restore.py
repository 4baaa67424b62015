"""`normalizer restore`."""

import sys
from pathlib import Path

import click

from normalizer.ledger.reader import reading
from normalizer.screening.rebuild import rebuilt


@click.command()
@click.argument("ledger", type=click.Path(path_type=Path))
@click.argument("sha256")
@click.option("--from-records", is_flag=True, help="Make the document anew from its records, as compact JSON.")
def command(ledger: Path, sha256: str, from_records: bool) -> int:
    """Give back the raw bytes of the bundle with that hash (or an unambiguous beginning of it) on standard output."""
    with reading(ledger) as opened:
        if from_records:
            click.echo(rebuilt(opened, sha256))
        else:
            sys.stdout.buffer.write(opened.bundle(sha256))
    return 0
