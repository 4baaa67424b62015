"""`normalizer packet`, and the options that it shares with `normalizer judge`."""

from pathlib import Path
from typing import Any

import click
import contract_spec as spec

from normalizer.documents.artifacts import regular_bytes
from normalizer.documents.lossless import dumps
from normalizer.documents.settings import BUILT_IN_RUBRIC, load
from normalizer.errors import CannotRun
from normalizer.judge.plan import Plan, plan
from normalizer.judge.prepare import Documents, inputs
from normalizer.judge.run_folder import RunFolder, input_name, pretty

_DOCUMENT = click.Path(dir_okay=False, path_type=Path)

manifest_argument = click.argument("manifest", type=_DOCUMENT, metavar="RUN.json")
artifacts_option = click.option(
    "--artifacts",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder below which the evaluated files lie.",
)
rubric_option = click.option("--rubric", type=_DOCUMENT, help="The scoring scale.  [default: prompt-drift-v1]")
coincidence_option = click.option(
    "--coincidence",
    multiple=True,
    metavar="TEXT",
    help="A string of the manifest that stands in your rubric (or --parameters) as an ordinary word. May be repeated.",
)


@click.command()
@manifest_argument
@artifacts_option
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="A new folder.")
@rubric_option
@click.option("--model", help="The name of the judge, where the manifest does not give it.")
@coincidence_option
def command(
    manifest: Path, artifacts: Path, out: Path, rubric: Path | None, model: str | None, coincidence: tuple[str, ...]
) -> int:
    """Write what a judge would be given for each file of the manifest RUN.json, without calling one.

    The inputs are named by their place in the manifest: inputs/0000.json is for its first file. Each is checked to
    hold the file's content, the rules, the scale and the stated task, and no string of the manifest besides.
    """
    planned = plan_of(read_documents(manifest, rubric), model, coincidence)
    if out.exists() and any(out.iterdir()):
        raise CannotRun(f"{out} is not empty: give --out a new folder")
    folder = RunFolder(out)
    made = inputs(planned, artifacts, lambda index, data: folder.write(input_name(index), data))
    for index, one in enumerate(made):
        click.echo(f"{one.input_sha256}  {out / input_name(index)}")
    return 0


def read_documents(manifest: Path, rubric: Path | None) -> Documents:
    """Read the manifest and the rubric; without one, the built-in rubric. Raises CannotRun."""
    built_in = pretty(spec.resource(BUILT_IN_RUBRIC))
    return Documents(_bytes(manifest), built_in if rubric is None else _bytes(rubric))


def plan_of(
    documents: Documents,
    model: str | None,
    coincidence: tuple[str, ...],
    parameters: dict[str, Any] | None = None,
) -> Plan:
    """Plan a run, and print what its prompt has in common with the manifest. Raises CannotRun."""
    settings = load(documents.rubric, documents.manifest)
    planned = plan(settings, model, parameters=parameters, declared=frozenset(coincidence))
    if planned.coincidences:
        told = ", ".join(map(dumps, planned.coincidences))
        click.echo(f"note: also ordinary text of rules, scale or task: {told}", err=True)
    return planned


def _bytes(path: Path) -> bytes:
    try:
        return regular_bytes(path)
    except OSError as error:
        raise CannotRun(f"cannot read {path}: {error.strerror}") from None
