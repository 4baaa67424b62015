"""`normalizer guess`."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import click

from normalizer.batch.intake import open_bundle
from normalizer.containers import shipped
from normalizer.containers.readers.packed import unpack
from normalizer.containers.readers.rows import MAX_ROW_BYTES, UnreadableContainer
from normalizer.documents.lossless import dumps
from normalizer.documents.settings import BY_NAME
from normalizer.errors import CannotRun
from normalizer.guess import shipped_fit
from normalizer.guess.preview import Preview, preview
from normalizer.guess.propose import Proposals, propose
from normalizer.guess.shipped_fit import Proposal
from normalizer.tables.formats import printable

_FOLDER = Path("guessed")


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--save",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write each reading's dialect and rubric there.",
)
def command(file: Path, save: Path | None) -> int:
    """Propose how to read a file of judgements, with the commands for it. Nothing is normalized.

    Shows what was found, what is doubtful, three entries, the table that would come out, and commands that can be run
    as they are. Where several readings are likely, each is shown. Exit status 1 when there is none.
    """
    try:
        with open_bundle(str(file)) as opened:
            stream = unpack(opened)
            fitting = shipped_fit.best(stream)
            made = _preview(stream, fitting) if fitting is not None else None
            stream.seek(0)
            is_bundle = fitting is None and shipped_fit.is_bundle(stream.read(MAX_ROW_BYTES))
            proposed = propose(stream) if fitting is None and not is_bundle else ""
    except UnreadableContainer as error:
        raise CannotRun(f"cannot read {file}: {error}") from None
    if fitting is not None and made is not None:
        lines = list(_fitting(file, fitting, made))
    elif is_bundle:
        lines = ["It is a judge bundle, which needs no dialect:", "", *_commands(file, "", _FOLDER / "ledger", "list")]
    elif isinstance(proposed, str):
        click.echo(f"{printable(str(file))}: {proposed}", err=True)
        click.echo(
            "`normalizer dialects` lists dialects to copy, and `normalizer docs dialects` explains them.", err=True
        )
        return 1
    else:
        _save(proposed, save)
        lines = list(_readings(file, proposed, save))
    click.echo("\n".join(map(printable, lines)))
    return 0


def _preview(stream: BinaryIO, best: Proposal) -> Preview:
    document = shipped.given(best.name)
    if best.container:
        document = shipped.in_container(document, best.container)
    return preview(stream, document, stated={**shipped_fit.lacking(best), "self_judged": BY_NAME})


def _fitting(file: Path, best: Proposal, made: Preview) -> Iterator[str]:
    yield f"The shipped dialect {best.name} reads it."
    yield from _describe(
        None, [f"no field gives {key}: it is {name}" for key, name in shipped_fit.lacking(best).items()], made
    )
    other = f" --container {shlex.quote(best.container)}" if best.container else ""
    stated = "".join(f" --set {key}={name}" for key, name in shipped_fit.lacking(best).items())
    compares = shipped.dialect_named(best.name).get("kind") == "comparison"
    options = f" --dialect {best.name}{other}{stated} --set self_judged={BY_NAME}"
    yield ""
    yield from _commands(file, options, _FOLDER / "ledger", "preferences" if compares else "aggregate")


def _save(proposed: Proposals, folder: Path | None) -> None:
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, (reading, _) in enumerate(proposed.readings, start=1):
            for path, document in zip(_paths(folder, number), (reading.dialect, reading.rubric), strict=True):
                if document is not None:
                    path.write_text(f"{_indent(document)}\n", encoding="ascii")
    except OSError as error:
        raise CannotRun(f"cannot write to {folder}: {error.strerror}") from None


def _indent(document: dict[str, object]) -> str:
    return json.dumps(json.loads(dumps(document)), indent=2)


def _paths(folder: Path, number: int) -> tuple[Path, Path]:
    return folder / f"reading-{number}.dialect.json", folder / f"reading-{number}.rubric.json"


def _readings(file: Path, proposed: Proposals, save: Path | None) -> Iterator[str]:
    rows, found = proposed
    seen = "all of them" if rows.looked_at == rows.total - rows.unreadable else f"{rows.looked_at} of them"
    bad = f", {rows.unreadable} of which cannot be read" if rows.unreadable else ""
    yield f"{rows.total} rows in {dumps(rows.container)}{bad}; {seen} looked at, {len(rows.profile.fields)} fields."
    if len(found) > 1:
        yield f"{len(found)} readings are about as likely: choose one of them."
    for number, (reading, made) in enumerate(found, start=1):
        yield from ("", f"Reading {number}: {reading.title}")
        yield from _describe(reading.rubric, reading.doubts, made)
        folder = save if save is not None else _FOLDER
        dialect, rubric = (shlex.quote(str(path)) for path in _paths(folder, number))
        scale = f" --rubric {rubric}" if reading.rubric is not None else ""
        table = "preferences" if reading.rubric is None else "aggregate"
        if "criterion" in reading.dialect.get("comparison", {}):
            table += " --by criterion"
        yield ""
        if save is None:
            yield f"normalizer guess {shlex.quote(str(file))} --save {shlex.quote(str(folder))}"
        yield from _commands(file, f" --dialect {dialect}{scale}", folder / f"ledger-{number}", table)


def _describe(rubric: dict[str, Any] | None, doubts: list[str], made: Preview) -> Iterator[str]:
    invalid = f", {made.invalid} INVALID ({', '.join(made.reasons)})" if made.invalid else ""
    part = "" if made.is_whole else " of the first entries"
    yield f"  {made.valid} valid{invalid}{part}"
    if rubric is not None:
        scales = ", ".join(f"{name} {_scale(each['scale'])}" for name, each in rubric["dimensions"].items())
        yield f"  scales as observed: {scales}; if one is wider, change it in the rubric"
    yield from (f"  doubt: {doubt}" for doubt in doubts)
    yield from (f"  entry: {entry}" for entry in made.entries)
    yield from (f"  table: {line}" for line in made.table)


def _scale(scale: dict[str, object]) -> str:
    return dumps(scale["values"]) if scale["kind"] == "values" else f"{scale['minimum']} to {scale['maximum']}"


def _commands(file: Path, options: str, ledger: Path, table: str) -> Iterator[str]:
    name = shlex.quote(str(ledger))
    yield f"normalizer normalize {shlex.quote(str(file))}{options} --out {name}"
    command, _, by = table.partition(" ")
    by = by or ("--by generator_model" if command == "aggregate" else "")
    yield f"normalizer {command} {name} {by}".rstrip()
