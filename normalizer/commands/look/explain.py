"""`normalizer explain`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from normalizer.commands import options
from normalizer.documents.locate import place
from normalizer.documents.lossless import dumps, loads_plain
from normalizer.documents.protocol import eligibility
from normalizer.errors import UnusableLedger
from normalizer.ledger.line_format import RECORD_FILES, id_starts, sha_slice
from normalizer.ledger.open_ledgers import refuse_changed_id
from normalizer.ledger.reader import Ledger, reading
from normalizer.screening.raw_rows import RawRow, raw_row
from normalizer.terminal.help_format import Command, option

_MOST = 12
"""Lines of a bundle shown for one pointer."""
_MANY = 20
"""Records shown for one name."""
_SOURCE = ("line", "member", "order", "dialect", "rest")


@click.command(cls=Command)
@click.argument("ledger", type=options.PATH)
@click.argument("name", metavar="RECORD")
@option("--verify", "First normalize the raw bundle again, and stop if the result differs from the record.")
@options.add_format("text", "json")
@options.add_files
def command(ledger: Path, name: str, verify: bool, form: str) -> int:
    """Show a record, its reasons, and the lines of the raw bundle they point at.

    A record is named by its id, its file or its artifact, a bundle by its hash. The first digits of an id or hash are
    enough; `normalizer list LEDGER` prints them.
    """
    [folder] = options.open_files((ledger,))
    with reading(folder) as opened:
        explanation = _explain_name(opened, name, verify)
    if form == "json":
        click.echo(dumps(explanation))
    else:
        click.echo("\n".join(_print_explanation(explanation, folder)))
    return 0


def _explain_name(ledger: Ledger, name: str, verify: bool) -> dict[str, Any]:
    """Return the document of `eval/explanation.json` on the records or the bundle of a name."""
    if not name:
        raise UnusableLedger("give a record_id or its first digits, a file, an artifact or a bundle's hash")
    named = [(kind, line) for kind in RECORD_FILES for line in ledger.find(kind, name)]
    if not named:
        return {"bundle": _find_bundle(ledger, name)}
    by_id = [(kind, line) for kind, line in named if line.startswith(id_starts(name))]
    if len(by_id) > 1:
        raise UnusableLedger(f"{len(by_id)} records have ids that begin with {name}: give more digits")
    records = [_explain(ledger, kind, line, verify) for kind, line in (by_id or named)[:_MANY]]
    more = 0 if by_id else max(0, len(named) - _MANY)
    return {"records": records, **({"more": more} if more else {})}


def _find_bundle(ledger: Ledger, name: str) -> dict[str, Any]:
    try:
        sha256 = ledger.find_bundle(name).stem
    except UnusableLedger:
        raise UnusableLedger(
            f"no record of {ledger.folder} has an id that begins with {name}, or that file or artifact, and no bundle "
            f"has that hash: `normalizer list {ledger.folder}` prints the ids"
        ) from None
    for kind in ("headers", "audit"):
        for line in ledger.lines_of(kind, sha256):
            item: dict[str, Any] = loads_plain(line)
            return item
    raise UnusableLedger(f"bundle {sha256} is kept, but no line names it: see `normalizer audit`")


def _explain(ledger: Ledger, kind: str, line: bytes, verify: bool) -> dict[str, Any]:
    """Return a record whose id is that of its content and, if asked for, which its raw bundle gives, with raw lines."""
    refuse_changed_id(kind, line)
    if verify:
        from normalizer.checks.reverify import require_verified  # heavy, and only here

        require_verified(ledger, line[sha_slice(kind)].decode("ascii", "replace"))
    record = ledger.exact(kind, line)
    row = raw_row(ledger, record["source"])
    verdict = f"VALID, {eligibility(loads_plain(line))}" if kind == "records" else "INVALID"
    quotes = [
        {"code": reason["code"], "message": reason["message"], **_quote(row, reason["pointer"])}
        for reason in record.get("reasons", [])
    ]
    if kind == "records":
        quotes.append(_quote(row, record["source"]["pointer"]))
    return {"record": record, "verdict": verdict, "quotes": quotes}


def _quote(row: RawRow, pointer: str) -> dict[str, Any]:
    """Return the lines of a row that a pointer leads to, or around the place where nothing is."""
    lines = row.text.split("\n")
    inner = row.inner(pointer)
    if inner is None:  # the row is no JSON: it is shown as it begins
        first, last, is_present = 1, len(lines), True
    else:
        first, last, is_present = place(row.text, inner)
    most = _MOST if is_present else 1
    return {
        "pointer": pointer,
        "present": is_present,
        **({"member": row.member} if row.member else {}),
        "first_line": row.line + first - 1,
        "last_line": row.line + last - 1,
        "lines": lines[first - 1 : min(last, first + most - 1)],
    }


def _print_explanation(explanation: dict[str, Any], folder: Path) -> Iterator[str]:
    """Yield the lines for a person."""
    if item := explanation.get("bundle"):
        yield f"bundle {item['bundle_sha256']}: {'read' if 'entries' in item else 'unreadable'}"
        yield from (f"  {key}: {item[key]}" for key in ("entries", "valid", "invalid", "bytes") if key in item)
        yield from (f"  settings.{key}: {digest}" for key, digest in item["settings"].items())
        yield from (_escape_row(f"{reason['code']}: {reason['message']}", None) for reason in item["reasons"])
        return
    for number, each in enumerate(explanation["records"]):
        yield from [""] if number else []
        yield from _print_record(each["record"], each["verdict"])
        for quote in each["quotes"]:
            yield ""
            yield _escape_row(f"{quote['code']}: {quote['message']}", None) if "code" in quote else "the entry:"
            yield from _print_quote(quote)
    if more := explanation.get("more"):
        yield from ("", f"and {more} more: see `normalizer list {folder} --file ...`")


def _print_record(record: dict[str, Any], verdict: str) -> Iterator[str]:
    source = record["source"]
    yield f"record {record['record_id']}: {verdict}"
    yield f"bundle {source['bundle_sha256']}, {source['pointer']}"
    for key, value in record.items():
        if key not in ("record_id", "source", "reasons"):
            yield f"  {key}: {dumps(value)}"
    for key in _SOURCE:
        if key in source:
            yield f"  source.{key}: {dumps(source[key]) if isinstance(source[key], (dict, list)) else source[key]}"


def _print_quote(quote: dict[str, Any]) -> Iterator[str]:
    absent = "" if quote["present"] else " (nothing is there; it would stand in)"
    member = f" of {_escape_row(quote['member'])}" if "member" in quote else ""
    yield f"  at {_escape_row(quote['pointer'], None) or 'the whole document'}{member}{absent}"
    for number, text in enumerate(quote["lines"], start=quote["first_line"]):
        yield f"  {number:>5} | {_escape_row(text)}"
    if quote["last_line"] - quote["first_line"] >= len(quote["lines"]):
        yield f"        | ... to line {quote['last_line']}"


def _escape_row(row: str, most: int | None = 200) -> str:
    """Return text of a bundle with everything escaped that a terminal would interpret."""
    row = "".join(
        char if char.isprintable() or char == "\t" else "\N{REPLACEMENT CHARACTER}" for char in row.rstrip("\r")
    )
    return row if most is None or len(row) <= most else row[:most] + " ..."
