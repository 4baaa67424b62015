"""What a ledger holds, counted in one pass, and whether every byte of it is accounted for."""

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import contract_spec as spec

from normalizer import phases
from normalizer.ledger import Ledger, sha_slice
from normalizer.lossless import ordinary

_ID_AT = slice(len('{"record_id":"'), len('{"record_id":"') + 32)
_BODY_AT = _ID_AT.stop + len('",')
_SHOWN = 20
"""Problems told in full; more are only counted."""


def audit(ledger: Ledger) -> dict[str, Any]:
    """The report: a document of `audit_report.json`."""
    tally = _Tally()
    _balance(ledger, tally)
    rules = spec.resource("rules/reasons.json")
    return {
        "counts": {key: tally.counts[key] for key in ("bundles", "audited", "entries", "valid", "invalid")},
        "problems": tally.told(),
        "eligibility": {key: tally.eligibility[key] for key in ("eligible", "diagnostic", "self_judged")},
        "reasons": [
            {"code": code, "clause": rules[code]["clause"], "records": blamed, "bundles": unblamed}
            for code in rules
            if (blamed := tally.blamed[code]) + (unblamed := tally.unblamed[code])
        ],
        "judges": _table(tally, "judge_model"),
        "generators": _table(tally, "generator_model"),
        "phases": _table(tally, "phase"),
        "protocols": [{"protocol": name, "bundles": count} for name, count in sorted(tally.protocols.items())],
    }


class _Tally:
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.eligibility: Counter[str] = Counter()
        self.blamed: Counter[str] = Counter()
        self.unblamed: Counter[str] = Counter()
        self.protocols: Counter[str] = Counter()
        self.by: Counter[tuple[str, Any, str]] = Counter()
        self._problems: list[str] = []
        self._more = 0

    def problem(self, text: str) -> None:
        if len(self._problems) < _SHOWN:
            self._problems.append(text)
        else:
            self._more += 1

    def told(self) -> list[str]:
        return self._problems + ([f"and {self._more} more"] if self._more else [])


def _balance(ledger: Ledger, tally: _Tally) -> None:
    """Walk the sorted files side by side: what a header promises must be there, and nothing else."""
    valid, invalid = _Groups(ledger, "records", tally), _Groups(ledger, "invalid", tally)
    seen = 0
    for sha256, group in _grouped(ledger, "headers", tally):
        for header in map(ordinary, group):
            found = {"valid": valid.upto(sha256), "invalid": invalid.upto(sha256)}
            for kind, count in found.items():
                if header[kind] != count:
                    tally.problem(f"bundle {sha256}: its header says {header[kind]} {kind} records, {count} are there")
            if header["entries"] != header["valid"] + header["invalid"]:
                tally.problem(f"bundle {sha256}: {header['entries']} entries are not its valid + invalid")
            tally.counts.update(bundles=1, entries=header["entries"])
            _bundle(ledger, sha256, header, tally)
            seen += 1
    valid.rest()
    invalid.rest()
    for sha256, group in _grouped(ledger, "audit", tally):
        for item in map(ordinary, group):
            tally.counts.update(audited=1)
            _bundle(ledger, sha256, item, tally)
            seen += 1
    kept = sum(1 for _ in os.scandir(ledger.folder / "bundles"))
    if kept != seen:
        tally.problem(f"{kept} raw bundles are kept, but {seen} are accounted for")


def _bundle(ledger: Ledger, sha256: str, item: dict[str, Any], tally: _Tally) -> None:
    tally.protocols[item["settings"]["protocol"]] += 1
    tally.unblamed.update({reason["code"] for reason in item["reasons"]})
    try:
        with (ledger.folder / "bundles" / f"{sha256}.json").open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                tally.problem(f"bundle {sha256}: its raw bytes were changed")
    except OSError as error:
        tally.problem(f"bundle {sha256}: its raw bytes cannot be read: {error.strerror}")


class _Groups:
    """The records of one file, taken bundle by bundle, each looked at as it passes."""

    def __init__(self, ledger: Ledger, kind: str, tally: _Tally) -> None:
        self._kind, self._tally = kind, tally
        self._groups = _grouped(ledger, kind, tally)
        self._next = next(self._groups, None)

    def upto(self, sha256: str) -> int:
        """How many records the bundle has; those before it have no header."""
        while self._next is not None and self._next[0] < sha256:
            self._orphan()
        if self._next is None or self._next[0] != sha256:
            return 0
        return self._consume()

    def rest(self) -> None:
        while self._next is not None:
            self._orphan()

    def _orphan(self) -> None:
        sha256 = self._next[0] if self._next else ""
        self._tally.problem(f"bundle {sha256}: {self._consume()} lines in {self._kind}.jsonl, but no header")

    def _consume(self) -> int:
        count = 0
        for line in self._next[1] if self._next else []:
            self._record(line)
            count += 1
        self._next = next(self._groups, None)
        return count

    def _record(self, line: bytes) -> None:
        tally, record = self._tally, ordinary(line)
        body = line[_BODY_AT:-2] if self._kind == "records" else line[_BODY_AT : line.rindex(b',"reasons":[')]
        if hashlib.sha256(body).hexdigest()[:32].encode() != line[_ID_AT]:
            tally.problem(f"record {record['record_id']}: its id is not that of its content: the line was changed")
        verdict = "valid" if self._kind == "records" else "invalid"
        tally.counts[verdict] += 1
        if verdict == "valid":
            tally.eligibility[phases.eligibility(record)] += 1
        for key in ("judge_model", "generator_model"):
            name = record.get(key)
            tally.by[key, name if isinstance(name, str) else None, verdict] += 1
        phase = record["phase"]
        numeric = isinstance(phase, (int, float)) and not isinstance(phase, bool) and phase in (0, 1, 2)
        tally.by["phase", int(phase) if numeric else None, verdict] += 1
        tally.blamed.update({reason["code"] for reason in record.get("reasons", [])})


def _grouped(ledger: Ledger, kind: str, tally: _Tally) -> Iterator[tuple[str, Iterator[bytes]]]:
    where = sha_slice(kind)
    last = ""
    for key, group in groupby(ledger.lines(kind), lambda line: line[where]):
        sha256 = key.decode("ascii", "replace")
        if sha256 <= last:
            tally.problem(f"{kind}.jsonl is not sorted at bundle {sha256}")
        last = sha256
        yield sha256, group


def _table(tally: _Tally, key: str) -> list[dict[str, Any]]:
    names = {name for by, name, _ in tally.by if by == key}
    return [
        {key: name, "valid": tally.by[key, name, "valid"], "invalid": tally.by[key, name, "invalid"]}
        for name in sorted(names, key=lambda name: (name is None, str(name)))
    ]
