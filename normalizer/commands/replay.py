"""`normalizer replay`."""

from pathlib import Path

import click

from normalizer.documents.lossless import dumps
from normalizer.errors import CannotRun
from normalizer.judge.replay import replay
from normalizer.judge.run_folder import RunFolder, sha256
from normalizer.ledger.reader import locked


@click.command()
@click.argument("run_dir", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the rebuilt bundle there as well.")
def command(run_dir: Path, out: Path | None) -> int:
    """Rebuild the bundle of a judge run from its stored replies, and compare it with the one that was written.

    Every stored input and reply is checked against its hash, and every input for leaks. No judge is called.
    Exit status: 0 the same bytes, 1 other bytes or no bundle, 2 a stored file is missing or was changed.
    """
    run = RunFolder(run_dir)
    with locked(run_dir, "read"):
        data, missing, note = replay(run)
        written = run.read(run.bundle.name) if run.bundle.exists() else None
    if note is not None:
        click.echo(f"note: {note}", err=True)
    if data is None:
        for name in missing:
            click.echo(f"no usable reply for {dumps(name)}", err=True)
        click.echo("differs: there is a bundle, but not every file has a usable reply" if written else "no bundle")
        return 1
    if out is not None:
        try:
            out.write_bytes(data)
        except OSError as error:
            raise CannotRun(f"cannot write {out}: {error.strerror}") from None
    if written == data:
        click.echo(f"the same: {sha256(data)}")
        return 0
    if written is None:
        click.echo(f"no bundle was written; rebuilt, it is {sha256(data)}")
    else:
        same = next((at for at, pair in enumerate(zip(written, data, strict=False)) if pair[0] != pair[1]), None)
        at = min(len(written), len(data)) if same is None else same
        click.echo(
            f"differs from byte {at} (line {data[:at].count(10) + 1}) on: "
            f"written {sha256(written)}, rebuilt {sha256(data)}"
        )
    return 1
