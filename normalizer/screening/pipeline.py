"""Turn one file, a bundle or the rows of another tool, into the lines of a ledger: container, drafts, reasons, records.

A pure function of the bytes and the settings. Entries that share a key are all INVALID, which is known only at the end.
So keys are collected while lines are written, and the file is read a second time only if a key occurred twice.
"""

import hashlib
import io
from collections import Counter
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

from normalizer.containers.readers.rows import UnreadableContainer
from normalizer.documents.lossless import dumps
from normalizer.documents.settings import Settings
from normalizer.ledger.line_format import FILES
from normalizer.regular_files import READING_LIMITS
from normalizer.screening.bundle import read, too_large
from normalizer.screening.bundle_entries import BundleEntries
from normalizer.screening.reasons import FirstReasons, Reason, reasons_json
from normalizer.screening.row_entries import RowEntries

_DIGEST = 16
_FEW = 1 << 14
"""Keys that are counted without numpy, whose import takes longer."""
_USUAL = READING_LIMITS["usual_line_bytes"]
_MOST_REPEATED = READING_LIMITS["max_repeated"]
_LEAST = READING_LIMITS["max_repeated_least"]


class LongLines:
    """Bounds what long lines of one file take: text that every record repeats would fill the disk.

    A record repeats the metadata of its run. Beyond 4 KiB a line, all lines of a file may take 16 times what was read
    of it, or 16 MiB if that is more.
    """

    def __init__(self) -> None:
        self._long = 0

    def excess(self, line: str, read: int) -> str | None:
        """Add a line that is about to be written; why it is not, if that is too much for the bytes that were read."""
        self._long += max(0, len(line) - _USUAL)
        most = _MOST_REPEATED * max(_LEAST, read)
        if self._long <= most:
            return None
        return f"its records would take more than {most} bytes: what each of them repeats of its run is too long"


class Output(Protocol):
    """Where lines are written. `reset` removes everything that was written after a `mark`."""

    def write(self, kind: str, text: str) -> None:
        """Add lines of that kind: records or invalid."""

    def mark(self) -> Any:
        """The present state."""

    def reset(self, mark: Any) -> None:
        """Go back to a state."""


class BundleOutcome(NamedTuple):
    """The result of one bundle: lines for the files of a ledger, and their counts."""

    sha256: str
    records: str = ""
    invalid: str = ""
    """Empty where they were written elsewhere."""
    header: str = ""
    audit: str = ""
    valid_count: int = 0
    invalid_count: int = 0
    flawed: bool = False
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
    """Normalize a small file, and return its lines."""
    out = Collected()
    sha256 = hashlib.sha256(data).hexdigest()
    outcome = normalize_file(io.BytesIO(data), sha256, len(data), settings, out)
    return outcome._replace(records="".join(out.lines["records"]), invalid="".join(out.lines["invalid"]))


def normalize_file(stream: BinaryIO, sha256: str, size: int, settings: Settings, out: Output) -> BundleOutcome:
    """Write the records of a file, and return its other lines and the counts. The stream must be seekable."""
    if not settings.reads_rows and size > settings.limits["max_bundle_bytes"]:
        # It is not read: it may not fit into memory.
        return _refuse(sha256, size, too_large(size, settings.limits), settings)
    mark = out.mark()
    entries: BundleEntries | RowEntries | None = None
    try:
        copies: dict[bytes, int] = {}
        while True:
            if settings.reads_rows:
                entries = RowEntries(stream, sha256, settings)
            else:
                data = stream.read()
                sha256 = hashlib.sha256(data).hexdigest()  # what is there, whatever the file is called
                bundle = read(data, settings.dialect, settings.limits)
                if isinstance(bundle, Reason):
                    return _refuse(sha256, size, bundle, settings)
                entries = BundleEntries(bundle, size, sha256, settings)
            keys = bytearray()
            outcome = _screen(entries, sha256, settings, out, keys, copies)
            if copies or not (copies := find_repeated(keys)):
                break
            out.reset(mark)
            stream.seek(0)
    except UnreadableContainer as error:
        out.reset(mark)
        code = "container_unreadable" if settings.reads_rows else "too_large"
        return _refuse(sha256, size, Reason(code, "", str(error)), settings)
    if outcome.valid_count + outcome.invalid_count == 0:
        return _refuse(sha256, size, Reason("no_entries", "", "no row of it holds an entry"), settings)
    return outcome


