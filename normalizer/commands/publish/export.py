"""`normalizer export`."""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from contract_spec.extras import install_command

from normalizer.aggregate.eligibility import MIXABLE, Rules
from normalizer.aggregate.keys import where_of
from normalizer.aggregate.summary import Options, open_on_engine, select_rubric, summarize
from normalizer.commands.options import PATH, VERIFY, WHERE, add_files, add_ledgers, choose_check, open_files
from normalizer.errors import CannotRun
from normalizer.export import arrow, eee, inspect_log
from normalizer.export.flat import LOSSES, Flat, Run, flatten_records
from normalizer.ledger.open_ledgers import Check
from normalizer.terminal.help_format import Command
from normalizer.terminal.output import refuse_inside_ledger


@click.command(cls=Command)
@add_ledgers
@click.option("--to", "form", type=click.Choice(sorted(LOSSES)), required=True, help="The format.")
@click.option("--out", type=PATH, metavar="PATH", help="A file, or a folder for inspect and eee.")
@click.option("--invalid", is_flag=True, help="INVALID records too, with their reasons (jsonl, csv, parquet).")
@click.option("--organization", metavar="NAME", help="Who publishes (eee).")
@click.option(
    "--relationship",
    type=click.Choice(["first_party", "third_party", "collaborative", "other"]),
    default="other",
    show_default=True,
    help="How the publisher is related to the models (eee).",
)
@click.option("--retrieved", metavar="SECONDS", help="When the document is made, in seconds since 1970 (eee).")
@click.option(
    "--developer",
    "developers",
    multiple=True,
    metavar="[MODEL=]NAME",
    help="Who makes the generators, where their names do not begin with it as in DEVELOPER/MODEL (eee); repeatable.",
)
@WHERE
@click.option("--mix", multiple=True, type=click.Choice(MIXABLE), help="Mix several of these in one number (eee).")
@click.option(
    "--engine",
    type=click.Choice(["processes", "spark"]),
    default="processes",
    show_default=True,
    help="Convert records in this process, or on Spark (jsonl, csv, parquet; with --out).",
)
@VERIFY
@add_files
def command(
    ledgers: tuple[Path, ...],
    form: str,
    out: Path | None,
    invalid: bool,
    organization: str | None,
    relationship: str,
    retrieved: str | None,
    developers: tuple[str, ...],
    where: tuple[str, ...],
    mix: tuple[str, ...],
    engine: str,
    verify: bool,
) -> int:
    """Write records as JSON lines, CSV, Parquet, Inspect logs or Every Eval Ever documents.

    Fields that the format cannot carry are listed on standard error. Without --out, jsonl and csv go to standard
    output.
    """
    if out is None and form not in ("jsonl", "csv"):
        raise CannotRun(f"{form} needs --out: a {'file' if form == 'parquet' else 'folder'} to write")
    refuse_inside_ledger(out)
    if invalid and form in ("inspect", "eee"):
        raise CannotRun(f"{form} has no place for INVALID records: omit --invalid")
    if mix and form != "eee":
        raise CannotRun(f"{form} has records and no number of several: omit --mix")
    check = choose_check(verify)
    ledgers = open_files(ledgers)
    try:
        if form == "eee":
            publisher = _publisher(organization, relationship, retrieved, developers)
            told = _documents(ledgers, publisher, where, frozenset(mix), out or Path(), check)
        else:
            with _choose_run(engine, out) as run:
                told = _write_records(
                    ledgers,
                    form,
                    out,
                    where,
                    partial(flatten_records, invalid=invalid, check=check if verify else None, run=run),
                )
    except OSError as error:
        raise CannotRun(f"cannot write {out}: {error.strerror}") from None
    click.echo(told, err=True)
    for loss in LOSSES[form]:
        click.echo(f"not carried: {loss}", err=True)
    return 0


def _publisher(
    organization: str | None, relationship: str, retrieved: str | None, developers: tuple[str, ...]
) -> eee.Publisher:
    if organization is None or retrieved is None or not retrieved.isdigit():
        raise CannotRun("eee needs --organization NAME and --retrieved SECONDS, which no record says")
    named: dict[str | None, str] = {}
    for text in developers:
        model, sign, name = text.rpartition("=")
        if not name.strip() or name.strip() == "unknown":
            raise CannotRun(f"--developer {text} names no developer: write NAME, or MODEL=NAME")
        named[model if sign else None] = name.strip()
    return eee.Publisher(organization, relationship, retrieved, named)


def _documents(
    ledgers: tuple[Path, ...],
    publisher: eee.Publisher,
    where: tuple[str, ...],
    mix: frozenset[str],
    out: Path,
    check: Check,
) -> str:
    options = Options(by=("generator_model",), where=where_of(where), rules=Rules(mix=mix), check=check)
    with open_on_engine(ledgers, options) as (engine, given):
        rubric = select_rubric(given, options)
        summary = summarize(engine, given, options)
        by_judge = summarize(engine, given, replace(options, by=("generator_model", "judge_model")))
    judges: dict[str | None, list[str]] = defaultdict(list)
    for row in by_judge["rows"]:
        if row["n_records"] and row["key"]["judge_model"] is not None:
            judges[row["key"]["generator_model"]].append(row["key"]["judge_model"])
    return f"{eee.write(eee.documents(summary, rubric, judges, publisher), out)} documents"


@contextmanager
def _choose_run(engine: str, out: Path | None) -> Iterator[Run]:
    """Yield what applies a function to all files of records: here, or on Spark by way of a folder beside the output."""
    if engine != "spark" or out is None:
        yield map
        return
    try:
        from normalizer.batch.spark import map_files  # heavy, and only here
    except ImportError:
        raise CannotRun(f"this engine needs Spark: {install_command('spark')}") from None
    with TemporaryDirectory(prefix=f".{out.name}-", dir=out.absolute().parent) as scratch:
        yield map_files(Path(scratch))


def _write_records(
    ledgers: tuple[Path, ...],
    form: str,
    out: Path | None,
    where: tuple[str, ...],
    flatten: Callable[..., AbstractContextManager[Flat]],
) -> str:
    chosen = where_of(where, ("eval_id", "criterion"))
    with flatten(ledgers, where=chosen) as flat:
        if form == "parquet":
            return f"{arrow.write_parquet(flat, out or Path())} rows, {len(flat.columns)} columns"
        if form == "inspect":
            return f"{inspect_log.write(flat, out or Path())} logs"
        if form == "csv":
            if out is None:
                return f"{arrow.write_csv(flat, sys.stdout)} rows, {len(flat.columns)} columns"
            with out.open("w", encoding="utf-8", newline="") as file:
                return f"{arrow.write_csv(flat, file)} rows, {len(flat.columns)} columns"
        if out is None:
            for lines in flat.lines():
                click.echo(lines, nl=False)
        else:
            with out.open("wb") as binary:
                binary.writelines(flat.lines())
        return f"{flat.size} lines"
