"""Records as flat rows: a column a member, members of objects under dotted names."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from normalizer.aggregate import keys
from normalizer.documents.lossless import loads_plain
from normalizer.documents.protocol import eligibility
from normalizer.errors import CannotRun
from normalizer.ledger.commit_record import LineFile, read_verified
from normalizer.ledger.commit_tree import CommitTree
from normalizer.ledger.open_ledgers import Check
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


class Piece(NamedTuple):
    """The records of one file of a ledger, those that are selected."""

    folder: Path
    file: LineFile
    skip: frozenset[str]
    """Bundles that a ledger before has: they count once."""
    where: dict[str, keys.Level]
    """Only records with these levels."""

    def lines(self) -> Iterator[tuple[bytes, dict[str, Any]]]:
        """Yield the lines and their records."""
        for line in BytesIO(read_verified(self.folder, self.file)):
            record = loads_plain(line)
            chosen = all(keys.level_in(record, name) == level for name, level in self.where.items())
            if chosen and record["source"]["bundle_sha256"] not in self.skip:
                yield line, record

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the records as rows."""
        return (_row(self.file.place.kind, record) for _, record in self.lines())


Convert = Callable[[Piece], bytes]
Run = Callable[[Convert, list[Piece]], Iterator[bytes]]
"""Applies a function to all pieces and yields what it returns, in their order: `map`, or `spark.map_files`."""


class Flat(NamedTuple):
    """The columns of all rows, and the pieces that the rows come from: of each ledger VALID ones, then INVALID ones."""

    columns: dict[str, str]
    """Name to `number`, `boolean` or `text`."""
    size: int
    """The number of rows."""
    pieces: list[Piece]
    run: Run = map

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield all rows."""
        for piece in self.pieces:
            yield from piece.rows()

    def lines(self) -> Iterator[bytes]:
        """Yield the ledgers' own lines, in the order of the rows, those of one file at a time."""
        return self.run(_join_lines, self.pieces)


@contextmanager
def flatten_records(
    folders: tuple[Path, ...],
    *,
    invalid: bool = False,
    where: dict[str, keys.Level] | None = None,
    check: Check | None = None,
    run: Run = map,
) -> Iterator[Flat]:
    """Open ledgers of one kind and look through their records, those that `where` selects, for columns.

    All lines are compared with their digests as they are read, here and again as rows; `check` is a further check.
    """
    with ExitStack() as stack:
        ledgers = [stack.enter_context(reading(folder)) for folder in folders]
        if check is not None:
            for ledger in ledgers:
                check(ledger)
        if len({next((item.get("kind") for item in ledger.items("headers")), None) for ledger in ledgers}) > 1:
            raise CannotRun("some of the ledgers hold comparisons and some single scores: export them apart")
        pieces = list(_cut(ledgers, ("records", "invalid") if invalid else ("records",), where or {}))
        found: dict[str, set[str]] = {}
        count = 0
        for text in run(_find_columns, pieces):
            rows, types = json.loads(text)
            count += rows
            for name, kinds in types.items():
                found.setdefault(name, set()).update(kinds)
        columns = {name: _common(found[name]) for name in sorted(found, key=_place)}
        yield Flat(columns, count, pieces, run)


def _cut(ledgers: list[Ledger], kinds: tuple[str, ...], where: dict[str, keys.Level]) -> Iterator[Piece]:
    seen: frozenset[str] = frozenset()
    for ledger in ledgers:
        tree = CommitTree(ledger.folder)
        for kind in kinds:
            yield from (Piece(ledger.folder.absolute(), file, seen, where) for file in tree.files(kind))
        if len(ledgers) > 1:
            seen |= {item["bundle_sha256"] for item in ledger.items("headers")}


def _join_lines(piece: Piece) -> bytes:
    return b"".join(line for line, _ in piece.lines())


def _find_columns(piece: Piece) -> bytes:
    """Return the number of rows and the types of each column, as JSON."""
    found: dict[str, set[str]] = {}
    count = 0
    for row in piece.rows():
        count += 1
        for name, value in row.items():
            kinds = found.setdefault(name, set())
            if value is not None:
                kinds.add(_type(value))
    return json.dumps([count, {name: sorted(kinds) for name, kinds in found.items()}]).encode()


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
