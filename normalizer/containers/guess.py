"""Proposes a dialect for a file: which shipped ones read its first rows, or a draft to be completed by hand.

A proposal is for people; no other command uses it.
"""

import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import contract_spec as spec

from normalizer.containers import shipped
from normalizer.containers.mapping import MappedEntry, Mapping
from normalizer.containers.number_text import readable_by
from normalizer.containers.readers.opening import open_container
from normalizer.containers.readers.rows import MAX_ROW_BYTES, Row, UnreadableContainer
from normalizer.documents.lossless import Number
from normalizer.documents.pointers import escape
from normalizer.documents.rubric import rubric_of
from normalizer.documents.settings import checked_dialect

ROWS = 20
"""Rows that are looked at."""
_SCORE = re.compile(r"score|rating|grade|verdict|mark|points|value|preference|correct", re.IGNORECASE)
_ITEM = re.compile(r"(^|_)(id|uid|key|item|file|question|sample|doc)($|_)|_id$|Id$", re.IGNORECASE)
_JUDGE = re.compile(r"judge|grader|annotator|evaluator", re.IGNORECASE)
_GENERATOR = re.compile(r"model|generator|system|provider", re.IGNORECASE)
_COMMON = ("file", "scores")
_VERDICTS = ("a", "b", "draw", "both_bad")
_MAX_LISTS = 20
"""Lists of a document that are tried."""
_DEPTH = 3
"""How deep lists of rows are looked for."""
MAX_DEPTH = 256
_BUNDLE_LISTS = ("per_file_scores", "per_comparison")


class Proposal(NamedTuple):
    """Entries that a dialect makes of the first rows of a file."""

    name: str
    entries: list[MappedEntry]
    scored: int
    """Entries with a file and a score of the dialect's scale, or with an item and a verdict."""
    off_scale: int
    """Entries whose score is none of the dialect's scale."""
    failed: int
    """Entries whose judge gave no verdict, by declaration."""
    unreadable: int
    container: str = ""
    """The value of --container, where the file holds its rows in another way than the dialect says."""


def proposals(stream: BinaryIO) -> list[Proposal]:
    """The shipped dialects that find a file and a score in at least one of the first rows, the best first.

    Where there is none, the same dialects with other containers.
    """
    documents = {name: shipped.given(name) for name in shipped.names()}
    found = [proposal for name, text in documents.items() if (proposal := tried(stream, name, text))]
    if not found:
        found = [
            proposal._replace(container=other)
            for name, text in documents.items()
            for other in _other_containers(stream)
            if (proposal := tried(stream, name, shipped.in_container(text, other)))
        ]
    return sorted(found, key=lambda proposal: (-_weight(proposal), proposal.name, proposal.container))


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
    fits = Counter(_fit_of(entry.value, dialect) for entry in made if _describes(entry))
    failed = sum(any(problem.code == "judge_failed" for problem in entry.problems) for entry in made)
    scored, off_scale = fits["scored"], fits["off scale"]
    return Proposal(name, made, scored, off_scale, failed, unreadable) if scored or off_scale else None


def _describes(entry: MappedEntry) -> bool:
    """Whether more was found than a file and a score, which rows of any tool may have."""
    return any(step.take not in ("", "key") and step.put.split("/")[1] not in _COMMON for step in entry.steps)


def _fit_of(value: dict[str, Any], dialect: dict[str, Any]) -> str:
    """`scored` for an entry that names what was judged and has a score or a verdict; `off scale`; else nothing."""
    if "item" in value:
        verdict = value.get("verdict")
        known = type(verdict) in (dict, Number) or verdict in _VERDICTS
        return "scored" if known else ""
    scores = value.get("scores")
    if not value.get("file") or not scores or not all(type(score) is Number for score in scores.values()):
        return ""
    dimensions = rubric_of(dialect["rubric"]).dimensions if "rubric" in dialect else {}
    on = all(key not in dimensions or dimensions[key].scale.worth(score) is not None for key, score in scores.items())
    return "scored" if on else "off scale"


def _weight(proposal: Proposal) -> float:
    """The share of entries that are scored, half of those off the scale, then how many declared fields are there."""
    fields = sum(len(entry.steps) for entry in proposal.entries)
    found = proposal.scored + proposal.off_scale / 2
    return found / len(proposal.entries) + fields / (100 * len(proposal.entries))


def _other_containers(stream: BinaryIO) -> list[str]:
    """Values of --container that may fit a file."""
    stream.seek(0)
    return ["jsonl", *(f"json:{rows}" for rows in _lists(stream.read(MAX_ROW_BYTES))), "json:", "csv"]


def _lists(data: bytes) -> list[str]:
    """Where a JSON document has objects in a list or an object, as pointers with `*`, the least deep first."""
    try:
        found = sorted(_lists_below(json.loads(data), "", 0))
    except (ValueError, RecursionError):
        return []
    return [pointer for _, pointer in found[:_MAX_LISTS]]


def _lists_below(value: Any, at: str, depth: int) -> Iterator[tuple[int, str]]:
    if not isinstance(value, (dict, list)) or not value or depth > _DEPTH:
        return
    items = value if isinstance(value, list) else list(value.values())
    if all(isinstance(item, dict) for item in items):
        yield depth, f"{at}/*"
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _lists_below(inner, f"{at}/{escape(key)}", depth + 1)


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
    named = [{"kind": "json", "rows": rows} for rows in _lists(data)]
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
