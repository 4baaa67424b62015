"""Records as flat rows: a column a member, members of objects under dotted names."""

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from normalizer.aggregate import keys
from normalizer.documents.phases import eligibility
from normalizer.errors import CannotRun
from normalizer.ledger.open_ledgers import Check, check_records
from normalizer.ledger.reader import Ledger, reading

LOSSES = {
    "jsonl": ("headers of bundles and raw bytes: they stay in the ledger",),
    "csv": (
        "how numbers were spelled, absent against empty, the order of an entry's keys",
        "steps of dialects, headers of bundles and raw bytes: they stay in the ledger",
    ),
    "parquet": (
        "how numbers were spelled: scores are doubles, or text where a scale has labels",
        "the order of an entry's keys, steps of dialects, headers of bundles and raw bytes: they stay in the ledger",
    ),
    "inspect": (
        "questions and answers: records have neither, so that a sample's input names its file only",
        "INVALID records, steps of dialects, headers of bundles, raw bytes; numbers' spellings",
    ),
    "eee": (
        "single records: the format has one number a generator and measure, with its interval",
        "the prompt of the judge, INVALID records, and what was left out but for its counts",
    ),
}
"""Fields that each format cannot carry."""

_NESTED = {"scores": "score", "factors": "factor", "evidence": "evidence", "outcome": "outcome", "length": "length"}
_FIRST = ("record_id", "bundle_sha256", "index", "pointer", "status", "eligibility", "kind", "file", "item", "artifact")
_DROPPED = ("levels",)


class Flat(NamedTuple):
    """The columns of all rows, and a way to go through the rows."""

    columns: dict[str, str]
    """Name to `number`, `boolean` or `text`."""
    ledgers: list[Ledger]
    kinds: tuple[str, ...]
    where: dict[str, keys.Level]
    """Only records with these levels."""

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows, ledger by ledger: VALID ones, then INVALID ones where they were asked for."""
        for kind, record in _records(self.ledgers, self.kinds, self.where):
            yield _row(kind, record)

    def lines(self) -> Iterator[bytes]:
        """The ledgers' own lines, in the order of the rows."""
        for ledger, seen in _own_bundles(self.ledgers):
            for kind in self.kinds:
                for line in ledger.lines(kind):
                    if _is_selected(ledger.item(kind, line), seen, self.where):
                        yield line


@contextmanager
def flattened(
    folders: tuple[Path, ...],
    *,
    invalid: bool = False,
    where: dict[str, keys.Level] | None = None,
    check: Check = check_records,
) -> Iterator[Flat]:
    """Open ledgers of one kind and look through their records, those that `where` selects, for columns."""
    with ExitStack() as stack:
        ledgers = [stack.enter_context(reading(folder)) for folder in folders]
        for ledger in ledgers:
            check(ledger)
        if len({next((item.get("kind") for item in ledger.items("headers")), None) for ledger in ledgers}) > 1:
            raise CannotRun("some of the ledgers hold comparisons and some single scores: export them apart")
        kinds = ("records", "invalid") if invalid else ("records",)
        found: dict[str, set[str]] = {}
        where = where or {}
        for kind, record in _records(ledgers, kinds, where):
            for name, value in _row(kind, record).items():
                if value is not None:
                    found.setdefault(name, set()).add(_type(value))
                else:
                    found.setdefault(name, set())
        yield Flat({name: _common(found[name]) for name in sorted(found, key=_place)}, ledgers, kinds, where)


def _records(
    ledgers: list[Ledger], kinds: tuple[str, ...], where: dict[str, keys.Level]
) -> Iterator[tuple[str, dict[str, Any]]]:
    for ledger, seen in _own_bundles(ledgers):
        for kind in kinds:
            for record in ledger.items(kind):
                if _is_selected(record, seen, where):
                    yield kind, record


def _is_selected(record: dict[str, Any], seen: set[str], where: dict[str, keys.Level]) -> bool:
    """Whether a record is selected, and its bundle in no ledger before."""
    return record["source"]["bundle_sha256"] not in seen and all(
        keys.level_in(record, name) == level for name, level in where.items()
    )


def _own_bundles(ledgers: Iterable[Ledger]) -> Iterator[tuple[Ledger, set[str]]]:
    """Each ledger, with the bundles that one before it has: they count once."""
    seen: set[str] = set()
    for ledger in ledgers:
        own = {item["bundle_sha256"] for item in ledger.items("headers")}
        yield ledger, seen
        seen = seen | own


def _row(kind: str, record: dict[str, Any]) -> dict[str, Any]:
    source = record["source"]
    row: dict[str, Any] = {
        "record_id": record["record_id"],
        "bundle_sha256": source["bundle_sha256"],
        "index": source["index"],
        "pointer": source["pointer"],
        "status": "valid" if kind == "records" else "invalid",
        "eligibility": eligibility(record) if kind == "records" else None,
    }
    for name, value in record.items():
        if name in ("record_id", "source", *_DROPPED):
            continue
        if name in _NESTED and isinstance(value, dict):
            row |= {f"{_NESTED[name]}.{key}": _plain(inner) for key, inner in value.items()}
        else:
            row[name] = json.dumps(value, ensure_ascii=False) if name in ("verdict", "reasons") else _plain(value)
    return row


def _plain(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else value


def _type(value: Any) -> str:
    return "boolean" if isinstance(value, bool) else "number" if isinstance(value, (int, float)) else "text"


def _common(types: set[str]) -> str:
    return next(iter(types)) if len(types) == 1 else "text"


def _place(name: str) -> tuple[int, str]:
    if name in _FIRST:
        return _FIRST.index(name), ""
    prefix = name.partition(".")[0]
    order = ["outcome", "score", "factor", "length", "evidence"]
    return (200 + order.index(prefix) if prefix in order and "." in name else 100), name


def cell(value: Any, kind: str) -> Any:
    """Return a value in the type of its column."""
    if value is None or kind != "text":
        return value
    return value if isinstance(value, str) else json.dumps(value)
