"""From a bundle's records and its header, the document again: order, spellings, values. The proof that none is lost."""

from typing import Any

from normalizer.documents import lossless
from normalizer.documents.dialect import Done, undo
from normalizer.documents.pointers import opened
from normalizer.errors import UnusableLedger
from normalizer.ledger.reader import Ledger
from normalizer.screening.comparison_records import FIELDS as COMPARISON_FIELDS
from normalizer.screening.records import FIELDS


def rebuild(header: dict[str, Any], records: list[dict[str, Any]]) -> dict[str, Any]:
    """The bundle's document from its header line and its record lines, parsed losslessly, in any order."""
    ordered = sorted(records, key=lambda record: int(record["source"]["index"]))
    document, parent, key = opened(header["header"], header["entries_at"])
    parent[key] = [_entry(record) for record in ordered]
    return document


def rebuilt(ledger: Ledger, sha256: str) -> str:
    """A bundle of a ledger, made anew from its records as compact JSON."""
    sha256 = ledger.kept(sha256).stem
    headers = [ledger.exact("headers", line) for line in ledger.lines_of("headers", sha256)]
    if not headers:
        raise UnusableLedger(f"no record was made from a bundle {sha256}: see `normalizer audit`")
    records = [ledger.exact(kind, line) for kind in ("records", "invalid") for line in ledger.lines_of(kind, sha256)]
    return lossless.dumps(rebuild(headers[0], records))


def _entry(record: dict[str, Any]) -> Any:
    source = record["source"]
    if "value" in source:
        return source["value"]
    fields = COMPARISON_FIELDS if "kind" in record else FIELDS
    members = {field: record[field] for field in fields if field in record} | source.get("rest", {})
    entry = {key: members[key] for key in source.get("order", members)}
    translation = source.get("dialect", {})
    done = [Done(step["take"], step.get("put"), int(step["at"])) for step in translation.get("steps", [])]
    return undo(entry, done, translation.get("aside", {}))
