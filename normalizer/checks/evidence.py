"""Verify every quotation of a ledger. Makes `evidence_report.json`."""

import hashlib
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from normalizer.batch.intake import ProgressCallback
from normalizer.checks.artifact_text import NoText, Text, text_of
from normalizer.documents.artifacts import content
from normalizer.documents.settings import manifest_of
from normalizer.errors import CannotRun
from normalizer.ledger.open_ledgers import Check, check_conserved, ordinary_metadata
from normalizer.ledger.reader import Ledger, reading

VERDICTS = ("exact", "folded", "elided", "other_artifact", "absent", "empty", "not_checked")
GOOD = ("exact", "folded", "elided")

How = Literal["exact", "folded", "elided"]

_ELLIPSIS = re.compile(r"\[\s*(?:\.{3,}|…)\s*\]|\(\s*(?:\.{3,}|…)\s*\)|\.{3,}|…")
_OPENING = "\"'`\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u2039"
_CLOSING = "\"'`\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00bb\u203a"


def is_empty(quote: str) -> bool:
    """Whether a quotation has nothing but white space and punctuation."""
    return not any(char.isalnum() for char in quote)


def find_quote(quote: str, text: Text) -> How | None:
    """Return the strictest way in which the text contains the quotation; None if it does not."""
    if quote in text.exact:
        return "exact"
    if any(spelling in reading for spelling in _spellings(quote, text) for reading in text.readings):
        return "folded"
    parts = [text.fold(part) for part in _ELLIPSIS.split(_bare(quote))]
    parts = [part for part in parts if not is_empty(part)]
    if parts and _ELLIPSIS.search(quote) and any(_in_order(parts, reading) for reading in text.readings):
        return "elided"
    return None


def _spellings(quote: str, text: Text) -> set[str]:
    return {text.fold(quote), text.fold(_bare(quote))} - {""}


def _bare(quote: str) -> str:
    """Remove the quotation marks that a judge put around a quotation."""
    within = quote.strip()
    begun = within.lstrip(_OPENING)
    ended = begun.rstrip(_CLOSING)
    return ended if len(ended) < len(begun) < len(within) else quote


def _in_order(parts: list[str], reading: str) -> bool:
    at = 0
    for part in parts:
        found = reading.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


@dataclass(frozen=True)
class Evaluated:
    """One file: its name, its expected path and hash."""

    artifact: str
    path: str
    expected: str | None
    folder: Path

    @cached_property
    def bytes(self) -> bytes | None:
        """Its bytes; None if there is no such file below the folder."""
        try:
            return content(self.folder, self.path)
        except CannotRun:
            return None

    @cached_property
    def sha256(self) -> str | None:
        """SHA-256 of the file that was found; None if there is none."""
        return None if self.bytes is None else hashlib.sha256(self.bytes).hexdigest()

    @cached_property
    def text(self) -> Text | None:
        """Its text; None if it is not the file that was evaluated or has no text."""
        if self.bytes is None or (self.expected is not None and self.sha256 != self.expected):
            return None
        try:
            return text_of(self.bytes, self.path)
        except NoText:
            return None

    @cached_property
    def state(self) -> str:
        """Its state for the report."""
        if self.bytes is None:
            return "missing"
        if self.expected is not None and self.sha256 != self.expected:
            return "mismatch"
        if self.text is None:
            return "unreadable"
        return "unhashed" if self.expected is None else "checked"


class Files:
    """All files that records or manifests of a ledger name. Each is read once, and lookups are kept: judges often quote
    the same sentence."""

    def __init__(self, ledger: Ledger, folder: Path) -> None:
        self._folder = folder
        self._found: dict[tuple[str, int], str | None] = {}
        self._listed: dict[str, dict[str, dict[str, Any]]] = {}
        self.known: dict[tuple[str, str, str], Evaluated] = {}
        manifests: dict[str, dict[str, dict[str, Any]]] = {}
        for kind in ("headers", "audit"):
            for item in ledger.items(kind):
                digest = item["settings"].get("manifest")
                if digest is None:
                    continue
                if digest not in manifests:
                    files = manifest_of(ordinary_metadata(ledger.document(digest))).files
                    manifests[digest] = files
                    for file in files.values():
                        self._add(file)
                self._listed[item["bundle_sha256"]] = manifests[digest]

    def of(self, record: dict[str, Any]) -> Evaluated | None:
        """Return the file of a record: as its manifest lists it, otherwise at the path that the record names."""
        name = record.get("file")
        if not isinstance(name, str) or not name:
            return None
        listed = self._listed.get(record["source"]["bundle_sha256"])
        if listed is None:
            return self._add({"file": name})
        return self._add(listed[name]) if name in listed else None

    def _add(self, file: dict[str, Any]) -> Evaluated:
        path, expected = file.get("path", file["file"]), file.get("sha256")
        artifact = file.get("artifact", file["file"])
        key = (artifact, path, expected or "")
        if key not in self.known:
            self.known[key] = Evaluated(artifact, path, expected, self._folder)
        return self.known[key]

    def list_sorted(self) -> list[Evaluated]:
        """Return all files known so far."""
        return [file for _, file in sorted(self.known.items())]

    def find(self, quote: str, file: Evaluated) -> str | None:
        """Return how a file has a quotation; None if it does not, or has no text."""
        if file.text is None:
            return None
        key = (quote, id(file))
        if key not in self._found:
            self._found[key] = find_quote(quote, file.text)
        return self._found[key]

    def find_elsewhere(self, quote: str, own: Evaluated) -> list[dict[str, str]]:
        """Return the other artifacts that have a quotation, and how."""
        others = [file for file in self.list_sorted() if file.sha256 != own.sha256]
        ways = {file.artifact: how for file in others if (how := self.find(quote, file))}
        return [{"artifact": artifact, "how": how} for artifact, how in ways.items()]


