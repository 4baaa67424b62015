"""`normalizer repair`: complete a run that was cut, or rebuild a damaged ledger from its raw bundles."""

from pathlib import Path

import click

from normalizer.batch.repair import repair
from normalizer.commands import options
from normalizer.ledger.reader import hold_lock, reading, require_ledger
from normalizer.ledger.recovery import recover
from normalizer.tables.formats import printable
from normalizer.terminal.help_format import Command, option

_RECOVERY = {
    "completed": "the run that was cut is complete now",
    "cleared": "the run was cut before it changed anything; what it left behind is removed",
    "nothing": "no run was cut; there is nothing to do. With --out DIR a damaged ledger is rebuilt",
}
_REBUILT = {
    True: "every file has the digests of the damaged ledger's commit.json: nothing is lost",
    False: "the files do not have the digests of the damaged ledger's commit.json: it covered other lines",
    None: "the damaged ledger has no usable commit.json to compare with",
}


@click.command(cls=Command)
@click.argument("ledger", type=options.PATH)
@option("--out DIR", "Rebuild the ledger from its raw bundles, in this folder.", type=options.PATH)
@option("--jobs N", "Worker processes of --out.", type=click.IntRange(min=1), default=1)
def command(ledger: Path, out: Path | None, jobs: int) -> int:
    """Complete a run of `normalize` that was cut (killed, no power) while it moved its files into place.

    Commands that read refuse such a ledger, since they change nothing. The next `normalize` into it does this, too.
    A ledger with links in it, or with anything in `.staging` that no run makes, is refused and left as it is.

    With --out, rebuild a damaged ledger from its raw bundles and settings documents, into a new folder. The damaged
    one is not changed. Exit status: 0 everything was rebuilt, 1 some bundles could not be (listed with the reason), 2
    nothing could be rebuilt.
    """
    return _complete(ledger) if out is None else _rebuild(ledger, out, jobs)


def _complete(ledger: Path) -> int:
    require_ledger(ledger)
    with hold_lock(ledger, "write"):
        outcome = recover(ledger)
    click.echo(f"{ledger}: {_RECOVERY[outcome]}")
    return 0


def _rebuild(ledger: Path, out: Path, jobs: int) -> int:
    with reading(ledger, checked=False) as opened:
        outcome = repair(opened, out, jobs)
    click.echo(f"rebuilt: {outcome.rebuilt} bundles in {out}")
    for sha256, why in outcome.lost:
        click.echo(printable(f"not rebuilt: bundle {sha256}: {why}"), err=True)
    click.echo(_REBUILT[outcome.same], err=outcome.same is not True)
    return 1 if outcome.lost or outcome.same is False else 0
