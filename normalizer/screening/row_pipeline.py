"""Turn a container's rows into the lines of a ledger, with one row in memory at a time.

Entries that share a key are all INVALID, which is known only at the end. So keys are collected while lines are written,
and the file is read a second time only if a key occurred twice.
"""

from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, BinaryIO, NamedTuple, Protocol

from normalizer.containers.mapping import MappedEntry, Mapping
from normalizer.containers.readers.opening import open_container
from normalizer.containers.readers.rows import Row, UnreadableContainer
from normalizer.documents.lossless import dumps
from normalizer.documents.settings import Settings
from normalizer.screening.comparisons.rows import RowComparisons
from normalizer.screening.reasons import FirstReasons, Reason, reasons_json
from normalizer.screening.records import LongLines, line
from normalizer.screening.row_records import RowRecords

_DIGEST = 16
_FEW = 1 << 14
"""Keys that are counted without numpy, whose import takes longer."""


class Output(Protocol):
    """Where lines are written. `reset` removes everything that was written after a `mark`."""

    def write(self, kind: str, text: str) -> None:
        """Add lines of that kind: records or invalid."""

    def mark(self) -> Any:
        """The present state."""

    def reset(self, mark: Any) -> None:
        """Go back to a state."""


class RowCounts(NamedTuple):
    """The result of a file's rows with its header line, or why no record can be made."""

    valid: int
    invalid: int
    unreadable: int
    """How many of the INVALID entries are rows that cannot be read."""
    unselected: int
    header: str
    flawed: bool
    first_reasons: list[Reason]
    problem: Reason | None = None


def normalize_rows(stream: BinaryIO, sha256: str, settings: Settings, out: Output) -> RowCounts:
    """Write the records of a container's rows. The stream must be seekable."""
    mark = out.mark()
    copies: dict[bytes, int] = {}
    try:
        work = _Pass(sha256, settings, out, copies)
        counts = work.run(stream)
        copies = repeated(work.keys)
        if copies:
            out.reset(mark)
            stream.seek(0)
            counts = _Pass(sha256, settings, out, copies).run(stream)
    except UnreadableContainer as error:
        out.reset(mark)
        problem = Reason("container_unreadable", "", str(error))
        return RowCounts(0, 0, 0, 0, "", True, [problem], problem)
    if counts.valid + counts.invalid == 0:
        problem = Reason("no_entries", "", "no row of it holds an entry")
        return counts._replace(problem=problem, flawed=True, first_reasons=[problem])
    return counts


class _Pass:
    """One pass over the rows of a file."""

    def __init__(self, sha256: str, settings: Settings, out: Output, copies: dict[bytes, int]) -> None:
        dialect = settings.dialect.rows if settings.dialect is not None else None
        if dialect is None:
            raise TypeError("the settings have no dialect with a container")
        self._dialect, self._sha256, self._settings, self._out = dialect, sha256, settings, out
        self._mapping = Mapping(dialect, settings.joined)
        self._records: RowRecords | RowComparisons
        if dialect.get("kind") == "comparison":
            self._records = RowComparisons(sha256, settings)
        else:
            self._records = RowRecords(sha256, settings, self._mapping.key)
        self._copies = copies
        self.keys = bytearray()
        self._seen: set[str] = set()
        self._first = FirstReasons()
        self._long_lines = LongLines()
        self._left_out = 0
        """Parts of the present row that are no entries."""

    def run(self, stream: BinaryIO) -> RowCounts:
        """Write all lines."""
        reader = open_container(stream, self._dialect)
        valid = invalid = unreadable = unselected = index = 0
        held = ""
        for row in reader.rows():
            self._long_lines.read(len(row.raw) + len(row.gap))
            if not row.problem and not self._mapping.selects(row.value):
                unselected += 1
                held += row.gap + row.raw.decode()
                continue
            before = index
            if held:
                row = row._replace(gap=held + row.gap)
            for body, reasons in self._drafts(row, reader.document, index):
                index += 1
                text = line(body, reasons_json(reasons) if reasons else None)
                if (why := self._long_lines.excess(text)) is not None:
                    raise UnreadableContainer(why)
                if reasons:
                    invalid += 1
                    self._out.write("invalid", text)
                    self._first.add(reasons[0], row.member)
                else:
                    valid += 1
                    self._out.write("records", text)
            unreadable += bool(row.problem)
            unselected += self._left_out
            self._left_out = 0
            held = "" if index > before else row.gap + row.raw.decode()
        unblamed = self._records.listing(self._seen)
        kept = {
            "container": reader.kind,
            "tail": held + reader.tail,
            "unselected": unselected,
            "unreadable": unreadable,
        }
        header = (
            f'{{"bundle_sha256":"{self._sha256}","entries":{index},"valid":{valid},"invalid":{invalid},'
            f'"entries_at":"","settings":{dumps(self._settings.identity)},"header":{dumps(kept)},'
            f'"reasons":{reasons_json(unblamed)}{self._records.mark}}}\n'
        )
        flawed = bool(invalid or unblamed)
        return RowCounts(valid, invalid, unreadable, unselected, header, flawed, self._first.shown())

    def _drafts(self, row: Row, document: Any, index: int) -> Iterator[tuple[str, list[Reason]]]:
        if row.problem:
            yield self._records.unreadable(index, row)
            return
        first = index
        for made in self._mapping.entries(row, document):
            if made is None:
                self._left_out += 1
                continue
            key = self._key(made)
            copies = self._copies.get(key, 1) if self._copies and key is not None else 1
            yield self._records.draft(index, row, made, copies, first=index == first)
            index += 1

    def _key(self, made: MappedEntry) -> bytes | None:
        known = self._records.identity(made)
        if known is None:
            return None
        name, key = known
        if self._settings.manifest is not None:
            self._seen.add(name)
        digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()
        if not self._copies:
            self.keys += digest
        return digest


def repeated(keys: bytearray) -> dict[bytes, int]:
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