def verify(
    folder: Path, artifacts: Path, check: Check | None = None, progress: ProgressCallback = lambda *_: None
) -> dict[str, Any]:
    """Check the records of a ledger and verify their evidence in the files below a folder. Return the report."""
    if not artifacts.is_dir():
        raise CannotRun(f"{artifacts} is not a folder: give the one that the manifests' paths start from")
    with reading(folder) as ledger:
        if check is not None:
            check(ledger)
        return verify_opened(ledger, artifacts, progress)


def verify_opened(ledger: Ledger, artifacts: Path, progress: ProgressCallback = lambda *_: None) -> dict[str, Any]:
    """Verify the evidence of an opened ledger in the files below a folder. Return the report."""
    library = Files(ledger, artifacts)
    findings = []
    promised: Counter[str] = Counter()
    for header in ledger.items("headers"):
        promised.update(valid=header["valid"], invalid=header["invalid"])
    there: Counter[str] = Counter()
    for kind, validity in (("records", "valid"), ("invalid", "invalid")):
        for record in ledger.items(kind):
            there[validity] += 1
            progress("records looked up", there.total() - 1, promised.total())
            evidence = record.get("evidence")
            for dimension, quote in evidence.items() if isinstance(evidence, dict) else ():
                if isinstance(quote, str):
                    findings.append(_finding(record, validity, dimension, quote, library))
        check_conserved(validity, there[validity], promised[validity])
    judges: dict[str | None, Counter[str]] = defaultdict(Counter)
    for finding in findings:
        judges[finding["judge_model"]][finding["verdict"]] += 1
    total: Counter[str] = sum(judges.values(), Counter())
    return {
        "records": there.total(),
        "counts": _counts(total),
        "judges": [
            {"judge_model": judge, "counts": _counts(judges[judge])}
            for judge in sorted(judges, key=lambda name: (name is None, name or ""))
        ],
        "artifacts": [
            {name: getattr(file, name) for name in ("artifact", "path", "state", "expected", "sha256")}
            for file in library.list_sorted()
        ],
        "findings": findings,
    }


def is_clean(report: dict[str, Any]) -> bool:
    """Whether every quotation was found and every file has the expected hash."""
    wrong = sum(count for verdict, count in report["counts"].items() if verdict not in GOOD)
    return not wrong and all(file["state"] in ("checked", "unhashed") for file in report["artifacts"])


def _finding(record: dict[str, Any], validity: str, dimension: str, quote: str, library: Files) -> dict[str, Any]:
    judge, artifact = (record.get(name) for name in ("judge_model", "artifact"))
    file = library.of(record)
    elsewhere: list[dict[str, str]] = []
    how = None
    if is_empty(quote):
        verdict = "empty"
    elif file is None or file.text is None:
        verdict = "not_checked"
    else:
        how = library.find(quote, file)
        elsewhere = [] if how else library.find_elsewhere(quote, file)
        verdict = how or ("other_artifact" if elsewhere else "absent")
    why = None if verdict != "not_checked" else "no_file" if file is None else file.state
    return {
        "record_id": record["record_id"],
        "validity": validity,
        "judge_model": judge if isinstance(judge, str) else None,
        "artifact": artifact if isinstance(artifact, str) else None,
        "dimension": dimension,
        "quote": quote,
        "verdict": verdict,
        "found_in": elsewhere,
        "why": why,
    }


def _counts(found: Counter[str]) -> dict[str, int]:
    return {verdict: found[verdict] for verdict in VERDICTS}
