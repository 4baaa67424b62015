"""Count the content of a ledger; check its digests, its balance, and its lines against the raw bundles."""

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from fractions import Fraction
from itertools import groupby
from typing import Any, NamedTuple

import contract_spec as spec

from normalizer.batch.intake import ProgressCallback
from normalizer.checks.reverify import Verified, mismatch_in_words, reverify
from normalizer.documents import lossless, protocol
from normalizer.documents.exact import round_exact
from normalizer.ledger.commit_tree import changes
from normalizer.ledger.line_format import MAX_DEPTH, SCHEMAS, VERDICTS, has_own_id, index_of, sha_slice, starts_well
from normalizer.ledger.reader import Ledger
from normalizer.regular_files import regular_bytes

_SHOWN = 20
"""Problems reported in full; further ones are only counted."""


def audit(
    ledger: Ledger, jobs: int = 1, progress: ProgressCallback = lambda *_: None, *, verify: bool = True
) -> dict[str, Any]:
    """Check a ledger that was opened with `checked=False`; returns a document of `audit_report.json`.

    With `verify` false no raw bundle is normalized again, and `verified.not_compared` says so.
    """
    tally = _Tally()
    wait: Callable[[], Verified]
    changed = changes(ledger.folder)
    for change in changed:
        tally.problem(change)
    if not verify:
        wait = Verified
        _balance(ledger, tally, progress)
    elif jobs > 1:
        wait = _meanwhile(lambda: reverify(ledger, jobs, progress))
        _balance(ledger, tally, lambda *_: None)
    else:
        wait = lambda: reverify(ledger, progress=progress)  # noqa: E731 - the other branch makes it elsewhere
        _balance(ledger, tally, progress)
    verified = wait()
    for finding in verified.findings:
        tally.problem(mismatch_in_words(ledger, finding))
    tally.more += verified.more
    rules = spec.resource("rules/reasons.json")
    return {
        "counts": {key: tally.counts[key] for key in ("bundles", "audited", "entries", "valid", "invalid")},
        "problems": tally.tell(),
        "digests": "differ" if changed else "match",
        "verified": {
            "bundles": verified.bundles,
            "not_verifiable": _protocols(verified.other_protocols),
            **({} if verify else {"not_compared": tally.counts["bundles"] + tally.counts["audited"]}),
        },
        "eligibility": {key: tally.eligibility[key] for key in ("eligible", "diagnostic", "self_judged")},
        "reasons": [
            {"code": code, "clause": rules[code]["clause"], "records": blamed, "bundles": unblamed}
            for code in rules
            if (blamed := tally.blamed[code]) + (unblamed := tally.unblamed[code])
        ],
        "judges": _table(tally, "judge_model"),
        "generators": _table(tally, "generator_model"),
        "phases": _table(tally, "phase"),
        "protocols": _protocols(tally.protocols),
    }


def _meanwhile(work: Callable[[], Verified]) -> Callable[[], Verified]:
    """Start work in other processes; returns a function that waits for the outcome."""
    outcome: Future[Verified] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:  # raised again by the caller that waits
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return outcome.result


class _Facts(NamedTuple):
    """The facts of a record that are counted."""

    verdict: str
    judge_model: str | None = None
    generator_model: str | None = None
    phase: int | None = None
    eligibility: str | None = None
    """Whether a VALID record may be aggregated; None for an INVALID one."""


class _Tally:
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.eligibility: Counter[str] = Counter()
        self.blamed: Counter[str] = Counter()
        self.unblamed: Counter[str] = Counter()
        self.protocols: Counter[str] = Counter()
        self.repeated: Counter[_Facts] = Counter()
        """How many records have the same facts."""
        self.by: Counter[tuple[str, Any, str]] = Counter()
        self.documents: set[str] = set()
        """Rubrics, manifests and dialects already checked, by hash."""
        self._problems: list[str] = []
        self.more = 0

    def problem(self, text: str) -> None:
        if len(self._problems) < _SHOWN:
            self._problems.append(text)
        else:
            self.more += 1

    def count_facts(self) -> None:
        """Add up the tables from the facts of all records."""
        for facts, records in self.repeated.items():
            self.counts[facts.verdict] += records
            if facts.eligibility is not None:
                self.eligibility[facts.eligibility] += records
            for key in ("judge_model", "generator_model", "phase"):
                self.by[key, getattr(facts, key), facts.verdict] += records

    def tell(self) -> list[str]:
        return self._problems + ([f"and {self.more} more"] if self.more else [])


