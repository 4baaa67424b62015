"""Check that a ledger is still as runs left it, as far as a run looks at it, before the run changes anything.

A run reads the buckets of its own bundles. Their lines are checked as they are merged, what these refer to must be
there, and the files of every kind that those bundles belong to must have their size. Raw bundles are only counted:
`audit` reads them again.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from normalizer.errors import UnusableLedger
from normalizer.ledger.buckets import places_in, raw_place
from normalizer.ledger.commit_record import NAME, LineFile, advice, read_verified
from normalizer.ledger.commit_tree import CommitTree
from normalizer.ledger.line_format import FILES, settings_in, sha_slice
from normalizer.ledger.reader import Ledger
from normalizer.regular_files import open_regular


@dataclass(slots=True)
class _Region:
    """Bundles whose hashes begin alike: those that lines name, those whose raw bytes are there, and the staged ones."""

    prefix: str
    named: set[str]
    raw: set[str]
    staged: int = 0


class Intact:
    """The ledger that a run adds to. Its lock must be held."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.tree = CommitTree(folder, empty=not os.path.lexists(folder / NAME) and not places_in(folder))
        self._ledger = Ledger(folder, self.tree)
        self._settings: set[bytes] = set()

    def check_sizes(self, sha256: str) -> None:
        """Raise UnusableLedger if a file that a bundle belongs to is missing or has another size."""
        for file in (file for kind in FILES for file in self.tree.files_of(kind, sha256)):
            self._check_size(file)

    def _check_size(self, file: LineFile) -> None:
        path = self._folder / file.place.name
        if not path.is_file():
            what = "is not a file" if path.exists() else "is missing"
            raise UnusableLedger(f"{self._folder} is damaged: {path.name} {what}; nothing was changed")
        if path.stat().st_size != file.bytes:
            raise UnusableLedger(f"{path} was changed, it has another size: {advice(self._folder)}")

    def lines(self, kind: str, files: Iterable[LineFile]) -> Iterator[bytes]:
        """Yield the lines of some files, compared with their digests, each as a run writes it."""
        for file in files:
            data = read_verified(self._folder, file)
            yield from self._ledger.iterate_checked(kind, BytesIO(data), file.place.prefix)

    def lines_of(self, kind: str, sha256: str) -> Iterator[bytes]:
        """Yield the lines of one bundle."""
        return self._ledger.lines_of(kind, sha256)

    def first_header(self) -> bytes | None:
        """Return a header of the ledger, if it has any."""
        return next(self._ledger.lines("headers"), None)

    def item(self, kind: str, line: bytes) -> dict[str, Any]:
        """Return a line as a value."""
        return self._ledger.item(kind, line)

    def check(self, staged: Iterable[str], documents: Iterable[str], *, replace: bool) -> None:
        """Raise UnusableLedger if a file that lines refer to is missing, or a staged file cannot be put in place.

        `staged` are the hashes of the bundles that the run adds, in order, or may replace.
        """
        for name in ("bundles", "settings"):
            self._require_folder(self._folder / name)
        for digest in documents:
            self._require_room(self._folder / "settings" / f"{digest}.json")
        region: _Region | None = None
        for sha256 in staged:
            place = raw_place(self._folder, sha256)
            if region is None or not sha256.startswith(region.prefix):
                self._compare(region)
                region = self._region(sha256)
            self._require_folder(place.parent)
            self._require_room(place)
            region.staged += 1
            if replace:
                region.named.discard(sha256)
                region.raw.discard(sha256)
        self._compare(region)
        for settings in sorted(self._settings):
            for name, digest in self._ledger.settings(settings).items():
                if name != "protocol":
                    self._ledger.document(digest)

    def _region(self, sha256: str) -> "_Region":
        """Return the smallest region of headers and audit lines that a bundle is in, with its lines and raw bundles."""
        self.check_sizes(sha256)
        prefix = max((self.tree.region(kind, sha256) for kind in ("headers", "audit")), key=len)
        named = set()
        for kind in ("headers", "audit"):
            for line in self.lines(kind, self.tree.files_of(kind, sha256)):
                other = line[sha_slice(kind)].decode()
                if other.startswith(prefix):
                    named.add(other)
                    self._settings.add(settings_in(kind, line))
        return _Region(prefix, named, set(self._ledger.raw_bundles(prefix)))

    def _compare(self, region: "_Region | None") -> None:
        if region is not None and region.named != region.raw:
            raise UnusableLedger(
                f"{self._folder} is damaged: {len(region.named) + region.staged} bundles are accounted for, but the "
                f"raw bytes of {len(region.raw) + region.staged} are there; nothing was changed"
            )

    def _require_room(self, place: Path) -> None:
        if place.is_dir():
            raise UnusableLedger(f"{place} is a folder, where a file belongs: remove it; nothing was changed")

    def _require_folder(self, place: Path) -> None:
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            name = place.relative_to(self._folder)
            raise UnusableLedger(f"{self._folder} is damaged: {name} is not a folder; nothing was changed")


def check_bytes(path: Path, sha256: str) -> None:
    """Raise UnusableLedger unless a kept raw bundle has the bytes of its hash."""
    try:
        with open_regular(path) as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UnusableLedger(f"cannot read {path}: {error.strerror}") from None
    if found != sha256:
        raise UnusableLedger(f"the bytes of {path} are not those of its hash: give --replace to have them as they came")
