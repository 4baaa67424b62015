"""Check that a ledger is still as runs left it, before a run changes anything.

Lines are checked as they are merged, and what they refer to must be there. Raw bundles are only counted: `audit` reads
them again.
"""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from normalizer.errors import UnusableLedger
from normalizer.ledger.commit_record import Span, Spans, advice, load, verified_blocks
from normalizer.ledger.line_format import FILES, settings_in
from normalizer.ledger.reader import Ledger
from normalizer.regular_files import open_regular


class Intact:
    """The ledger that a run adds to. Its lock must be held."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ledger = Ledger(folder, load(folder))
        self._settings: set[bytes] = set()
        there = [kind for kind in FILES if self._ledger.path(kind).exists()]
        for kind in FILES if there else ():
            if not self._ledger.path(kind).is_file():
                what = "is not a file" if kind in there else "is missing"
                raise UnusableLedger(f"{folder} is damaged: {kind}.jsonl {what}; nothing was changed")
            if self.spans is not None and self.size(kind) != sum(span.bytes for span in self.spans[kind]):
                raise UnusableLedger(f"{self._ledger.path(kind)} was changed, it has another size: {advice(folder)}")

    def size(self, kind: str) -> int:
        """How many bytes a file of lines has."""
        path = self._ledger.path(kind)
        return path.stat().st_size if path.exists() else 0

    def lines(self, kind: str) -> Iterator[bytes]:
        """The lines of a file."""
        return self._ledger.checked_lines(kind) if self.size(kind) else iter(())

    @property
    def spans(self) -> Spans | None:
        """The spans of the commit record, if the ledger has one."""
        return self._ledger.spans

    def blocks(self, kind: str, bucket: str) -> Iterator[tuple[Span, bytes]]:
        """The spans of a bucket with their bytes, compared with their digests. The ledger must have a commit record."""
        spans = (self._ledger.spans or {})[kind]
        return verified_blocks(self._ledger.path(kind), spans, bucket)

    def item(self, kind: str, line: bytes) -> dict[str, Any]:
        """A line as a value."""
        return self._ledger.item(kind, line)

    def keep(self, kind: str, line: bytes) -> None:
        """Record the bundle and the settings documents that a line of the ledger refers to."""
        if kind in ("headers", "audit"):
            self._settings.add(settings_in(kind, line))

    def check(self, bundles: int, documents: Iterable[str], staged: Path) -> None:
        """Raise UnusableLedger if a file that lines refer to is missing, or a staged file cannot be put in place."""
        for name in ("bundles", "settings"):
            if (self._folder / name).exists() and not (self._folder / name).is_dir():
                raise UnusableLedger(f"{self._folder} is damaged: {name} is not a folder; nothing was changed")
        kept = self._folder / "bundles"
        there = self._ledger.raw_bundles()
        places = [self._folder / "settings" / f"{digest}.json" for digest in documents]
        for path in (staged / "incoming").rglob("*.json"):
            places.append(kept / path.name)
            there += not places[-1].exists()
        for place in places:
            if place.is_dir():
                raise UnusableLedger(f"{place} is a folder, where a file belongs: remove it; nothing was changed")
        if there != bundles:
            raise UnusableLedger(
                f"{self._folder} is damaged: {bundles} bundles are accounted for, but the raw bytes of {there} are "
                "there; nothing was changed"
            )
        for settings in sorted(self._settings):
            for name, digest in self._ledger.settings(settings).items():
                if name != "protocol":
                    self._ledger.document(digest)


def check_bytes(path: Path, sha256: str) -> None:
    """Raise UnusableLedger unless a kept raw bundle has the bytes of its hash."""
    try:
        with open_regular(path) as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UnusableLedger(f"cannot read {path}: {error.strerror}") from None
    if found != sha256:
        raise UnusableLedger(f"the bytes of {path} are not those of its hash: give --replace to have them as they came")
