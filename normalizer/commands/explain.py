"""`normalizer explain`."""

from pathlib import Path

import click

from normalizer.documents.locate import place
from normalizer.documents.lossless import dumps, ordinary
from normalizer.documents.phases import eligibility
from normalizer.ledger.line_format import sha_slice
from normalizer.ledger.reader import Ledger, reading
from normalizer.ledger.record_check import refuse_changed_id

_MOST = 12
"""Lines of a bundle shown for one pointer."""


@click.command()
@click.argument("ledger", type=click.Path(path_type=Path))
@click.argument("record_id")
@click.option(
    "--verify", is_flag=True, help="Normalize its raw bundle again first, and refuse a record it does not give."
)
def command(ledger: Path, record_id: str, verify: bool) -> int:
    """Show a record, its reasons, and the lines of the raw bundle they point at. The id's first digits will do."""
    with reading(ledger) as opened:
        kind, line = opened.record(record_id)
        refuse_changed_id(kind, line)
        if verify:
            from normalizer.checks.reverify import require_verified  # heavy, and only here

            require_verified(opened, line[sha_slice(kind)].decode("ascii", "replace"))
        click.echo("\n".join(_explained(opened, kind, line)))
    return 0


def _explained(ledger: Ledger, kind: str, line: bytes) -> list[str]:
    record = ledger.exact(kind, line)
    source = record["source"]
    text = ledger.bundle(source["bundle_sha256"]).decode()
    verdict = f"VALID, {eligibility(ordinary(line))}" if kind == "records" else "INVALID"
    out = [f"record {record['record_id']}: {verdict}", f"bundle {source['bundle_sha256']}, {source['pointer']}"]
    fields = {key: value for key, value in record.items() if key not in ("record_id", "source", "reasons")}
    out += [f"  {key}: {dumps(value)}" for key, value in fields.items()]
    out += [f"  source.{key}: {dumps(source[key])}" for key in ("order", "dialect", "rest") if key in source]
    for reason in record.get("reasons", []):
        out += ["", _shown(f"{reason['code']}: {reason['message']}", None), *_quoted(text, reason["pointer"])]
    if kind == "records":
        out += ["", "the entry:", *_quoted(text, source["pointer"])]
    return out


def _quoted(text: str, pointer: str) -> list[str]:
    where = place(text, pointer)
    most = _MOST if where.there else 1
    rows = text.split("\n")[where.first - 1 : min(where.last, where.first + most - 1)]
    quoted = [f"  {number:>5} | {_shown(row)}" for number, row in enumerate(rows, start=where.first)]
    if where.last - where.first >= most:
        quoted.append(f"        | ... to line {where.last}")
    absent = "" if where.there else " (nothing is there; it would stand in)"
    return [f"  at {_shown(pointer, None) or 'the whole document'}{absent}", *quoted]


def _shown(row: str, most: int | None = 200) -> str:
    """What a bundle says, fit for a terminal whatever it holds."""
    row = "".join(
        char if char.isprintable() or char == "\t" else "\N{REPLACEMENT CHARACTER}" for char in row.rstrip("\r")
    )
    return row if most is None or len(row) <= most else row[:most] + " ..."
