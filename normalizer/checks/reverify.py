"""Normalize the kept bundles of a ledger again, and compare the outcome with its lines, byte by byte.

A record can be forged so that its id, its header's counts and every hash agree; it still is not what the raw bundle
gives under the settings that the ledger keeps. The files are cut into spans by hash, so that several processes can
share the work and memory holds one bundle at a time. A bundle that another protocol version normalized cannot be
compared, and is counted as not verifiable.
"""

import gc
import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from normalizer.batch.intake import ProgressCallback
from normalizer.batch.workers import WorkerPool, outcome_of
from normalizer.checks.joined_files import JoinedFiles
from normalizer.documents import protocol
from normalizer.documents.settings import Settings
from normalizer.errors import CannotRun, UnusableLedger
from normalizer.ledger.buckets import raw_place
from normalizer.ledger.content_check import documents_named, settings_named
from normalizer.ledger.line_format import FILES, SHA256, settings_in, sha_slice
from normalizer.ledger.open_ledgers import check_records
from normalizer.ledger.reader import Ledger
from normalizer.screening.pipeline import BundleOutcome, PartFiles

_BUCKETS = 64
_SCRATCH = "again"
_A_WORKER = 16 << 20
"""Bytes of lines that are worth the start of a worker process."""
_SHOWN = 20
"""Findings reported in full for a slice; further ones are only counted."""


class BundleMismatch(NamedTuple):
    """A bundle whose lines are not what its raw bytes give, or that cannot be normalized again."""

    sha256: str
    why: str
    kind: str = ""
    """The file whose line differs, if one does."""
    offset: int = 0
    """Where in the files of its kind the line begins."""


@dataclass(slots=True)
class Verified:
    """Outcome of the comparison for some bundles."""

    bundles: int = 0
    other_protocols: Counter[str] = field(default_factory=Counter)
    """Bundles that cannot be compared, by the protocol version that they were normalized under."""
    findings: list[BundleMismatch] = field(default_factory=list)
    more: int = 0

    def add_finding(self, finding: BundleMismatch) -> None:
        """Keep a finding, or only count it when there are many."""
        if len(self.findings) < _SHOWN:
            self.findings.append(finding)
        else:
            self.more += 1


class LedgerSlice(NamedTuple):
    """Where in the files of each kind the lines of some bundles begin and end."""

    bounds: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Reverifier:
    """Compares the lines of a ledger with its raw bundles."""

    folder: Path

    def do(self, part: LedgerSlice) -> Verified:
        """Compare the bundles of a span."""
        verified = Verified()
        ledger = Ledger(self.folder)
        gc.disable()  # as in `workers`: outcomes have no reference cycles
        try:
            cursors = {
                kind: _Cursor(JoinedFiles(ledger, kind), kind, *bounds)
                for kind, bounds in zip(FILES, part.bounds, strict=True)
            }
            while heads := [cursor.sha256 for cursor in cursors.values() if cursor.line]:
                _compare(ledger, min(heads), cursors, verified)
        except OSError as error:
            raise UnusableLedger(f"cannot read {error.filename or self.folder}: {error.strerror}") from None
        finally:
            gc.enable()
        return verified


def reverify(ledger: Ledger, jobs: int = 1, progress: ProgressCallback = lambda *_: None) -> Verified:
    """Compare every bundle of an open ledger. Findings are sorted by bundle."""
    total = Verified()
    answers: list[Verified] = []
    spans = list(_spans(ledger))
    with WorkerPool(jobs, Reverifier(ledger.folder)) as pool:
        for answer in pool.each(spans):
            answers.append(answer)
            progress("parts of the ledger normalized again", len(answers), len(spans))
    for finding in sorted(finding for answer in answers for finding in answer.findings):
        total.add_finding(finding)
    for answer in answers:
        total.bundles += answer.bundles
        total.other_protocols += answer.other_protocols
        total.more += answer.more
    return total


def jobs_for(ledger: Ledger) -> int:
    """How many worker processes pay: one for every 16 MiB of lines, at most one for each core."""
    size = sum(ledger.size(kind) for kind in FILES)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, 1 + size // _A_WORKER)


def require_verified(ledger: Ledger, sha256: str | None = None, progress: ProgressCallback = lambda *_: None) -> None:
    """Raise UnusableLedger unless every bundle, or the one named, gives exactly the lines of the ledger."""
    if sha256 is None:
        verified = reverify(ledger, jobs_for(ledger), progress)
    else:
        bounds = tuple(JoinedFiles(ledger, kind).bounds(sha256) for kind in FILES)
        verified = Reverifier(ledger.folder).do(LedgerSlice(bounds))
    for finding in verified.findings:
        raise UnusableLedger(f"{ledger.folder} does not verify: {mismatch_in_words(ledger, finding)}")
    named = verified.bundles + sum(verified.other_protocols.values())
    if sha256 is None and (kept := len(ledger.raw_bundles())) != named:
        raise UnusableLedger(f"{ledger.folder} does not verify: it keeps {kept} raw bundles and accounts for {named}")
    for version, bundles in sorted(verified.other_protocols.items()):
        raise UnusableLedger(
            f"{ledger.folder} cannot be verified: {bundles} bundles were normalized under protocol {version}, and this "
            f"program has {protocol.version()}: normalize them again with --replace"
        )


def check_against_bundles(ledger: Ledger, progress: ProgressCallback = lambda *_: None) -> None:
    """Raise UnusableLedger unless the records pass `check_records` and are what the raw bundles give."""
    require_verified(ledger, progress=progress)
    check_records(ledger)


