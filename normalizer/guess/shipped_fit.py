"""Which of the dialects that come with the program read the first rows of a file."""

import io
import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import contract_spec as spec

from normalizer.containers import shipped
from normalizer.containers.mapping import MappedEntry, Mapping
from normalizer.containers.readers.opening import open_container
from normalizer.containers.readers.rows import MAX_ROW_BYTES, UnreadableContainer
from normalizer.documents.lossless import Number, dumps
from normalizer.documents.pointers import escape
from normalizer.documents.rubric import rubric_of
from normalizer.documents.settings import check_dialect
from normalizer.guess.roles import NO_GENERATOR, NO_JUDGE

ROWS = 20
"""Rows that are looked at."""
_COMMON = ("file", "scores")
_VERDICTS = ("a", "b", "draw", "both_bad")
_MAX_LISTS = 20
"""Lists of a document that are tried."""
_DEPTH = 3
"""How deep lists of rows are looked for."""
MAX_DEPTH = 64
_LINES = 200
_MEMBERS = 60
"""Members of an object that are looked at."""
_BUNDLE_LISTS = ("per_file_scores", "per_comparison")


_STATED = {"judge": "judge_model", "b": "baseline"}
"""Fields of a comparison, and what states them where rows lack them."""
_UNNAMED = {"judge_model": NO_JUDGE, "generator_model": NO_GENERATOR, "baseline": "unnamed-baseline"}


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


def best(stream: BinaryIO) -> Proposal | None:
    """Return the shipped dialect that reads most of the first rows on its own scale, if there is one."""
    found = proposals(stream)
    if not found or found[0].off_scale or 2 * (found[0].scored + found[0].failed) < len(found[0].entries):
        return None
    return found[0]


def list_lacking(best: Proposal) -> dict[str, str]:
    """Run metadata that a shipped dialect needs and that the file does not have, with names to be replaced."""
    known = {name for entry in best.entries for name in entry.metadata}
    known |= {name for key, name in _STATED.items() if any(key in entry.value for entry in best.entries)}
    needed = shipped.dialect_named(best.name).get("needs", [])
    return {name: _UNNAMED[name] for name in needed if name not in known}


def proposals(stream: BinaryIO) -> list[Proposal]:
    """The shipped dialects that find a file and a score in at least one of the first rows, the best first.

    Where there is none, the same dialects with other containers.
    """
    stream = _beginning(stream)
    documents = {name: shipped.read_dialect(name) for name in shipped.names()}
    found = [proposal for name, text in documents.items() if (proposal := try_dialect(stream, name, text))]
    if not found:
        others = _other_containers(stream)
        found = [
            proposal._replace(container=other)
            for name, text in documents.items()
            for other in others
            if (proposal := try_dialect(stream, name, shipped.in_container(text, other)))
        ]
    return sorted(found, key=lambda proposal: (-_weight(proposal), proposal.name, proposal.container))


def _beginning(stream: BinaryIO) -> BinaryIO:
    """Return the file with only the first of its lines, items and members, so that each dialect is tried quickly."""
    stream.seek(0)
    data = stream.read(MAX_ROW_BYTES)
    if data.startswith(b"PK"):
        return stream
    try:
        document = json.loads(data, parse_int=Number, parse_float=Number, parse_constant=str)
    except (ValueError, RecursionError):
        return io.BytesIO(b"\n".join(data.split(b"\n", _LINES)[:_LINES]) + b"\n")
    return io.BytesIO(dumps(_shorten(document, 0)).encode())


def _shorten(value: Any, depth: int) -> Any:
    if type(value) is dict:
        some = islice(value.items(), _MEMBERS if depth < MAX_DEPTH else 0)
        return {key: _shorten(inner, depth + 1) for key, inner in some}
    if type(value) is list:
        return [_shorten(inner, depth + 1) for inner in value[: ROWS if depth < MAX_DEPTH else 0]]
    return value


def try_dialect(stream: BinaryIO, name: str, document: bytes) -> Proposal | None:
    """Read the first rows with a dialect; return None if it finds no score in them."""
    dialect = check_dialect(document)
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
