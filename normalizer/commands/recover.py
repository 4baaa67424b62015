"""`normalizer recover`."""

from pathlib import Path

import click

from normalizer.errors import UnusableLedger
from normalizer.ledger.reader import is_ledger, locked
from normalizer.ledger.recovery import recover

_SAID = {
    "completed": "the run that was cut is complete now",
    "cleared": "the run was cut before it changed anything; what it left behind is removed",
    "nothing": "no run was cut; there is nothing to do",
}


@click.command()
@click.argument("ledger", type=click.Path(path_type=Path))
def command(ledger: Path) -> int:
    """Complete a run of `normalize` that was cut (killed, no power) while it moved its files into place.

    Commands that read refuse such a ledger, since they change nothing. The next `normalize` into it does this, too.
    A ledger with links in it, or with anything in `.staging` that no run makes, is refused and left as it is.
    """
    if not is_ledger(ledger):
        raise UnusableLedger(f"{ledger} is not a ledger: `normalizer normalize BUNDLE... --out {ledger}` makes one")
    with locked(ledger, "write"):
        outcome = recover(ledger)
    click.echo(f"{ledger}: {_SAID[outcome]}")
    return 0