def _balance(ledger: Ledger, tally: _Tally, progress: ProgressCallback) -> None:
    """Read the sorted files side by side. Every record that a header promises must be there, and no other."""
    valid, invalid = _Groups(ledger, "records", tally), _Groups(ledger, "invalid", tally)
    kept = len(ledger.raw_bundles())
    seen = 0
    for sha256, group in _group_lines(ledger, "headers", tally):
        for header in _items("headers", group, tally):
            found = {"valid": valid.upto(sha256), "invalid": invalid.upto(sha256)}
            for kind, there in found.items():
                if header[kind] != len(there):
                    said = f"its header says {header[kind]} {kind} records, {len(there)} are there"
                    tally.problem(f"bundle {sha256}: {said}")
            places = sorted(found["valid"] + found["invalid"])
            if len(places) != header["entries"] or places != list(range(len(places))):
                tally.problem(f"bundle {sha256}: not every entry has exactly one record")
            if header["entries"] != header["valid"] + header["invalid"]:
                tally.problem(f"bundle {sha256}: {header['entries']} entries are not its valid + invalid")
            tally.counts.update(bundles=1, entries=header["entries"])
            _bundle(ledger, header, tally)
            seen += 1
            progress("bundles counted", seen, kept)
    valid.rest()
    invalid.rest()
    tally.count_facts()
    for _, group in _group_lines(ledger, "audit", tally):
        for item in _items("audit", group, tally):
            tally.counts.update(audited=1)
            _bundle(ledger, item, tally)
            seen += 1
    if kept != seen:
        tally.problem(f"{kept} raw bundles are kept, but {seen} are accounted for")


def _items(kind: str, group: Iterator[bytes], tally: _Tally) -> Iterator[dict[str, Any]]:
    """Yield the lines that fit their schema."""
    for line in group:
        try:
            plain = lossless.to_builtin(lossless.parse(line, MAX_DEPTH))
            wrong = all(spec.violations(schema, plain) for schema in SCHEMAS[kind])
        except spec.NotStrictJson:
            wrong = True
        if wrong:
            tally.problem(f"{kind}.jsonl has a line that is not one of ours: was it edited?")
        else:
            yield lossless.loads_plain(line)


def _bundle(ledger: Ledger, item: dict[str, Any], tally: _Tally) -> None:
    tally.protocols[item["settings"]["protocol"]] += 1
    tally.unblamed.update({reason["code"] for reason in item["reasons"]})
    for name, digest in item["settings"].items():
        if name != "protocol" and digest not in tally.documents:
            tally.documents.add(digest)
            _document(ledger, name, digest, tally)


def _document(ledger: Ledger, name: str, digest: str, tally: _Tally) -> None:
    try:
        data = regular_bytes(ledger.folder / "settings" / f"{digest}.json", "max_kept_bytes")
    except OSError as error:
        tally.problem(f"{name} {digest}: it cannot be read: {error.strerror}")
        return
    if hashlib.sha256(data[:-1]).hexdigest() != digest or data[-1:] != b"\n":
        tally.problem(f"{name} {digest}: it was changed")


