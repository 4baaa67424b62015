"""`normalizer lint`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import contract_spec as spec

from normalizer.checks import lint, schema_lint
from normalizer.commands import options
from normalizer.containers import shipped
from normalizer.documents.settings import BUILT_IN_RUBRIC, LIMITS
from normalizer.errors import CannotRun
from normalizer.regular_files import document_bytes
from normalizer.tables import formats
from normalizer.tables.formats import printable
from normalizer.terminal.help_format import Command, option

_MEMBERS = {
    "schema": {"$schema", "$id", "$defs", "properties"},
    "rubric": {"dimensions"},
    "manifest": {"files"},
    "dialect": {"container", "fields", "bundle", "entry"},
}
"""The members by which a document is known for what it is."""


@click.command(cls=Command)
@click.argument("files", type=options.PATH, metavar="[DOCUMENT]...", nargs=-1)
@option("--rubric FILE", "A scoring scale.", type=options.PATH)
@option("--manifest FILE", "A run manifest.", type=options.PATH)
@option("--dialect NAME|FILE", "A dialect.", shell_complete=options.complete_dialects)
@option("--schema PATH", "A JSON Schema, or a folder of them; repeatable.", "schemas", type=options.PATH, multiple=True)
@options.add_format("text", "json")
def command(files: tuple[Path, ...], schemas: tuple[Path, ...], form: str, **asked: Any) -> int:
    """Find contradictions before a run is paid for.

    Looks for what a schema rejects, scales that allow nothing, a manifest that names a file twice or lacks what its
    phase requires, schemas with clashing $ids, and oneOf branches that cannot be told apart. The kind of a
    DOCUMENT is known by its members. Without any the built-in schemas and rules are looked at. Exit status 1 when
    something was found.
    """
    chosen: dict[str, Path | str | None] = asked
    for file in files:
        kind = _find_kind(file)
        if kind == "schema":
            schemas += (file,)
        elif chosen[kind] is not None:
            raise CannotRun(f"{file} is a second {kind}: give one at a time")
        else:
            chosen[kind] = file
    found = list(_find_flaws(chosen, schemas))
    if form == "json":
        findings = [{"document": each.document, "pointer": each.pointer, "message": each.message} for each in found]
        click.echo(formats.dumps({"findings": findings}))
    for finding in found if form == "text" else ():
        click.echo(printable(f"{finding.document}: {finding.pointer or 'the document'}: {finding.message}"))
    click.echo(f"{len(found)} found" if found else "nothing found", err=True)
    return 1 if found else 0


def _find_flaws(chosen: dict[str, Path | str | None], schemas: tuple[Path, ...]) -> Iterator[lint.LintFinding]:
    """Yield the findings of the documents, by kind; those of the built-in schemas where there are none."""
    rubric, manifest, dialect = (chosen[kind] for kind in ("rubric", "manifest", "dialect"))
    rubric_name = spec.resource(BUILT_IN_RUBRIC)["name"]
    if rubric is not None:
        name = Path(rubric).name
        value, flaws = lint.read_document(name, "rubric", document_bytes(Path(rubric)))
        yield from flaws or lint.rubric(name, value)
        rubric_name = value["name"] if not flaws else rubric_name
    if manifest is not None:
        name = Path(manifest).name
        value, flaws = lint.read_document(name, "run_manifest", document_bytes(Path(manifest)))
        yield from flaws or lint.manifest(name, value, rubric_name)
    if dialect is not None:
        name = Path(dialect).name
        value, flaws = lint.read_document(name, "dialect", shipped.read_dialect(str(dialect)))
        yield from flaws or lint.dialect(name, value)
    if schemas or not (rubric or manifest or dialect):
        given: dict[str, Any] = {}
        for path in _files(schemas):
            try:
                given[str(path)] = spec.parse(document_bytes(path), max_depth=LIMITS["max_depth"])
            except spec.NotStrictJson as error:
                yield lint.LintFinding(str(path), "", f"it is not strict JSON: {error}")
        yield from schema_lint.lint(given) if given or not schemas else []


def _find_kind(path: Path) -> str:
    """Return which kind of document a file holds, by the members that only this kind has."""
    if path.is_dir():
        return "schema"
    try:
        value = spec.parse(document_bytes(path), max_depth=LIMITS["max_depth"])
    except spec.NotStrictJson as error:
        raise CannotRun(
            f"{path} is not strict JSON: {error}; a file of judgements is looked at by `normalizer guess {path}`"
        ) from None
    for kind, members in _MEMBERS.items():
        if isinstance(value, dict) and members & set(value):
            return kind
    raise CannotRun(f"{path}: what kind of document is it? Say it with --rubric, --manifest, --dialect or --schema")


def _files(named: tuple[Path, ...]) -> list[Path]:
    files = []
    for name in named:
        below = sorted(name.rglob("*.json")) if name.is_dir() else [name]
        if not below:
            raise CannotRun(f"no *.json file is below {name}")
        files += below
    return files
