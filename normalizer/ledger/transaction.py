"""Change a ledger in one transaction: everything or nothing.

A run writes all new files to `.staging/`, then a file COMMIT, then moves the files into place. If it is cut before
COMMIT, the ledger is unchanged and the next run starts anew; if it is cut after COMMIT, the next run completes the
moves (see `recovery`). In both cases the final bytes are those of an undisturbed run. Moves need no space, so a full
disk fails before COMMIT.
"""

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from normalizer.documents.settings import Settings
from normalizer.errors import CannotRun, UnusableLedger
from normalizer.ledger.commit_record import NAME, SpanDigester, Spans, bucket_of, encode
from normalizer.ledger.durable import sync, sync_tree
from normalizer.ledger.integrity import Intact, check_bytes
from normalizer.ledger.line_format import FILES, RECORD_FILES, holds_comparisons, promised, sha_slice
from normalizer.ledger.reader import COMMIT, STAGING
from normalizer.ledger.recovery import REPLACED, put_in_place, recover

_BLOCK = 1 << 22

_SETTINGS = {
    "manifest": "another manifest",
    "stated": "other values of --set",
    "rubric": "another rubric",
    "dialect": "another dialect",
    "joined": "another file as --join",
    "limits": "other limits",
    "protocol": "another protocol version",
}
"""The settings that the records of a bundle depend on, and the words for a difference in each."""


class Counts(NamedTuple):
    """How many lines a ledger's files have, and what its headers promise."""

    bundles: int
    unreadable: int
    entries: int
    valid: int
    invalid: int


class Staging:
    """Prepares the next state of a ledger and commits it. The ledger's lock must be held."""

    def __init__(self, folder: Path, settings: Settings, *, replace: bool) -> None:
        self._folder = folder
        self._settings = settings
        self._replace = replace
        self.root = folder / STAGING
        recover(folder)
        self._intact = Intact(folder)
        self.committed = False
        self._spans: Spans = {}

    def begin(self) -> None:
        """Create the folders of `.staging`."""
        for name in ("incoming", "known", "parts", "new", "settings"):
            (self.root / name).mkdir(parents=True)

    def known_are_flawed(self) -> bool:
        """Whether a given bundle that the ledger has already is unreadable or has INVALID records.

        Raises UnusableLedger if it was normalized under other settings.
        """
        flawed = False
        for kind in ("headers", "audit"):
            where = sha_slice(kind)
            is_known = self._among("known")
            for line in self._intact.lines(kind):
                sha256 = line[where].decode()
                if is_known(sha256):
                    item = self._intact.item(kind, line)
                    self._same_settings(sha256, item["settings"])
                    flawed = flawed or bool(item["reasons"]) or item["invalid"] > 0
        return flawed

    def _same_settings(self, sha256: str, before: dict[str, str]) -> None:
        now = self._settings.identity
        differing = [words for name, words in _SETTINGS.items() if before.get(name) != now.get(name)]
        if differing:
            raise UnusableLedger(
                f"bundle {sha256} is in {self._folder} already, normalized with {' and '.join(differing)}: "
                "give --replace to normalize it again, or another folder as --out"
            )

    def buckets(self) -> list[str]:
        """Names of the folders with staged bundles; each is normalized on its own."""
        return sorted(os.listdir(self.root / "incoming"))

    def merge(self) -> Counts:
        """Make the next state of the four files from the present one and the parts; count what is in them.

        Damage is reported here, before anything has changed.
        """
        counted = {kind: self._merge(kind) for kind in FILES}
        entries = valid = invalid = 0
        kinds: set[bool] = set()
        for line in _lines(self.root / "new" / "headers.jsonl"):
            counts = promised(line)
            if counts is None:
                raise CannotRun(f"a header of {self._folder} is not one of ours: was headers.jsonl edited?")
            kinds.add(holds_comparisons(line))
            entries += counts.entries
            valid += counts.valid
            invalid += counts.invalid
        if len(kinds) > 1:
            raise CannotRun(
                f"{self._folder} would hold both single scores and comparisons, which are never mixed: normalize "
                "bundles with per_comparison into a ledger of their own; nothing was changed"
            )
        if (valid, invalid) != (counted["records"], counted["invalid"]) or entries != valid + invalid:
            raise CannotRun(
                f"conservation does not hold: {entries} entries, but {counted['records']} valid and "
                f"{counted['invalid']} invalid records in {self._folder}; nothing was changed"
            )
        self._intact.check(counted["headers"] + counted["audit"], self._settings.documents, self.root)
        return Counts(counted["headers"], counted["audit"], entries, valid, invalid)

    def commit(self) -> None:
        """Move everything into place. All staged files are synced to disk before COMMIT is written."""
        for digest, text in self._settings.documents.items():
            (self.root / "settings" / f"{digest}.json").write_bytes(text.encode("ascii") + b"\n")
        (self.root / "new" / NAME).write_bytes(encode(self._spans))
        marker = self.root / "marker"
        marker.write_bytes(REPLACED if self._replace else b"")
        sync_tree(self.root)
        sync(self._folder)
        marker.rename(self.root / COMMIT)
        self.committed = True
        sync(self.root)
        put_in_place(self._folder)

    def discard(self) -> None:
        """Leave the ledger as it was."""
        shutil.rmtree(self.root, ignore_errors=True)

    def _merge(self, kind: str) -> int:
        """Write the next state of one file, and note its spans; returns how many lines it has."""
        names = [name for name in os.listdir(self.root / "parts") if name.endswith(kind)]
        parts = {name[:2]: self.root / "parts" / name for name in sorted(names)}
        digester = SpanDigester()
        with (self.root / "new" / f"{kind}.jsonl").open("wb") as out:
            for bucket, data in self._next_state(kind, parts, digester):
                if bucket:
                    digester.add(bucket, data)
                out.write(data)
        self._spans[kind] = digester.spans()
        return sum(span.lines for span in self._spans[kind])

    def _next_state(self, kind: str, parts: dict[str, Path], digester: SpanDigester) -> Iterator[tuple[str, bytes]]:
        """The bytes of one file's next state with their bucket, or without one if the digester has their span."""
        if not self._intact.size(kind):
            for bucket, part in parts.items():
                yield from ((bucket, block) for block in _blocks(part))
        elif self._intact.spans is None:
            where = sha_slice(kind)
            for line in self._merged(kind, self._intact.lines(kind), parts.values()):
                yield bucket_of(line[where].decode()), line
        else:
            replaced = set(os.listdir(self.root / "incoming")) if self._replace else set()
            for bucket in sorted({span.bucket for span in self._intact.spans[kind]} | set(parts)):
                blocks = self._intact.blocks(kind, bucket)
                if bucket in parts or bucket in replaced:
                    lines = (line for _, block in blocks for line in BytesIO(block))
                    fresh = [parts[bucket]] if bucket in parts else []
                    yield from ((bucket, line) for line in self._merged(kind, lines, fresh))
                else:
                    for span, block in blocks:
                        self._note(kind, block)
                        digester.keep(span)
                        yield "", block

    def _note(self, kind: str, block: bytes) -> None:
        """Record what unchanged lines refer to; records refer only to their bundle."""
        if kind not in RECORD_FILES:
            for line in BytesIO(block):
                self._intact.keep(kind, line)

    def _merged(self, kind: str, present: Iterable[bytes], parts: Iterable[Path]) -> Iterator[bytes]:
        where = sha_slice(kind)
        kept = self._kept(kind, present, where)
        fresh = (line for part in parts for line in _lines(part))
        mine, new = next(kept, None), next(fresh, None)
        while mine is not None and new is not None:
            # No hash is on both sides, and both are sorted.
            if mine[where] < new[where]:
                yield mine
                mine = next(kept, None)
            else:
                yield new
                new = next(fresh, None)
        yield from (line for line in (mine, new) if line is not None)
        yield from kept
        yield from fresh

    def _kept(self, kind: str, present: Iterable[bytes], where: slice) -> Iterator[bytes]:
        """The lines of bundles that are not replaced."""
        is_replaced = self._among("incoming") if self._replace else lambda _: False
        for line in present:
            if not is_replaced(line[where].decode()):
                self._intact.keep(kind, line)
                yield line

    def _among(self, part: str) -> Callable[[str], bool]:
        """Whether a hash is among those of a part of the staging folder, for hashes asked in ascending order."""
        root = self.root / part
        names = (name for bucket in sorted(os.listdir(root)) for name in sorted(os.listdir(root / bucket)))
        ahead = next(names, "")

        def among(sha256: str) -> bool:
            nonlocal ahead
            while ahead and ahead < sha256:
                ahead = next(names, "")
            return ahead.startswith(sha256)

        return among