class _Groups:
    """The records of one file, read bundle by bundle and checked on the way."""

    def __init__(self, ledger: Ledger, kind: str, tally: _Tally) -> None:
        self._kind, self._tally = kind, tally
        self._groups = _group_lines(ledger, kind, tally)
        self._tail = b""
        self._facts = _Facts(VERDICTS[kind])
        self._next = next(self._groups, None)

    def upto(self, sha256: str) -> list[int]:
        """Return the indexes of the bundle's entries that have records here. Records before them have no header."""
        while self._next is not None and self._next[0] < sha256:
            self._orphan()
        if self._next is None or self._next[0] != sha256:
            return []
        return self._consume()

    def rest(self) -> None:
        while self._next is not None:
            self._orphan()

    def _orphan(self) -> None:
        sha256 = self._next[0] if self._next else ""
        self._tally.problem(f"bundle {sha256}: {len(self._consume())} lines in {self._kind}.jsonl, but no header")

    def _consume(self) -> list[int]:
        places: list[int] = []
        for line in self._next[1] if self._next else []:
            try:
                places.append(self._record(line))
            except (ValueError, KeyError, TypeError, AttributeError):
                self._tally.problem(f"{self._kind}.jsonl has a line that is not one of ours: was it edited?")
        if places != sorted(places):
            self._tally.problem(f"{self._kind}.jsonl is not sorted within bundle {self._next[0] if self._next else ''}")
        self._next = next(self._groups, None)
        return places

    def _record(self, line: bytes) -> int:
        """Count a record; returns the index of its entry."""
        tally = self._tally
        if not has_own_id(self._kind, line):
            said = "its id is not that of its content: the line was changed"
            tally.problem(f"record {lossless.loads_plain(line)['record_id']}: {said}")
        if self._tail and line.endswith(self._tail) and starts_well(self._kind, line):
            tally.repeated[self._facts] += 1
            return index_of(line)
        record = lossless.loads_plain(line)
        facts = _facts(self._kind, record)
        tally.repeated[facts] += 1
        tally.blamed.update({reason["code"] for reason in record.get("reasons", [])})
        if self._kind == "records":
            self._tail, self._facts = _tail(line), facts
        return int(record["source"]["index"])


def _facts(kind: str, record: dict[str, Any]) -> _Facts:
    names = [record.get(key) for key in ("judge_model", "generator_model")]
    judge, generator = (name if isinstance(name, str) else None for name in names)
    phase = record["phase"]
    numeric = isinstance(phase, (int, float)) and not isinstance(phase, bool) and phase in (0, 1, 2)
    eligibility = protocol.eligibility(record) if kind == "records" else None
    return _Facts(VERDICTS[kind], judge, generator, int(phase) if numeric else None, eligibility)


def _tail(line: bytes) -> bytes:
    """The end of a VALID record's line that holds everything `_facts` looks at; empty if that is not certain.

    Records of a run end alike, and need not be parsed again. The end must be complete members of the record itself,
    and not of an object in it, which the parser tells. A comparison has more that counts, before its end.
    """
    tail = line[line.rfind(b',"judge_model":') :]
    try:
        members = lossless.loads_plain(b"{" + tail[1:])
    except ValueError:
        return b""
    return tail if {"judge_model", "generator_model", "phase"} <= members.keys() else b""


def _group_lines(ledger: Ledger, kind: str, tally: _Tally) -> Iterator[tuple[str, Iterator[bytes]]]:
    where = sha_slice(kind)
    last = ""
    for key, group in groupby(ledger.lines(kind), lambda line: line[where]):
        sha256 = key.decode("ascii", "replace")
        if sha256 <= last:
            tally.problem(f"{kind}.jsonl is not sorted at bundle {sha256}")
        last = sha256
        yield sha256, group


def _protocols(counts: Counter[str]) -> list[dict[str, Any]]:
    return [{"protocol": name, "bundles": count} for name, count in sorted(counts.items())]


def _table(tally: _Tally, key: str) -> list[dict[str, Any]]:
    rows = []
    for name in sorted({name for by, name, _ in tally.by if by == key}, key=lambda name: (name is None, str(name))):
        valid, invalid = (tally.by[key, name, verdict] for verdict in ("valid", "invalid"))
        counts = {"valid": valid, "invalid": invalid}
        rows.append({key: name, **counts, "invalid_rate": round_exact(Fraction(invalid, valid + invalid))})
    return rows