def mismatch_in_words(ledger: Ledger, finding: BundleMismatch) -> str:
    """A finding in words, with bundle and line."""
    if not finding.kind:
        return f"bundle {finding.sha256}: {finding.why}"
    name, line = JoinedFiles(ledger, finding.kind).place(finding.offset)
    return f"bundle {finding.sha256}: line {line} of {name} {finding.why}"


def _spans(ledger: Ledger) -> Iterator[LedgerSlice]:
    """Cut the files into spans that together cover every byte of them, sorted or not."""
    hashes = [f"{bucket * 256 // _BUCKETS:02x}" for bucket in range(1, _BUCKETS)]
    cuts = [JoinedFiles(ledger, kind).cuts(hashes) for kind in FILES]
    for bounds in zip(*(pairwise(places) for places in cuts), strict=True):
        if any(start < stop for start, stop in bounds):
            yield LedgerSlice(bounds)


class _Cursor:
    """Lines of a part of a file, one after the other."""

    def __init__(self, files: JoinedFiles, kind: str, start: int, stop: int) -> None:
        self.kind = kind
        self._where = sha_slice(kind)
        self._lines = files.lines(start, stop)
        self._stop = stop
        self.offset, self.line, self.sha256 = start, b"", ""
        self.step()

    def step(self) -> None:
        """Read the next line; after the last one `line` is empty."""
        self.offset, self.line = next(self._lines, (self._stop, b""))
        self.sha256 = self.line[self._where].decode("latin-1")

    def of(self, sha256: str) -> Iterator[tuple[int, bytes]]:
        """Yield the next lines of a bundle, each with its offset."""
        while self.line and self.sha256 == sha256:
            yield self.offset, self.line
            self.step()


def _compare(ledger: Ledger, sha256: str, cursors: dict[str, _Cursor], verified: Verified) -> None:
    """Compare the lines of one bundle, and advance past them."""
    difference = None
    with TemporaryDirectory(prefix="normalizer-") as scratch:
        outcome = _again(ledger, sha256, cursors, Path(scratch))
        for kind in FILES:
            end = cursors[kind].offset
            for there, line in zip_longest(cursors[kind].of(sha256), _read_expected(outcome, kind, Path(scratch))):
                end, found = there or (end, b"")
                if difference is None and found != (line or b""):
                    difference = BundleMismatch(sha256, "is not what its raw bytes give", kind, end)
                end += len(found)
    if isinstance(outcome, BundleMismatch):
        verified.add_finding(outcome)
    elif isinstance(outcome, str):
        verified.other_protocols[outcome] += 1
    elif difference is not None:
        verified.add_finding(difference)
    else:
        verified.bundles += 1


def _read_expected(outcome: BundleOutcome | BundleMismatch | str, kind: str, scratch: Path) -> Iterator[bytes]:
    """The lines that a bundle gives for a file: those of a container's rows were written to the scratch folder."""
    if not isinstance(outcome, BundleOutcome):
        return
    written = scratch / f"{_SCRATCH}.{kind}"
    if written.exists():
        with written.open("rb") as file:
            yield from file
    yield from outcome.files()[FILES.index(kind)].encode("ascii").splitlines(keepends=True)


def _again(
    ledger: Ledger, sha256: str, cursors: dict[str, _Cursor], scratch: Path
) -> BundleOutcome | BundleMismatch | str:
    """Normalize a bundle again: its lines, or why there are none, or the other protocol version that made them.

    Records of a container's rows go to files in the scratch folder, so that they need not fit into memory.
    """
    about = next((cursors[kind] for kind in ("headers", "audit") if cursors[kind].sha256 == sha256), None)
    if about is None or not SHA256.fullmatch(sha256):
        first = next(cursor for cursor in cursors.values() if cursor.line and cursor.sha256 == sha256)
        shown = sha256 if SHA256.fullmatch(sha256) else "(none)"
        return BundleMismatch(shown, "is not what its raw bytes give: it has no header", first.kind, first.offset)
    try:
        settings = _settings(ledger.folder, settings_in(about.kind, about.line))
    except (CannotRun, ValueError) as error:
        why = f"names settings that cannot be used: {error}"
        return BundleMismatch(sha256, f"is not what its raw bytes give: it {why}", about.kind, about.offset)
    if isinstance(settings, str):
        return settings
    path = raw_place(ledger.folder, sha256)
    try:
        if path.exists() and not path.is_file():
            return BundleMismatch(sha256, "its raw bytes cannot be read: it is not a file")
        parts = PartFiles(scratch, _SCRATCH)
        outcome = outcome_of(path, settings, parts)
        parts.close()
        if settings.reads_rows or path.stat().st_size > settings.limits["max_bundle_bytes"]:
            with path.open("rb") as file:
                outcome = outcome._replace(sha256=hashlib.file_digest(file, "sha256").hexdigest())
    except OSError as error:
        return BundleMismatch(sha256, f"its raw bytes cannot be read: {error.strerror}")
    return outcome if outcome.sha256 == sha256 else BundleMismatch(sha256, "its raw bytes were changed")


@lru_cache(maxsize=32)
def _settings(folder: Path, text: bytes) -> Settings | str:
    """The settings that a line names, or the protocol version if it is not that of this program."""
    named = documents_named(text)
    if named["protocol"] != protocol.version():
        return named["protocol"]
    return settings_named(folder, named)
