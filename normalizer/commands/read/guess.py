"""`normalizer guess`."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import click

from normalizer.batch.intake import open_bundle
from normalizer.commands import options
from normalizer.containers import shipped
from normalizer.containers.readers.opening import unpack
from normalizer.containers.readers.rows import MAX_ROW_BYTES, UnreadableContainer
from normalizer.documents.lossless import dumps
from normalizer.documents.settings import BY_NAME
from normalizer.errors import CannotRun
from normalizer.guess import shipped_fit
from normalizer.guess.preview import Preview, preview
from normalizer.guess.propose import Proposals, propose
from normalizer.guess.readings import FileReading
from normalizer.guess.roles import ASPECT
from normalizer.guess.shipped_fit import Proposal
from normalizer.regular_files import shell_word
from normalizer.tables.formats import printable
from normalizer.terminal.help_format import Command, option


def _folder_of(file: Path) -> Path:
    """Return the folder for readings and ledger of a file: one for each, or a second file would join the first."""
    above = ("up" if part == ".." else part for part in file.parent.parts if part != file.anchor)
    return Path("guessed", *above, file.stem + file.suffix.replace(".", "-"))


@click.command(cls=Command)
@click.argument("file", type=options.FILE)
@option(
    "--save DIR", "Write each reading's dialect and rubric there.", type=click.Path(file_okay=False, path_type=Path)
)
@options.add_format("text", "json")
def command(file: Path, save: Path | None, form: str) -> int:
    """Propose how to read a file of judgements, with the commands for it. Nothing is normalized.

    Shows what was found, what is doubtful, three entries, the table that would come out, and commands that can be run
    as they are. Where several readings are likely, each is shown. Exit status 1 when there is none.
    """
    try:
        with open_bundle(str(file)) as opened:
            proposal = _propose(file, unpack(opened), save)
    except UnreadableContainer as error:
        raise CannotRun(f"cannot read {file}: {error}") from None
    if form == "json":
        click.echo(_indent(proposal))
    elif proposal["readings"]:
        click.echo("\n".join(map(printable, _print_readings(proposal))))
    if not proposal["readings"]:
        click.echo(f"{printable(str(file))}: {proposal['why']}", err=True)
        click.echo(
            "A fault of the file is mended in the file. For a file without one, `normalizer dialects` lists "
            "dialects to copy, and `normalizer docs dialects` explains them.",
            err=True,
        )
        return 1
    return 0


def _propose(file: Path, stream: BinaryIO, save: Path | None) -> dict[str, Any]:
    """Return the document of `eval/proposal.json` on a file; with a folder, write its dialects and rubrics there."""
    fitting = shipped_fit.best(stream)
    if fitting is not None:
        return {"readings": [_read_shipped(file, fitting, _preview(stream, fitting))]}
    stream.seek(0)
    if shipped_fit.is_bundle(stream.read(MAX_ROW_BYTES)):
        title = "It is a judge bundle, which needs no dialect:"
        return {"readings": [{"title": title, "commands": _commands(file, "", _folder_of(file) / "ledger", "list")}]}
    proposed = propose(stream)
    if isinstance(proposed, str):
        return {"readings": [], "why": proposed}
    _save(proposed, save)
    rows = proposed.rows
    return {
        "rows": {
            "total": rows.total,
            "unreadable": rows.unreadable,
            "looked_at": rows.looked_at,
            "fields": len(rows.profile.fields),
            "container": rows.container,
        },
        "readings": [_read_rows(file, each, number, save) for number, each in enumerate(proposed.readings, start=1)],
    }


def _preview(stream: BinaryIO, best: Proposal) -> Preview:
    document = shipped.read_dialect(best.name)
    if best.container:
        document = shipped.in_container(document, best.container)
    return preview(stream, document, stated={**shipped_fit.list_lacking(best), "self_judged": BY_NAME})


def _read_shipped(file: Path, best: Proposal, made: Preview) -> dict[str, Any]:
    """Return the reading of a file by a shipped dialect."""
    lacking = shipped_fit.list_lacking(best)
    other = f" --container {shlex.quote(best.container)}" if best.container else ""
    stated = "".join(f" --set {key}={name}" for key, name in lacking.items())
    compares = shipped.dialect_named(best.name).get("kind") == "comparison"
    options = f" --dialect {best.name}{other}{stated} --set self_judged={BY_NAME}"
    return {
        "title": f"The shipped dialect {best.name} reads it.",
        "doubts": [f"no field gives {key}: it is {name}" for key, name in lacking.items()],
        "preview": _describe(made),
        "commands": _commands(file, options, _folder_of(file) / "ledger", "preferences" if compares else "aggregate"),
    }


def _read_rows(file: Path, found: tuple[FileReading, Preview], number: int, save: Path | None) -> dict[str, Any]:
    """Return one reading of a file of rows, with its dialect and rubric."""
    reading, made = found
    folder = save if save is not None else _folder_of(file)
    dialect, rubric = (shell_word(path) for path in _paths(folder, number))
    scale = f" --rubric {rubric}" if reading.rubric is not None else ""
    table = "preferences" if reading.rubric is None else "aggregate"
    if "criterion" in reading.dialect.get("comparison", {}):
        table += " --by criterion"
    elif ASPECT in reading.dialect.get("key", []):
        table += f" --by generator_model,factors.{ASPECT}"
    first = [] if save is not None else [f"normalizer guess {shell_word(file)} --save {shell_word(folder)}"]
    return {
        "title": reading.title,
        "doubts": reading.doubts,
        "preview": _describe(made),
        "dialect": reading.dialect,
        **({"rubric": reading.rubric} if reading.rubric is not None else {}),
        "commands": [
            *first,
            *_commands(file, f" --dialect {dialect}{scale}", folder / f"ledger-{number}", table),
        ],
    }


def _describe(made: Preview) -> dict[str, Any]:
    return {
        "valid": made.valid,
        "invalid": made.invalid,
        "reasons": made.reasons,
        "whole": made.is_whole,
        "entries": made.entries,
        "table": made.table,
    }


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


def _print_readings(proposal: dict[str, Any]) -> Iterator[str]:
    """Yield the lines for a person."""
    readings, rows = proposal["readings"], proposal.get("rows")
    if rows is None:
        yield readings[0]["title"]
        yield from _print_reading(readings[0])
        return
    seen = "all of them" if rows["looked_at"] == rows["total"] - rows["unreadable"] else f"{rows['looked_at']} of them"
    bad = f", {rows['unreadable']} of which cannot be read" if rows["unreadable"] else ""
    yield f"{rows['total']} rows in {dumps(rows['container'])}{bad}; {seen} looked at, {rows['fields']} fields."
    if len(readings) > 1:
        yield f"{len(readings)} readings are about as likely: choose one of them."
    for number, reading in enumerate(readings, start=1):
        yield from ("", f"Reading {number}: {reading['title']}")
        yield from _print_reading(reading)


def _print_reading(reading: dict[str, Any]) -> Iterator[str]:
    if made := reading.get("preview"):
        invalid = f", {made['invalid']} INVALID ({', '.join(made['reasons'])})" if made["invalid"] else ""
        part = "" if made["whole"] else " of the first entries"
        yield f"  {made['valid']} valid{invalid}{part}"
        if rubric := reading.get("rubric"):
            scales = ", ".join(f"{name} {_scale(each['scale'])}" for name, each in rubric["dimensions"].items())
            yield f"  scales as observed: {scales}; if one is wider, change it in the rubric"
        yield from (f"  doubt: {doubt}" for doubt in reading["doubts"])
        yield from (f"  entry: {entry}" for entry in made["entries"])
        yield from (f"  table: {line}" for line in made["table"])
    yield from ("", *reading["commands"])


def _scale(scale: dict[str, object]) -> str:
    return dumps(scale["values"]) if scale["kind"] == "values" else f"{scale['minimum']} to {scale['maximum']}"


def _commands(file: Path, options: str, ledger: Path, table: str) -> list[str]:
    name = shell_word(ledger)
    command, _, by = table.partition(" ")
    by = by or ("--by generator_model" if command == "aggregate" else "")
    return [
        f"normalizer normalize {shell_word(file)}{options} --out {name}",
        f"normalizer {command} {name} {by}".rstrip(),
    ]
