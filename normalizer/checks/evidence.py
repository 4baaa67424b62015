"""Verify every quotation of a ledger. Makes `evidence_report.json`."""

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from normalizer.batch.watched_file import ProgressCallback
from normalizer.checks.evidence_files import Evaluated, Files
from normalizer.checks.quote_match import find_quote, is_empty
from normalizer.errors import CannotRun
from normalizer.ledger.open_ledgers import Check, check_conserved
from normalizer.ledger.reader import Ledger, reading

VERDICTS = ("exact", "folded", "elided", "other_artifact", "absent", "empty", "not_checked")
GOOD = ("exact", "folded", "elided")


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
    library = _Library(Files(ledger, artifacts))
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
            {
                "artifact": file.artifact,
                "path": file.path,
                "state": file.state,
                "expected": file.expected,
                "sha256": file.sha256,
            }
            for file in library.all
        ],
        "findings": findings,
    }


def is_clean(report: dict[str, Any]) -> bool:
    """Whether every quotation was found and every file has the expected hash."""
    wrong = sum(count for verdict, count in report["counts"].items() if verdict not in GOOD)
    return not wrong and all(file["state"] in ("checked", "unhashed") for file in report["artifacts"])


class _Library:
    """The evaluated files and earlier lookups: judges often quote the same sentence."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self._found: dict[tuple[str, int], str | None] = {}

    @property
    def all(self) -> list[Evaluated]:
        return [file for _, file in sorted(self.files.known.items())]

    def find(self, quote: str, file: Evaluated) -> str | None:
        if file.text is None:
            return None
        key = (quote, id(file))
        if key not in self._found:
            self._found[key] = find_quote(quote, file.text)
        return self._found[key]

    def elsewhere(self, quote: str, own: Evaluated) -> list[dict[str, str]]:
        ways = {
            file.artifact: how for file in self.all if file.sha256 != own.sha256 and (how := self.find(quote, file))
        }
        return [{"artifact": artifact, "how": how} for artifact, how in ways.items()]


def _finding(record: dict[str, Any], validity: str, dimension: str, quote: str, library: _Library) -> dict[str, Any]:
    judge, artifact = (record.get(name) for name in ("judge_model", "artifact"))
    file = library.files.of(record)
    elsewhere: list[dict[str, str]] = []
    how = None
    if is_empty(quote):
        verdict = "empty"
    elif file is None or file.text is None:
        verdict = "not_checked"
    else:
        how = library.find(quote, file)
        elsewhere = [] if how else library.elsewhere(quote, file)
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
