"""Write records again with their scores as exact decimals, for engines that would not read them exactly.

Engines read JSON numbers as doubles. That is exact for nearly every scale; for the others, and for diagnostic records
that may be off their scale, the lines are read losslessly here and written with scores as strings.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from normalizer.aggregate.keys import level_in
from normalizer.aggregate.parsed_lines import ID, MEMBERS
from normalizer.documents.lossless import dumps
from normalizer.documents.rubric import Rubric
from normalizer.ledger.open_ledgers import OpenLedger


def restate_scores(parts: list[OpenLedger], rubric: Rubric, path: Path) -> Path:
    """Write the records of all ledgers. A record off the scale gets no scores."""
    with path.open("w", encoding="ascii") as out:
        for part in parts:
            for line in part.ledger.iterate_checked_lines("records"):
                record = part.ledger.exact("records", line)
                if record["source"]["bundle_sha256"] in part.skip:
                    continue
                out.write(line_of(record, scores_of(record, rubric)))
    return path


def scores_of(record: dict[str, Any], rubric: Rubric) -> dict[str, str] | None:
    """Return the value of each score as decimal text; None if a score is not on the scale."""
    scores = record["scores"] if isinstance(record.get("scores"), dict) else {}
    if record["rubric"] != rubric.name:
        return None
    worths = {key: dimension.scale.worth(scores.get(key)) for key, dimension in rubric.dimensions.items()}
    if scores.keys() - rubric.aside != worths.keys():
        return None
    known = {key: f"{worth:f}" for key, worth in worths.items() if worth is not None}
    return known if len(known) == len(worths) else None


def line_of(record: dict[str, Any], worths: dict[str, str] | None) -> str:
    """Return a line with the members that an engine reads."""
    kept = {name: record[name] for name in (ID, *MEMBERS, "factors") if name in record}
    source = _place(record)
    return dumps({**kept, "source": source, "scores": worths or {}}) + "\n"


def _place(record: dict[str, Any]) -> dict[str, Any]:
    return {name: record["source"][name] for name in ("bundle_sha256", "line") if name in record["source"]}


def write_lines(lines: Iterable[str], path: Path) -> Path:
    """Write lines to a file."""
    with path.open("w", encoding="ascii") as out:
        out.writelines(lines)
    return path


def at_end(records: Iterable[dict[str, Any]], rubric: Rubric, end: str, *, worths: bool) -> Iterator[str]:
    """Return lines of INVALID records with all scores at one end of their scales, for bounds. Members of the wrong
    type are left out."""
    scores = {}
    for key, dimension in rubric.dimensions.items():
        value = dimension.scale.minimum if end == "minimum" else dimension.scale.maximum
        labels = dimension.scale.labels or {}
        named = [label for label, worth in labels.items() if worth == value]
        scores[key] = named[0] if named and not worths else f"{value:f}"
    for record in records:
        members: dict[str, Any] = {name: record[name] for name in MEMBERS if isinstance(record.get(name), str)}
        factors = record.get("factors")
        members["factors"] = {
            name: level for name, level in (factors.items() if isinstance(factors, dict) else ()) if type(level) is str
        }
        members["phase"] = level_in(record, "phase") or 0
        members["self_judged"] = record.get("self_judged") is True
        members["source"] = _place(record)
        members.setdefault("artifact", record["record_id"])
        members.setdefault("rubric", rubric.name)
        yield dumps({**members, "scores": scores}) + "\n"
