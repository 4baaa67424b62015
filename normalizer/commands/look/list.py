"""`normalizer list`."""

import json
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import click
import contract_spec as spec

from normalizer.aggregate.engines.start import start_engine
from normalizer.aggregate.keys import where_of
from normalizer.aggregate.record_list import list_records
from normalizer.aggregate.summary import Options, query_of
from normalizer.commands import options
from normalizer.errors import CannotRun, did_you_mean
from normalizer.ledger.open_ledgers import as_one, check_records
from normalizer.ledger.reader import Ledger, reading
from normalizer.ledger.record_index import as_text, names_in
from normalizer.tables.formats import printable
from normalizer.terminal.help_format import Command, option
from normalizer.terminal.output import WIDE, print_line

_WIDEST = 20
"""Columns of a row of which one longer cell moves only what stands behind it in its own row."""

_HEADING = ("id", "kind", "file", "judge", "reasons", "bundle and place")


@click.command(cls=Command)
@click.argument("ledger", type=options.PATH)
@option("--valid", "Only VALID records.", "kind", flag_value="valid")
@option("--invalid", "Only INVALID records.", "kind", flag_value="invalid")
@option("--unreadable", "Only unreadable bundles and rows.", "kind", flag_value="unreadable")
@option("--counted", "Only records that the number of aggregate is made of.", "kind", flag_value="counted")
@options.WHERE
@option("--reason CODE", "Only what has this reason.", shell_complete=options.complete_reasons)
@option("--file NAME", "Only entries for this file or artifact.")
@options.add_format("text", "json")
@WIDE
@options.add_files
def command(
    ledger: Path, kind: str | None, where: tuple[str, ...], reason: str | None, file: str | None, form: str
) -> int:
    """List records and unreadable bundles: id, file, judge, reason and where in the raw bundle they come from.

    Files of a manifest that have no entry are listed as missing, with the id of the bundle that lacks them. With
    --counted and --where it lists the records behind one number: those of `aggregate LEDGER --where KEY=LEVEL`.
    """
    codes = spec.schema("eval/reason.json")["$defs"]["code"]["enum"]
    if reason is not None and reason not in codes:
        raise CannotRun(f"no reason is called {reason}: {did_you_mean(reason, codes)}")
    if where and kind != "counted":
        raise CannotRun("--where chooses a number, whose records --counted lists: give both")
    [folder] = options.open_files((ledger,))
    with reading(folder) as opened:
        counted = _find_counted(opened, where) if kind == "counted" else None
        listed = (
            item
            for item in _items(opened, "valid" if kind == "counted" else kind, file)
            if (counted is None or item["id"] in counted)
            and (reason is None or reason in item["reasons"])
            and (file is None or file in (item["file"], item["artifact"]))
        )
        if form == "json":
            for item in listed:
                click.echo(json.dumps(item))
        else:
            _print_rows(listed)
    return 0


def _print_rows(listed: Iterator[dict[str, Any]]) -> None:
    """Print a heading and a row for each item, in columns as wide as the first thousand rows need, and not wider than
    names mostly are."""
    first = [_row(item) for item in islice(listed, 1000)]
    widths = [min(max(map(len, column)), _WIDEST) for column in zip(_HEADING, *first, strict=True)]
    for row in chain([_HEADING], first, map(_row, listed)):
        print_line("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _find_counted(ledger: Ledger, where: tuple[str, ...]) -> set[str]:
    """Return the ids of the records that a number is made of."""
    options = Options(where=where_of(where))
    check_records(ledger)
    given = as_one([ledger])
    with start_engine(options.engine, options.memory, given.size) as engine:
        listed = list_records(engine, query_of(given, options), given, options.rules)
        return {one.id for one in listed if one.status == "counted"}


def _items(ledger: Ledger, kind: str | None, file: str | None) -> Iterator[dict[str, Any]]:
    """Yield what is listed; of records, if a file is named, those that have its name or an id that begins so."""
    if kind in (None, "valid"):
        yield from (_record(record, "valid") for record in _records(ledger, "records", file))
    if kind != "valid":
        for record in _records(ledger, "invalid", file):
            unreadable = any(reason["code"] == "row_unreadable" for reason in record["reasons"])
            if kind in (None, "invalid") or unreadable:
                yield _record(record, "unreadable" if unreadable else "invalid")
    if kind in (None, "unreadable") and file is None:
        yield from (_bundle(item) for item in ledger.items("audit"))
    if kind is None:
        for header in ledger.items("headers"):
            yield from _list_missing(ledger, header)


def _records(ledger: Ledger, kind: str, file: str | None) -> Iterator[dict[str, Any]]:
    return ledger.items(kind) if file is None else (ledger.item(kind, line) for line in ledger.find(kind, file))


def _list_missing(ledger: Ledger, header: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """List files that a bundle lacks or should not have, as far as no record is to blame."""
    files: dict[str, Any] = {}
    if header["reasons"] and "manifest" in header["settings"]:
        listed = ledger.document(header["settings"]["manifest"])["files"]
        files = {file["file"]: file for file in listed}
    for reason in header["reasons"]:
        file = files.get(reason.get("file"), {}) if reason["code"] == "file_without_entry" else {}
        artifact = file.get("artifact", file.get("file"))
        about = {
            "file": file.get("file"),
            "artifact": artifact,
            "reasons": [reason["code"]],
            "pointer": reason["pointer"],
        }
        yield {**_bundle(header), "kind": "missing" if file else "bundle", **about}


def _record(record: dict[str, Any], kind: str) -> dict[str, Any]:
    source = record["source"]
    file, artifact = names_in(record)
    return {
        "kind": kind,
        "id": record["record_id"],
        "file": file,
        "artifact": artifact,
        "judge_model": as_text(record.get("judge_model")),
        "reasons": [reason["code"] for reason in record.get("reasons", [])],
        "bundle_sha256": source["bundle_sha256"],
        "pointer": source["pointer"],
        "line": source.get("line"),
        "member": source.get("member"),
    }


def _bundle(item: dict[str, Any]) -> dict[str, Any]:
    reasons = [reason["code"] for reason in item["reasons"]]
    nothing = dict.fromkeys(("file", "artifact", "judge_model", "line", "member"))
    sha256 = item["bundle_sha256"]
    return {"kind": "unreadable", "id": sha256, "reasons": reasons, "bundle_sha256": sha256, "pointer": "", **nothing}


def _row(item: dict[str, Any]) -> tuple[str, ...]:
    place = item["member"] or (f"line {item['line']}" if item["line"] else item["pointer"])
    parts = (item["file"] or "-", item["judge_model"] or "-", ",".join(item["reasons"]) or "-")
    cells = (item["id"][:12], item["kind"], *parts, f"{item['bundle_sha256'][:12]} {place}".rstrip())
    return tuple(printable(cell) for cell in cells)
