"""`normalizer explain`."""

from pathlib import Path
from typing import Any

import click

from normalizer.commands.options import add_files, open_files
from normalizer.documents.locate import place
from normalizer.documents.lossless import dumps, loads_plain
from normalizer.documents.phases import eligibility
from normalizer.errors import UnusableLedger
from normalizer.ledger.line_format import RECORD_FILES, id_starts, sha_slice
from normalizer.ledger.open_ledgers import refuse_changed_id
from normalizer.ledger.reader import Ledger, reading
from normalizer.screening.raw_rows import RawRow, raw_row

_MOST = 12
"""Lines of a bundle shown for one pointer."""
_MANY = 20
"""Records shown for one name."""
_SOURCE = ("line", "member", "order", "dialect", "rest")


@click.command()
@click.argument("ledger", type=click.Path(path_type=Path))
@click.argument("name", metavar="RECORD_ID|FILE|ARTIFACT|BUNDLE")
@click.option(
    "--verify", is_flag=True, help="Normalize its raw bundle again first, and refuse a record it does not give."
)
@add_files
def command(ledger: Path, name: str, verify: bool) -> int:
    """Show a record, its reasons, and the lines of the raw bundle they point at.

    A record is named by its id, its file or its artifact, a bundle by its hash. The first digits of an id or hash are
    enough.
    """
    [folder] = open_files((ledger,))
    with reading(folder) as opened:
        click.echo("\n".join(_find_records(opened, name, verify)))
    return 0


def _find_records(ledger: Ledger, name: str, verify: bool) -> list[str]:
    if not name:
        raise UnusableLedger("give a record_id or its first digits, a file, an artifact or a bundle's hash")
    named = [(kind, line) for kind in RECORD_FILES for line in ledger.find(kind, name)]
    if not named:
        return _bundle(ledger, name)
    by_id = [(kind, line) for kind, line in named if line.startswith(id_starts(name))]
    if by_id:
        if len(by_id) > 1:
            raise UnusableLedger(f"{len(by_id)} records have ids that begin with {name}: give more digits")
        return _check_and_explain(ledger, *by_id[0], verify)
    out: list[str] = []
    for kind, line in named[:_MANY]:
        out += [*([""] if out else []), *_check_and_explain(ledger, kind, line, verify)]
    if len(named) > _MANY:
        out += ["", f"and {len(named) - _MANY} more: see `normalizer list {ledger.folder} --file ...`"]
    return out


def _check_and_explain(ledger: Ledger, kind: str, line: bytes, verify: bool) -> list[str]:
    """A record whose id is that of its content and, if asked for, which its raw bundle gives."""
    refuse_changed_id(kind, line)
    if verify:
        from normalizer.checks.reverify import require_verified  # heavy, and only here

        require_verified(ledger, line[sha_slice(kind)].decode("ascii", "replace"))
    return _explain(ledger, kind, line)


def _bundle(ledger: Ledger, name: str) -> list[str]:
    try:
        sha256 = ledger.kept(name).stem
    except UnusableLedger:
        raise UnusableLedger(
            f"no record of {ledger.folder} has an id that begins with {name}, or that file or artifact, and no bundle "
            "has that hash"
        ) from None
    for kind, verdict in (("headers", "read"), ("audit", "unreadable")):
        for line in ledger.lines_of(kind, sha256):
            item = loads_plain(line)
            out = [f"bundle {sha256}: {verdict}"]
            out += [f"  {key}: {item[key]}" for key in ("entries", "valid", "invalid", "bytes") if key in item]
            out += [f"  settings.{key}: {digest}" for key, digest in item["settings"].items()]
            out += [_escape_row(f"{reason['code']}: {reason['message']}", None) for reason in item["reasons"]]
            return out
    raise UnusableLedger(f"bundle {sha256} is kept, but no line names it: see `normalizer audit`")


def _explain(ledger: Ledger, kind: str, line: bytes) -> list[str]:
    record = ledger.exact(kind, line)
    source = record["source"]
    row = raw_row(ledger, source)
    verdict = f"VALID, {eligibility(loads_plain(line))}" if kind == "records" else "INVALID"
    out = [f"record {record['record_id']}: {verdict}", f"bundle {source['bundle_sha256']}, {source['pointer']}"]
    fields = {key: value for key, value in record.items() if key not in ("record_id", "source", "reasons")}
    out += [f"  {key}: {dumps(value)}" for key, value in fields.items()]
    out += [f"  source.{key}: {_source(source[key])}" for key in _SOURCE if key in source]
    for reason in record.get("reasons", []):
        out += ["", _escape_row(f"{reason['code']}: {reason['message']}", None), *_quote(row, reason["pointer"])]
    if kind == "records":
        out += ["", "the entry:", *_quote(row, source["pointer"])]
    return out


def _source(value: Any) -> str:
    return dumps(value) if isinstance(value, (dict, list)) else str(value)


def _quote(row: RawRow, pointer: str) -> list[str]:
    lines = row.text.split("\n")
    inner = row.inner(pointer)
    if inner is None:  # the row is no JSON: it is shown as it begins
        first, last, there = 1, len(lines), True
    else:
        first, last, there = place(row.text, inner)
    most = _MOST if there else 1
    shown = lines[first - 1 : min(last, first + most - 1)]
    quoted = [f"  {number:>5} | {_escape_row(text)}" for number, text in enumerate(shown, start=row.line + first - 1)]
    if last - first >= most:
        quoted.append(f"        | ... to line {row.line + last - 1}")
    absent = "" if there else " (nothing is there; it would stand in)"
    member = f" of {_escape_row(row.member)}" if row.member else ""
    return [f"  at {_escape_row(pointer, None) or 'the whole document'}{member}{absent}", *quoted]


def _escape_row(row: str, most: int | None = 200) -> str:
    """Return text of a bundle with everything escaped that a terminal would interpret."""
    row = "".join(
        char if char.isprintable() or char == "\t" else "\N{REPLACEMENT CHARACTER}" for char in row.rstrip("\r")
    )
    return row if most is None or len(row) <= most else row[:most] + " ..."
