"""`normalizer export`."""

import sys
from collections import defaultdict
from pathlib import Path

import click

from normalizer.aggregate.summary import Options, opened_on_engine, summarize
from normalizer.commands.aggregate import LEDGERS, VERIFY, check_of
from normalizer.errors import CannotRun
from normalizer.export import arrow, eee, inspect_log
from normalizer.export.flat import LOSSES, flattened
from normalizer.ledger.reader import is_ledger


@click.command()
@LEDGERS
@click.option("--to", "form", type=click.Choice(sorted(LOSSES)), required=True)
@click.option("--out", type=click.Path(path_type=Path), help="A file, or a folder for inspect and eee.")
@click.option("--invalid", is_flag=True, help="INVALID records too, with their reasons (jsonl, csv, parquet).")
@click.option("--organization", help="Who publishes (eee).")
@click.option(
    "--relationship",
    type=click.Choice(["first_party", "third_party", "collaborative", "other"]),
    default="other",
    show_default=True,
    help="How the publisher is related to the models (eee).",
)
@click.option("--retrieved", metavar="SECONDS", help="When the document is made, in seconds since 1970 (eee).")
@VERIFY
def command(
    ledgers: tuple[Path, ...],
    form: str,
    out: Path | None,
    invalid: bool,
    organization: str | None,
    relationship: str,
    retrieved: str | None,
    verify: bool,
) -> int:
    """Write records as JSON lines, CSV, Parquet, Inspect logs or Every Eval Ever documents.

    Fields that the format cannot carry are listed on standard error. Without --out, jsonl and csv go to standard
    output.
    """
    if out is None and form not in ("jsonl", "csv"):
        raise CannotRun(f"{form} needs --out: a {'file' if form == 'parquet' else 'folder'} to write")
    if out is not None:
        place = out.resolve()
        for around in filter(is_ledger, (place, *place.parents)):
            raise CannotRun(f"{out} is in the ledger {around}, which only normalize writes to: name another place")
    if invalid and form in ("inspect", "eee"):
        raise CannotRun(f"{form} has no place for INVALID records: omit --invalid")
    try:
        told = _written(ledgers, form, out, invalid, (organization, relationship, retrieved), verify)
    except OSError as error:
        raise CannotRun(f"cannot write {out}: {error.strerror}") from None
    click.echo(told, err=True)
    for loss in LOSSES[form]:
        click.echo(f"not carried: {loss}", err=True)
    return 0


def _written(
    ledgers: tuple[Path, ...],
    form: str,
    out: Path | None,
    invalid: bool,
    publisher: tuple[str | None, str, str | None],
    verify: bool,
) -> str:
    check = check_of(verify)
    if form == "eee":
        organization, relationship, retrieved = publisher
        if organization is None or retrieved is None or not retrieved.isdigit():
            raise CannotRun("eee needs --organization NAME and --retrieved SECONDS, which no record says")
        options = Options(by=("generator_model",), check=check)
        with opened_on_engine(ledgers, options) as (engine, given):
            rubric = given.rubric(None)
            summary = summarize(engine, given, options)
            by_judge = summarize(engine, given, Options(by=("generator_model", "judge_model")))
        judges: dict[str | None, list[str]] = defaultdict(list)
        for row in by_judge["rows"]:
            if row["n_records"] and row["key"]["judge_model"] is not None:
                judges[row["key"]["generator_model"]].append(row["key"]["judge_model"])
        found = eee.documents(summary, rubric, judges, eee.Publisher(organization, relationship, retrieved))
        return f"{eee.write(found, out or Path())} documents"
    with flattened(ledgers, invalid=invalid, check=check) as flat:
        if form == "parquet":
            return f"{arrow.write_parquet(flat, out or Path())} rows, {len(flat.columns)} columns"
        if form == "inspect":
            return f"{inspect_log.write(flat, out or Path())} logs"
        if form == "csv":
            if out is None:
                return f"{arrow.write_csv(flat, sys.stdout)} rows, {len(flat.columns)} columns"
            with out.open("w", encoding="utf-8", newline="") as file:
                return f"{arrow.write_csv(flat, file)} rows, {len(flat.columns)} columns"
        lines = list(flat.lines())
        if out is None:
            click.echo(b"".join(lines), nl=False)
        else:
            out.write_bytes(b"".join(lines))
        return f"{len(lines)} lines"
