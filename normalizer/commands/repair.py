"""`normalizer repair`."""

from pathlib import Path

import click

from normalizer.batch.repair import repair
from normalizer.ledger.reader import reading
from normalizer.tables.formats import printable


@click.command()
@click.argument("ledger", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The folder of the rebuilt ledger.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Worker processes.")
def command(ledger: Path, out: Path, jobs: int) -> int:
    """Rebuild a damaged ledger from its raw bundles and settings documents, into a new folder.

    The damaged ledger is not changed. Exit status: 0 everything was rebuilt, 1 some bundles could not be (listed with
    the reason), 2 nothing could be rebuilt.
    """
    with reading(ledger, checked=False, complete=False) as opened:
        outcome = repair(opened, out, jobs)
    click.echo(f"rebuilt: {outcome.rebuilt} bundles in {out}")
    for sha256, why in outcome.lost:
        click.echo(printable(f"not rebuilt: bundle {sha256}: {why}"), err=True)
    click.echo(_SAID[outcome.same], err=outcome.same is not True)
    return 1 if outcome.lost or outcome.same is False else 0


_SAID = {
    True: "every file has the digests of the damaged ledger's commit.json: nothing is lost",
    False: "the files do not have the digests of the damaged ledger's commit.json: it covered other lines",
    None: "the damaged ledger has no usable commit.json to compare with",
}
