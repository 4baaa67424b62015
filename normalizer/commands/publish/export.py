"""`normalizer export`."""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from contract_spec.extras import install_command

from normalizer.aggregate.eligibility import MIXABLE, Rules
from normalizer.aggregate.keys import where_of
from normalizer.aggregate.summary import Options, open_on_engine, select_rubric, summarize
from normalizer.commands import options
from normalizer.errors import CannotRun
from normalizer.export import arrow, eee, inspect_log
from normalizer.export.flat import LOSSES, Flat, Run, flatten_records
from normalizer.ledger.open_ledgers import Check
from normalizer.terminal.help_format import Command, option
from normalizer.terminal.output import refuse_inside_ledger


@click.command(cls=Command)
@options.add_ledgers
@option("--to", "The format.", "form", choices=sorted(LOSSES), required=True)
@option("--out PATH", "A file, or a folder for inspect and eee.", type=options.PATH)
@option("--invalid", "INVALID records too, with their reasons (jsonl, csv, parquet).")
@option("--organization NAME", "Who publishes (eee).")
@option(
    "--relationship",
    "How the publisher is related to the models (eee).",
    choices=["first_party", "third_party", "collaborative", "other"],
    default="other",
)
@option("--retrieved SECONDS", "When the document is made, in seconds since 1970 (eee).")
@option(
    "--developer [MODEL=]NAME",
    "Who makes the generators, where their names do not begin with it as in DEVELOPER/MODEL (eee); repeatable.",
    "developers",
    multiple=True,
)
@options.WHERE
@option("--mix", "Mix several of these in one number (eee).", multiple=True, choices=MIXABLE)
@option(
    "--engine",
    "Convert records in this process, or on Spark (jsonl, csv, parquet; with --out).",
    choices=["processes", "spark"],
    default="processes",
)
@options.VERIFY
@options.add_files
def command(
    ledgers: tuple[Path, ...], form: str, out: Path | None, invalid: bool, mix: tuple[str, ...], **asked: Any
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
    check = options.choose_check(asked["verify"])
    ledgers = options.open_files(ledgers)
    try:
        if form == "eee":
            told = _write_documents(ledgers, out or Path(), asked, Rules(mix=frozenset(mix)), check)
        else:
            with _choose_run(asked["engine"], out) as run:
                how = partial(flatten_records, invalid=invalid, check=check if asked["verify"] else None, run=run)
                told = _write_records(ledgers, form, out, asked["where"], how)
    except OSError as error:
        raise CannotRun(f"cannot write {out}: {error.strerror}") from None
    click.echo(told, err=True)
    for loss in LOSSES[form]:
        click.echo(f"not carried: {loss}", err=True)
    return 0


def _publisher(asked: dict[str, Any]) -> eee.Publisher:
    organization, retrieved = asked["organization"], asked["retrieved"]
    if organization is None or retrieved is None or not retrieved.isdigit():
        raise CannotRun("eee needs --organization NAME and --retrieved SECONDS, which no record says")
    named: dict[str | None, str] = {}
    for text in asked["developers"]:
        model, sign, name = text.rpartition("=")
        if not name.strip() or name.strip() == "unknown":
            raise CannotRun(f"--developer {text} names no developer: write NAME, or MODEL=NAME")
        named[model if sign else None] = name.strip()
    return eee.Publisher(organization, asked["relationship"], retrieved, named)


def _write_documents(ledgers: tuple[Path, ...], out: Path, asked: dict[str, Any], rules: Rules, check: Check) -> str:
    publisher = _publisher(asked)
    chosen = Options(by=("generator_model",), where=where_of(asked["where"]), rules=rules, check=check)
    with open_on_engine(ledgers, chosen) as (engine, given):
        rubric = select_rubric(given, chosen)
        summary = summarize(engine, given, chosen)
        by_judge = summarize(engine, given, replace(chosen, by=("generator_model", "judge_model")))
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
