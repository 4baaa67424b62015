"""`normalizer restore`."""

import sys
from pathlib import Path

import click

from normalizer.ledger.reader import reading
from normalizer.screening.rebuild import rebuilt


@click.command()
@click.argument("ledger", type=click.Path(path_type=Path))
@click.argument("sha256")
@click.option("--from-records", is_flag=True, help="Make it anew from its records, and prove it.")
def command(ledger: Path, sha256: str, from_records: bool) -> int:
    """Write the raw bytes of the bundle with that hash (or an unambiguous beginning of it) to standard output.

    With --from-records a judge bundle comes as compact JSON and a file of lines, cells or rows as its very bytes, both
    made from the records alone.
    """
    with reading(ledger) as opened:
        sys.stdout.buffer.write(rebuilt(opened, sha256) if from_records else opened.bundle(sha256))
    return 0