def _screen(
    entries: BundleEntries | RowEntries,
    sha256: str,
    settings: Settings,
    out: Output,
    keys: bytearray,
    copies: dict[bytes, int],
) -> BundleOutcome:
    """Write the lines of all entries. Digests of their keys are added to `keys`."""
    valid = invalid = 0
    names: set[str] = set()
    first, long_lines = FirstReasons(), LongLines()
    for draft in entries.drafts():
        if draft.name is not None and settings.manifest is not None:
            names.add(draft.name)
        count = draft.copies
        if draft.key is not None:
            digest = blake2b(draft.key.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()
            keys += digest
            count = copies.get(digest, 1)
        reasons = entries.reasons(draft, count)
        text = line(draft.body, reasons_json(reasons) if reasons else None)
        if (why := long_lines.excess(text, entries.read)) is not None:
            raise UnreadableContainer(why)
        if reasons:
            invalid += 1
            out.write("invalid", text)
            first.add(reasons[0], draft.member)
        else:
            valid += 1
            out.write("records", text)
    unblamed = entries.kind.list_unmatched(names, entries.entries_at)
    for reason in unblamed:
        first.add(reason)
    header = (
        f'{{"bundle_sha256":"{sha256}","entries":{valid + invalid},"valid":{valid},"invalid":{invalid},'
        f'"entries_at":{dumps(entries.entries_at)},"settings":{dumps(settings.identity)},'
        f'"header":{dumps(entries.header)},"reasons":{reasons_json(unblamed)}{entries.kind.mark}}}\n'
    )
    return BundleOutcome(
        sha256,
        header=header,
        valid_count=valid,
        invalid_count=invalid,
        flawed=bool(invalid or unblamed),
        reasons=tuple(first.list_reasons()),
        unreadable_count=entries.unreadable,
        unselected_count=entries.unselected,
    )


def _refuse(sha256: str, size: int, reason: Reason, settings: Settings) -> BundleOutcome:
    """Return the outcome of a file from which no record can be made."""
    audit = (
        f'{{"bundle_sha256":"{sha256}","bytes":{size},"settings":{dumps(settings.identity)},'
        f'"reasons":{reasons_json([reason])}}}\n'
    )
    return BundleOutcome(sha256, audit=audit, flawed=True, reasons=(reason,))


def line(body: str, reasons: str | None = None) -> str:
    """A record's line: its id is derived from its content, reasons aside."""
    record_id = hashlib.sha256(body.encode()).hexdigest()[:32]
    if reasons is None:
        return f'{{"record_id":"{record_id}",{body}}}\n'
    return f'{{"record_id":"{record_id}",{body},"reasons":{reasons}}}\n'


def find_repeated(keys: bytearray) -> dict[bytes, int]:
    """Return the digests that occur in `keys` more than once, and how often."""
    wanted = None
    if len(keys) > _FEW * _DIGEST:
        import numpy as np  # sorts without an object for every key

        ordered = np.sort(np.frombuffer(bytes(keys), dtype=f"S{_DIGEST}"))
        # numpy drops zeros at the end of such a value
        wanted = {bytes(key).ljust(_DIGEST, b"\0") for key in ordered[1:][ordered[1:] == ordered[:-1]]}
        if not wanted:
            return {}
    each = (bytes(keys[at : at + _DIGEST]) for at in range(0, len(keys), _DIGEST))
    counts = Counter(key for key in each if wanted is None or key in wanted)
    return {key: count for key, count in counts.items() if count > 1}


class Collected:
    """Output kept in memory, for one small file."""

    def __init__(self) -> None:
        self.lines: dict[str, list[str]] = {"records": [], "invalid": []}

    def write(self, kind: str, text: str) -> None:
        """Add lines."""
        self.lines[kind].append(text)

    def mark(self) -> tuple[int, int]:
        """How many there are."""
        return len(self.lines["records"]), len(self.lines["invalid"])

    def reset(self, mark: tuple[int, int]) -> None:
        """Forget those added since."""
        del self.lines["records"][mark[0] :]
        del self.lines["invalid"][mark[1] :]


_BUFFER = 1 << 18
"""Bytes of lines that are written at once."""


class PartFiles:
    """One file for each kind of line, created with its first line."""

    def __init__(self, folder: Path, bucket: str) -> None:
        self._folder, self._bucket = folder, bucket
        self._files: dict[str, BinaryIO] = {}

    def write(self, kind: str, text: str) -> None:
        """Add lines; they are ASCII."""
        if not text:
            return
        file = self._files.get(kind)
        if file is None:
            file = self._files[kind] = (self._folder / f"{self._bucket}.{kind}").open("wb", buffering=_BUFFER)
        file.write(text.encode("ascii"))

    def mark(self) -> dict[str, int]:
        """Return the length of each file."""
        return {kind: file.tell() for kind, file in self._files.items()}

    def reset(self, mark: dict[str, int]) -> None:
        """Cut the files back to these lengths."""
        for kind, file in self._files.items():
            file.seek(mark.get(kind, 0))
            file.truncate()

    def write_all(self, lines: tuple[str, ...]) -> None:
        """Add the lines of every kind, in the order of the ledger's files."""
        for kind, text in zip(FILES, lines, strict=True):
            self.write(kind, text)

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()
