"""The files that lines lie in, decided by the lines alone: buckets of bundles whose hashes begin alike.

All lines of one kind lie in `KIND.jsonl` as long as they are at most `BUCKET_BYTES` long. Longer ones are split by the
first digit of their bundle's hash into `KIND-0.jsonl` to `KIND-f.jsonl`, any of these that is still too long by the
next digit, and so on. A bundle that is too long alone goes down to its whole hash; there its lines are cut after every
`BUCKET_BYTES`, and each further file is named by the index of its first entry: `KIND-HASH.INDEX.jsonl`.

So a bundle's place depends on the set of bundles and on nothing else, and a run that adds a bundle rewrites one bucket
of each kind, or splits it.
"""

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from normalizer.ledger.line_format import FILES, RECORD_FILES, index_of, sha_slice

BUCKET_BYTES = 1 << 22
"""A bucket is split when its lines are longer than this."""
DIGITS = "0123456789abcdef"
WHOLE_HASH = 64
_CHUNK = 1 << 16
_NAME = re.compile(rf"({'|'.join(FILES)})(?:-([0-9a-f]{{1,64}}))?(?:\.([1-9][0-9]*))?\.jsonl")


class LinePlace(NamedTuple):
    """The name of a file of lines, in parts. Places of one kind sort as their lines do."""

    kind: str
    prefix: str = ""
    """How the hashes of its bundles begin."""
    first: int = 0
    """The index of the first entry, if this file continues a long bundle."""

    @property
    def name(self) -> str:
        """The file's name in its ledger."""
        prefix = f"-{self.prefix}" if self.prefix else ""
        first = f".{self.first}" if self.first else ""
        return f"{self.kind}{prefix}{first}.jsonl"

    @property
    def index_name(self) -> str | None:
        """The name of its index, see `record_index`; None for other lines than records, and if one bucket has all."""
        return f"{self.name.removesuffix('.jsonl')}.index" if self.prefix and self.kind in RECORD_FILES else None


def place_named(name: str) -> LinePlace | None:
    """Return the place that a file's name means; None if it is no name of a file of lines."""
    found = _NAME.fullmatch(name)
    return LinePlace(found[1], found[2] or "", int(found[3] or 0)) if found else None


def places_in(folder: Path) -> list[LinePlace]:
    """Return the files of lines that are there, whatever the commit record says of them, in order."""
    found = (place_named(name) for name in (os.listdir(folder) if folder.is_dir() else ()))
    return sorted(place for place in found if place is not None)


def raw_place(folder: Path, sha256: str) -> Path:
    """Return where a ledger keeps the raw bytes of a bundle."""
    return folder / "bundles" / raw_bucket(sha256) / f"{sha256}.json"


def raw_bucket(sha256: str) -> str:
    """Return the folder of a raw bundle: 256 of them keep each short to list, and they sort as hashes do."""
    return sha256[:2]


class Chunk(NamedTuple):
    """Some consecutive lines of one bundle."""

    sha256: str
    data: bytes


def chunks(kind: str, lines: Iterable[bytes]) -> Iterator[Chunk]:
    """Put consecutive lines of a bundle together, some 64 KiB at a time."""
    where, sha256, held, size = sha_slice(kind), b"", list[bytes](), 0
    for line in lines:
        if held and (line[where] != sha256 or size > _CHUNK):
            yield Chunk(sha256.decode(), b"".join(held))
            held, size = [], 0
        sha256 = line[where]
        held.append(line)
        size += len(line)
    if held:
        yield Chunk(sha256.decode(), b"".join(held))


def split(kind: str, prefix: str, content: Iterator[Chunk]) -> Iterator[tuple[LinePlace, bytes]]:
    """Yield the files of everything below a prefix, in order, given its lines in order.

    Everything above the prefix must be split already. Memory holds one bucket.
    """
    yield from _Splitter(kind, content).below(prefix)


class _Splitter:
    """Looks ahead in the lines, as far as it takes to see whether they fit into one bucket."""

    def __init__(self, kind: str, content: Iterator[Chunk]) -> None:
        self._kind, self._content = kind, content
        self._ahead: deque[Chunk] = deque()

    def below(self, prefix: str) -> Iterator[tuple[LinePlace, bytes]]:
        if self._fits(prefix):
            data = b"".join(self._take(prefix))
            if data or not prefix:  # a ledger without lines of a kind has an empty file of it
                yield LinePlace(self._kind, prefix), data
        elif len(prefix) == WHOLE_HASH:
            yield from self._cut(prefix)
        else:
            for digit in DIGITS:
                yield from self.below(prefix + digit)

    def _fits(self, prefix: str) -> bool:
        """Whether everything that begins so fits into one bucket. Nothing that is ahead sorts before the prefix."""
        size = 0
        for chunk in self._ahead:
            if not chunk.sha256.startswith(prefix):
                return True
            size += len(chunk.data)
            if size > BUCKET_BYTES:
                return False
        while self._read():
            if not self._ahead[-1].sha256.startswith(prefix):
                return True
            size += len(self._ahead[-1].data)
            if size > BUCKET_BYTES:
                return False
        return True

    def _take(self, prefix: str) -> Iterator[bytes]:
        """Take everything that begins so."""
        while self._ahead or self._read():
            if not self._ahead[0].sha256.startswith(prefix):
                return
            yield self._ahead.popleft().data

    def _read(self) -> bool:
        chunk = next(self._content, None)
        if chunk is not None:
            self._ahead.append(chunk)
        return chunk is not None

    def _cut(self, sha256: str) -> Iterator[tuple[LinePlace, bytes]]:
        """Cut the lines of a long bundle: a file ends with the first line that makes it as long as a bucket."""
        held, size, first = list[bytes](), 0, 0
        for data in self._take(sha256):
            for line in BytesIO(data):
                if size >= BUCKET_BYTES:
                    yield LinePlace(self._kind, sha256, first), b"".join(held)
                    held, size, first = [], 0, index_of(line)
                held.append(line)
                size += len(line)
        yield LinePlace(self._kind, sha256, first), b"".join(held)
