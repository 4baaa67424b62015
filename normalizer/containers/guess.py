"""Proposes a dialect for a file: which shipped ones read its first rows, or a draft to be completed by hand.

A proposal is for people; no other command uses it.
"""

import io
import json
import re
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import contract_spec as spec

from normalizer.containers import shipped
from normalizer.containers.mapping import MappedEntry, Mapping
from normalizer.containers.number_text import readable_by
from normalizer.containers.readers.opening import open_container
from normalizer.containers.readers.rows import Row, UnreadableContainer
from normalizer.documents.lossless import Number
from normalizer.documents.pointers import escape
from normalizer.documents.settings import checked_dialect

ROWS = 20
"""Rows that are looked at."""
_SCORE = re.compile(r"score|rating|grade|verdict|mark|points|value|preference|correct", re.IGNORECASE)
_ITEM = re.compile(r"(^|_)(id|uid|key|item|file|question|sample|doc)($|_)|_id$|Id$", re.IGNORECASE)
_JUDGE = re.compile(r"judge|grader|annotator|evaluator", re.IGNORECASE)
_GENERATOR = re.compile(r"model|generator|system|provider", re.IGNORECASE)
MAX_DEPTH = 256
_BUNDLE_LISTS = ("per_file_scores", "per_comparison")
_LISTS = ("results", "samples", "rows", "data", "items", "records", "judgments", "evaluations", "entries")


class Proposal(NamedTuple):
    """Entries that a dialect makes of the first rows of a file."""

    name: str
    entries: list[MappedEntry]
    scored: int
    """Entries with a file and a score, or with an item and a verdict."""
    failed: int
    """Entries whose judge gave no verdict, by declaration."""
    unreadable: int


def proposals(stream: BinaryIO) -> list[Proposal]:
    """The shipped dialects that find a file and a score in at least one of the first rows, the best first."""
    found = [proposal for name in shipped.names() if (proposal := tried(stream, name, shipped.given(name)))]
    return sorted(found, key=lambda proposal: (-_weight(proposal), proposal.name))


def tried(stream: BinaryIO, name: str, document: bytes) -> Proposal | None:
    """Read the first rows with a dialect; return None if it finds no score in them."""
    dialect = checked_dialect(document)
    mapping = Mapping(dialect)
    made: list[MappedEntry] = []
    unreadable = 0
    stream.seek(0)
    try:
        reader = open_container(stream, dialect)
        for row in islice(reader.rows(), ROWS):
            unreadable += bool(row.problem)
            if not row.problem and mapping.selects(row.value):
                made += [entry for entry in mapping.entries(row, reader.document) if entry is not None]
    except UnreadableContainer:
        return None
    scored = sum(_is_scored(entry.value) for entry in made)
    failed = sum(any(problem.code == "judge_failed" for problem in entry.problems) for entry in made)
    return Proposal(name, made, scored, failed, unreadable) if scored else None


def _is_scored(value: dict[str, Any]) -> bool:
    """Whether an entry names what was judged and has a score or a verdict."""
    return bool((value.get("file") and value["scores"]) or (value.get("item") and "verdict" in value))


def _weight(proposal: Proposal) -> float:
    """The share of entries that are scored, then how many of the declared fields are there."""
    fields = sum(len(entry.steps) for entry in proposal.entries)
    return proposal.scored / len(proposal.entries) + fields / (100 * len(proposal.entries))


def is_bundle(data: bytes) -> bool:
    """Whether the data are a judge bundle, of scores or of comparisons, which is read without a dialect."""
    try:
        document = spec.parse(data, max_depth=MAX_DEPTH)
    except spec.NotStrictJson:
        return False
    return type(document) is dict and any(type(document.get(key)) is list for key in _BUNDLE_LISTS)


def draft(data: bytes) -> dict[str, Any] | None:
    """A dialect to be completed by hand, from names and values of the first rows; None where there are no rows."""
    for container in _containers(data):
        try:
            reader = open_container(io.BytesIO(data), {"container": [container], "nan": True})
            rows = [row for row in islice(reader.rows(), ROWS) if not row.problem and type(row.value) is dict]
        except UnreadableContainer:
            continue
        if rows:
            return _drafted(container, rows)
    return None


def _containers(data: bytes) -> list[dict[str, Any]]:
    if data[:2] == b"PK":
        return [{"kind": "zip", "members": "*.json"}, {"kind": "zip", "members": "*.jsonl", "each": "jsonl"}]
    if data.lstrip()[:1] == b"[":
        return [{"kind": "json", "rows": "/*"}]
    named = [{"kind": "json", "rows": f"/{name}/*"} for name in _LISTS]
    return [*named, {"kind": "jsonl"}, {"kind": "csv"}]


def _drafted(container: dict[str, Any], rows: list[Row]) -> dict[str, Any]:
    leaves = _leaves(rows[0].value, "")
    scores = {at: value for at, value in leaves.items() if _SCORE.search(_last(at)) and _is_score(value)}
    if not scores:
        scores = dict(islice(((at, value) for at, value in leaves.items() if _is_score(value)), 1))
    items = [at for at in leaves if _ITEM.search(_last(at)) and at not in scores]
    judges = [at for at in leaves if _JUDGE.search(_last(at)) and at not in scores]
    generators = [at for at in leaves if _GENERATOR.search(_last(at)) and at not in (*scores, *judges)]
    fields: dict[str, Any] = {
        "file": {"template": "/".join(f"{{{at}}}" for at in [*items[:1], *generators[:1]]) or "{/id}"},
        "scores": {_last(at) or "score": _declared(at, value) for at, value in scores.items()}
        or {"score": {"at": "/score"}},
    }
    if judges:
        fields["judge_model"] = {"at": judges[0]}
    if generators:
        fields["generator_model"] = {"at": generators[0]}
    return {"name": "my-dialect", "container": [container], "fields": fields}


def _leaves(value: Any, at: str) -> dict[str, Any]:
    if type(value) is not dict:
        return {at: value} if not isinstance(value, list) else {}
    return {
        pointer: leaf
        for key, inner in value.items()
        if not set("{}") & set(key)
        for pointer, leaf in _leaves(inner, f"{at}/{escape(key)}").items()
    }


def _last(pointer: str) -> str:
    return pointer.rpartition("/")[2]


def _is_score(value: Any) -> bool:
    return type(value) in (Number, bool) or (type(value) is str and bool(readable_by(value)))


def _declared(at: str, value: Any) -> dict[str, Any]:
    if type(value) is bool:
        return {"at": at, "booleans": True}
    return {"at": at} if type(value) is Number else {"at": at, "number": readable_by(value)[:1]}


def dialect_text(document: dict[str, Any]) -> str:
    """A dialect as it is to be saved."""
    return json.dumps(document, indent=2)
