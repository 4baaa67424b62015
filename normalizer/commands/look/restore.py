"""`normalizer restore`."""

import hashlib
import shutil
import sys
from pathlib import Path

import click

from normalizer.commands import options
from normalizer.errors import UnusableLedger
from normalizer.ledger.reader import reading
from normalizer.regular_files import open_regular
from normalizer.screening.raw_rows import rebuild_bundle
from normalizer.terminal.help_format import Command, option


@click.command(cls=Command)
@click.argument("ledger", type=options.PATH)
@click.argument("sha256")
@option("--from-records", "Rebuild it from its records, and check the result.")
def command(ledger: Path, sha256: str, from_records: bool) -> int:
    """Write the raw bytes of the bundle with that hash (or an unambiguous beginning of it) to standard output.

    With --from-records it is rebuilt from the records alone: a judge bundle as compact JSON, a file of rows with its
    exact bytes, unpacked if it was packed.
    """
    with reading(ledger) as opened:
        if from_records:
            sys.stdout.buffer.write(rebuild_bundle(opened, sha256))
            return 0
        path = opened.find_bundle(sha256)
        with open_regular(path) as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != path.stem:
                raise UnusableLedger(f"the bytes of {path} are not those of its hash: the file was changed")
            file.seek(0)
            shutil.copyfileobj(file, sys.stdout.buffer)
    return 0
