"""`normalizer lint`."""

from pathlib import Path
from typing import Any

import click
import contract_spec as spec

from normalizer.batch.intake import document_bytes
from normalizer.checks import lint, schema_lint
from normalizer.commands.value_completion import complete_dialects
from normalizer.containers import shipped
from normalizer.documents.settings import BUILT_IN_RUBRIC, LIMITS
from normalizer.errors import CannotRun
from normalizer.tables.formats import printable

_DOCUMENT = click.Path(path_type=Path)


@click.command()
@click.option("--rubric", type=_DOCUMENT, metavar="FILE", help="A scoring scale.")
@click.option("--manifest", type=_DOCUMENT, metavar="FILE", help="A run manifest.")
@click.option("--dialect", metavar="NAME|FILE", shell_complete=complete_dialects, help="A dialect.")
@click.option(
    "--schema",
    "schemas",
    type=_DOCUMENT,
    metavar="PATH",
    multiple=True,
    help="A JSON Schema, or a folder of them; repeatable.",
)
def command(rubric: Path | None, manifest: Path | None, dialect: str | None, schemas: tuple[Path, ...]) -> int:
    """Find contradictions before a run is paid for.

    Looks for what a schema rejects, scales that allow nothing, a manifest that names a file twice or lacks what its
    phase requires, schemas with clashing $ids, and oneOf branches that cannot be told apart. Without options the
    built-in schemas and rules are looked at. Exit status 1 when something was found.
    """
    found: list[lint.LintFinding] = []
    rubric_name = spec.resource(BUILT_IN_RUBRIC)["name"]
    if rubric is not None:
        value, flaws = lint.read_document(rubric.name, "rubric", document_bytes(rubric))
        found += flaws or lint.rubric(rubric.name, value)
        rubric_name = value["name"] if not flaws else rubric_name
    if manifest is not None:
        value, flaws = lint.read_document(manifest.name, "run_manifest", document_bytes(manifest))
        found += flaws or lint.manifest(manifest.name, value, rubric_name)
    if dialect is not None:
        name = Path(dialect).name
        value, flaws = lint.read_document(name, "dialect", shipped.given(dialect))
        found += flaws or lint.dialect(name, value)
    if schemas or not (rubric or manifest or dialect):
        given: dict[str, Any] = {}
        for path in _files(schemas):
            try:
                given[str(path)] = spec.parse(document_bytes(path), max_depth=LIMITS["max_depth"])
            except spec.NotStrictJson as error:
                found.append(lint.LintFinding(str(path), "", f"it is not strict JSON: {error}"))
        found += schema_lint.lint(given) if given or not schemas else []
    for finding in found:
        click.echo(printable(f"{finding.document}: {finding.pointer or 'the document'}: {finding.message}"))
    click.echo(f"{len(found)} found" if found else "nothing found", err=True)
    return 1 if found else 0


def _files(named: tuple[Path, ...]) -> list[Path]:
    files = []
    for name in named:
        below = sorted(name.rglob("*.json")) if name.is_dir() else [name]
        if not below:
            raise CannotRun(f"no *.json file is below {name}")
        files += below
    return files
