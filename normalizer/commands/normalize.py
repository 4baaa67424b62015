"""`normalizer normalize`."""

import signal
import sys
import threading
from pathlib import Path

import click

from normalizer.batch.intake import document, sources
from normalizer.batch.run import run
from normalizer.documents.settings import Settings, load

_DOCUMENT = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("bundles", nargs=-1, required=True, metavar="BUNDLE...")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The ledger's folder.")
@click.option("--manifest", type=_DOCUMENT, help="The run's metadata and its fixed list of files.")
@click.option("--rubric", type=_DOCUMENT, help="The scoring scale.  [default: prompt-drift-v1]")
@click.option("--dialect", type=_DOCUMENT, help="Declared renames and moves of this judge's fields.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Worker processes.")
@click.option(
    "--engine",
    type=click.Choice(["processes", "spark"]),
    default="processes",
    show_default=True,
    help="Who does the work: processes of this machine, or Spark.",
)
@click.option("--replace", is_flag=True, help="Normalize anew bundles that the ledger has under other settings.")
def command(
    bundles: tuple[str, ...],
    out: Path,
    manifest: Path | None,
    rubric: Path | None,
    dialect: Path | None,
    jobs: int,
    engine: str,
    replace: bool,
) -> int:
    """Turn raw judge bundles into canonical eval_records, VALID or INVALID, in a ledger.

    A BUNDLE is a file, a folder (all *.json below it) or - for standard input. Exit status: 0 all is valid,
    1 something is invalid, 2 it could not run and nothing was changed.
    """
    documents = [path for path in (manifest, rubric, dialect) if path is not None]
    account = run(
        sources(list(bundles), [out, *documents]),
        out,
        settings_from(rubric, manifest, dialect),
        jobs=jobs,
        engine=engine,
        replace=replace,
        progress=_show if sys.stderr.isatty() else lambda *_: None,
        settling=_not_to_be_interrupted,
    )
    if sys.stderr.isatty():
        click.echo("\r\033[K", nl=False, err=True)
    for line in account.lines():
        click.echo(line, err=True)
    return 1 if account.flawed else 0


def _not_to_be_interrupted() -> None:
    """Go on to the end: whoever is told that it was interrupted may rely on nothing having changed."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def settings_from(rubric: Path | None, manifest: Path | None, dialect: Path | None) -> Settings:
    """Settings from files."""
    return load(*(None if path is None else document(path) for path in (rubric, manifest, dialect)))


def _show(what: str, done: int, of: int) -> None:
    text = f"{done} of {of}" if of else str(done)
    click.echo(f"\r\033[K{what}: {text}", nl=False, err=True)