def take(stream: BinaryIO, folder: Path, *, replace: bool) -> tuple[Literal["new", "again", "known"], str]:
    """Copy a bundle's bytes into the staging folder under their hash, unless this run or the ledger has them.

    Returns the outcome and the hash. Safe for several processes at once: the one that creates the file has taken the
    bundle.
    """
    root = folder / STAGING
    data = _read(stream)
    digest = hashlib.sha256(data)
    scratch = None
    if len(data) == _BLOCK:  # there may be more, perhaps more than fits into memory
        scratch = root / f"taking-{os.getpid()}"
        with scratch.open("wb") as file:
            while data:
                file.write(data)
                data = _read(stream)
                digest.update(data)
    sha256 = digest.hexdigest()
    kept = folder / "bundles" / f"{sha256}.json"
    known = not replace and kept.exists()
    if known:
        check_bytes(kept, sha256)
    place = _place(root, "known" if known else "incoming", sha256)
    try:
        with _new(place) as file:
            file.write(b"" if known else data)
    except FileExistsError:
        return "known" if known else "again", sha256
    if scratch is not None and not known:
        scratch.replace(place)
    return "known" if known else "new", sha256


def _read(stream: BinaryIO) -> bytes:
    try:
        data: bytes | None = stream.read(_BLOCK)
    except OSError as error:
        raise CannotRun(f"cannot read {stream.name}: {error.strerror or error}") from None
    if data is None:  # a file of /proc that would make its reader wait
        raise CannotRun(f"cannot read {stream.name}: {os.strerror(errno.EAGAIN)}")
    return data


def _new(place: Path) -> BinaryIO:
    try:
        return place.open("xb")
    except FileNotFoundError:
        place.parent.mkdir(exist_ok=True)
        return place.open("xb")


def _place(root: Path, part: str, sha256: str) -> Path:
    """Return the path of a bundle in its bucket. The 64 buckets are short to list and sort as hashes do."""
    return root / part / bucket_of(sha256) / f"{sha256}.json"


def _lines(path: Path) -> Iterator[bytes]:
    if path.exists():
        with path.open("rb") as file:
            yield from file


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block
