"""Turn the bytes of one bundle into the lines of a ledger. A pure function of the bytes and the settings."""

import hashlib
import io
from typing import NamedTuple

from normalizer.documents.lossless import dumps
from normalizer.documents.settings import Settings
from normalizer.ledger.line_format import COMPARISON_MARK
from normalizer.screening.bundle import read
from normalizer.screening.comparisons.records import ComparisonDrafts
from normalizer.screening.comparisons.rules import ComparisonScreen
from normalizer.screening.entry_rules import Screen
from normalizer.screening.reasons import FirstReasons, Reason, reasons_json
from normalizer.screening.records import LongLines, RecordDrafts, line
from normalizer.screening.row_pipeline import Collected, RowCounts, normalize_rows


class BundleOutcome(NamedTuple):
    """The result of one bundle: lines for the files of a ledger, and their counts."""

    sha256: str
    records: str
    invalid: str
    header: str
    audit: str
    valid_count: int
    invalid_count: int
    flawed: bool
    """Whether anything is wrong: an INVALID record, a file without an entry, a bundle that could not be read."""
    reasons: tuple[Reason, ...] = ()
    """The first few reasons, to be shown."""
    unreadable_count: int = 0
    """How many of the INVALID entries are rows that could not be read."""
    unselected_count: int = 0
    """Rows that hold no entry, by declaration."""

    def files(self) -> tuple[str, str, str, str]:
        """The lines for records, invalid, headers and audit."""
        return self.records, self.invalid, self.header, self.audit


def normalize(data: bytes, settings: Settings) -> BundleOutcome:
    """Normalize one bundle."""
    sha256 = hashlib.sha256(data).hexdigest()
    if settings.reads_rows:
        out = Collected()
        outcome = of_rows(sha256, len(data), normalize_rows(io.BytesIO(data), sha256, settings, out), settings)
        return outcome._replace(records="".join(out.lines["records"]), invalid="".join(out.lines["invalid"]))
    bundle = read(data, settings.dialect, settings.limits)  # bytes      -> Bundle
    if isinstance(bundle, Reason):
        return unreadable_bundle(sha256, len(data), bundle, settings)
    kinds = (ComparisonDrafts, ComparisonScreen) if bundle.compares else (RecordDrafts, Screen)
    drafts = kinds[0](bundle, sha256, settings)
    entries = [drafts.entry(raw) for raw in bundle.entries]  # Bundle     -> entries in our terms
    screen = kinds[1](bundle, entries, settings)
    records: list[str] = []
    invalid: list[str] = []
    first = FirstReasons()
    long_lines = LongLines()
    long_lines.read(len(data))
    for index, entry in enumerate(entries):
        metadata = drafts.metadata_of(entry.value)
        body = drafts.body(index, entry, metadata)  # entry      -> draft
        reasons = screen.reasons(index, entry, metadata)  # draft      -> VALID | INVALID
        text = line(body, reasons_json(reasons) if reasons else None)
        if (why := long_lines.excess(text)) is not None:
            return unreadable_bundle(sha256, len(data), Reason("too_large", "", why), settings)
        if reasons:
            invalid.append(text)
            first.add(reasons[0])
        else:
            records.append(text)
    mark = COMPARISON_MARK if bundle.compares else ""
    header = (
        f'{{"bundle_sha256":"{sha256}","entries":{len(entries)},"valid":{len(records)},"invalid":{len(invalid)},'
        f'"entries_at":{dumps(bundle.entries_at)},"settings":{dumps(settings.identity)},'
        f'"header":{dumps(bundle.header)},"reasons":{reasons_json(screen.unblamed)}{mark}}}\n'
    )
    flawed = bool(invalid or screen.unblamed)
    for reason in screen.unblamed:
        first.add(reason)
    return BundleOutcome(
        sha256, "".join(records), "".join(invalid), header, "", len(records), len(invalid), flawed, tuple(first.shown())
    )


def of_rows(sha256: str, size: int, found: RowCounts, settings: Settings) -> BundleOutcome:
    """Return the outcome of a container whose records are already written."""
    if found.problem is not None:
        return unreadable_bundle(sha256, size, found.problem, settings)
    shown = tuple(found.first_reasons)
    return BundleOutcome(
        sha256,
        "",
        "",
        found.header,
        "",
        found.valid,
        found.invalid,
        found.flawed,
        shown,
        found.unreadable,
        found.unselected,
    )


def unreadable_bundle(sha256: str, size: int, reason: Reason, settings: Settings) -> BundleOutcome:
    """Return the outcome of a bundle from which no record can be made."""
    audit = (
        f'{{"bundle_sha256":"{sha256}","bytes":{size},"settings":{dumps(settings.identity)},'
        f'"reasons":{reasons_json([reason])}}}\n'
    )
    return BundleOutcome(sha256, "", "", "", audit, 0, 0, True, (reason,))
