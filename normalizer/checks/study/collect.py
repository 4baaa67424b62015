"""Read the records of all ledgers of a study, reduced to the fields that findings need."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from normalizer.errors import CannotRun
from normalizer.ledger.reader import Ledger, is_ledger, reading

ITEM_FACTORS = ("question_id", "item", "sample_id", "session_id", "doc_id", "question", "test_case", "test")
"""Factors that name the item an answer is for, the first that a record has."""
METRIC_FACTORS = (
    "metric",
    "scorer",
    "value",
    "filter",
    "assessment",
    "score_name",
    "evaluation",
    "assertion_number",
    "turn",
    "epoch",
    "repeat",
)
"""Factors that distinguish several scores of one answer."""
_SPELLINGS = ("number ", "label", "boolean")


class StudyRecord(NamedTuple):
    """One record."""

    ledger: Path
    record_id: str
    bundle: str
    place: str
    """Its place in the file, in words."""
    item: str
    part: str
    """Distinguishes several scores of one answer."""
    judge: str | None
    generator: str | None
    codes: tuple[str, ...]
    answer: str | None
    """SHA-256 of the evaluated text or file, if known."""
    text: str | None
    """SHA-256 of the row's text, on the first record of a row."""
    spellings: tuple[tuple[str, str], ...]
    """Dimensions and the notation of their scores."""
    scored: bool
    replied: bool
    """Whether it has the judge's reply, notes or evidence."""


def ledgers(folder: Path) -> list[Path]:
    """Return the ledgers below a folder, or the folder itself, sorted."""
    if not folder.is_dir():
        raise CannotRun(f"{folder} is not a folder: give one with ledgers below it")
    found = [folder] if is_ledger(folder) else []
    found += sorted(path for path in folder.rglob("*") if path.is_dir() and is_ledger(path))
    if not found:
        raise CannotRun(f"no ledger is below {folder}: `normalizer normalize FILE... --out {folder}/NAME` makes one")
    return found


def rows(folder: Path) -> Iterator[StudyRecord]:
    """Yield the records of all ledgers."""
    for path in ledgers(folder):
        with reading(path) as ledger:
            hashes = _list_files(ledger)
            for kind in ("records", "invalid"):
                for record in ledger.items(kind):
                    yield _row(path.relative_to(folder), record, hashes)


def _list_files(ledger: Ledger) -> dict[tuple[str, str], str]:
    """SHA-256 of evaluated files by bundle and file, as manifests state them."""
    found = {}
    for header in ledger.items("headers"):
        digest = header["settings"].get("manifest")
        for file in ledger.document(digest)["files"] if digest else ():
            if "sha256" in file:
                found[header["bundle_sha256"], file["file"]] = file["sha256"]
    return found


def _row(ledger: Path, record: dict[str, Any], hashes: dict[tuple[str, str], str]) -> StudyRecord:
    source = record["source"]
    compares = "scores" not in record and "item" in record
    about = _describe_comparison(record) if compares else _describe_scores(record, hashes)
    return StudyRecord(
        ledger=ledger,
        record_id=record["record_id"],
        bundle=source["bundle_sha256"],
        place=source.get("member") or (f"line {source['line']}" if "line" in source else source["pointer"]),
        codes=tuple(reason["code"] for reason in record.get("reasons", [])),
        text=hashlib.sha256(source["text"].encode()).hexdigest() if "text" in source else None,
        replied=bool(record.get("notes") or record.get("evidence")),
        **about,
    )


def _describe_scores(record: dict[str, Any], hashes: dict[tuple[str, str], str]) -> dict[str, Any]:
    source, factors, scores = record["source"], record.get("factors"), record.get("scores")
    factors = factors if isinstance(factors, dict) else {}
    file = _text(record.get("artifact")) or _text(record.get("file")) or ""
    listed = hashes.get((source["bundle_sha256"], _text(record.get("file")) or ""))
    return {
        "item": next((str(factors[name]) for name in ITEM_FACTORS if name in factors), file),
        "part": "/".join(f"{name}={factors[name]}" for name in METRIC_FACTORS if name in factors),
        "judge": _text(record.get("judge_model")),
        "generator": _text(record.get("generator_model")),
        "answer": source.get("answer_sha256", listed),
        "spellings": _spellings(source, scores if isinstance(scores, dict) else {}),
        "scored": isinstance(scores, dict) and bool(scores),
    }


def _describe_comparison(record: dict[str, Any]) -> dict[str, Any]:
    """Return what is known of a comparison. Its generator is the pair, in the order of the names."""
    sides = {**record, **record.get("outcome", {})}
    pair = [name for side in ("a", "b") if (name := _text(sides.get(side)))]
    parts = ((name, record[name]) for name in ("order", "criterion", "repeat") if name in record)
    return {
        "item": _text(record["item"]) or "",
        "part": "/".join(f"{name}={value}" for name, value in parts),
        "judge": _text(record.get("judge")),
        "generator": " and ".join(sorted(pair)) if len(pair) == 2 else None,
        "answer": None,
        "spellings": (),
        "scored": "verdict" in record,
    }


def _spellings(source: dict[str, Any], scores: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the notation of each score: a JSON number, or the pattern, label or boolean it was read from."""
    steps = {step.get("put"): step.get("as", "") for step in source.get("dialect", {}).get("steps", [])}
    found = []
    for name in scores:
        how = str(steps.get(f"/scores/{name}", "")).partition(" round ")[0]
        found.append((name, how if how.startswith(_SPELLINGS) else "number"))
    return tuple(found)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
