"""`normalizer sign`."""

from pathlib import Path

import click

from normalizer.commands import options
from normalizer.errors import CannotRun
from normalizer.ledger.signature import sign
from normalizer.terminal.help_format import Command, option
from normalizer.terminal.output import write_file


@click.command(cls=Command)
@click.argument("ledger", type=options.PATH)
@option(
    "--key FILE", "A private key, or a public key whose private key an agent holds.", required=True, type=options.PATH
)
@option("--out FILE", "Where to write the signature.  [default: LEDGER.sig]", type=options.PATH)
def command(ledger: Path, key: Path, out: Path | None) -> int:
    """Sign a ledger, or a statement that `normalizer check --attest` wrote, with an SSH key, by ssh-keygen.

    The signature is on commit.json, which covers every file. It is written beside the ledger: publish both.
    A ledger whose files were changed is not signed. `normalizer audit LEDGER --signature FILE` checks a signature.
    """
    whole = ledger.resolve()
    named = whole if ledger.name in ("", "..") else ledger  # `.` has no name to add to
    target = out if out is not None else named.with_name(f"{named.name}.sig")
    if target.resolve().is_relative_to(whole):
        raise CannotRun(f"--out {target} is in the ledger, which holds nothing else: write it beside it")
    write_file(target, sign(ledger, key))
    click.echo(f"{ledger}: signed in {target}")
    return 0
