"""The evaluated files that a ledger names: found below a folder, checked against the manifests' hashes."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from normalizer.checks.artifact_text import NoText, Text, text_of
from normalizer.documents.artifacts import content
from normalizer.documents.manifest import manifest_of
from normalizer.errors import CannotRun
from normalizer.ledger.open_ledgers import ordinary_metadata
from normalizer.ledger.reader import Ledger


@dataclass(frozen=True)
class Evaluated:
    """One file: its name, its expected path and hash."""

    artifact: str
    path: str
    expected: str | None
    folder: Path

    @cached_property
    def bytes(self) -> bytes | None:
        """Its bytes; None if there is no such file below the folder."""
        try:
            return content(self.folder, self.path)
        except CannotRun:
            return None

    @cached_property
    def sha256(self) -> str | None:
        """SHA-256 of the file that was found; None if there is none."""
        return None if self.bytes is None else hashlib.sha256(self.bytes).hexdigest()

    @cached_property
    def text(self) -> Text | None:
        """Its text; None if it is not the file that was evaluated or has no text."""
        if self.bytes is None or (self.expected is not None and self.sha256 != self.expected):
            return None
        try:
            return text_of(self.bytes, self.path)
        except NoText:
            return None

    @cached_property
    def state(self) -> str:
        """Its state for the report."""
        if self.bytes is None:
            return "missing"
        if self.expected is not None and self.sha256 != self.expected:
            return "mismatch"
        if self.text is None:
            return "unreadable"
        return "unhashed" if self.expected is None else "checked"


class Files:
    """All files that records or manifests of a ledger name. Each is read once."""

    def __init__(self, ledger: Ledger, folder: Path) -> None:
        self._folder = folder
        self._listed: dict[str, dict[str, dict[str, Any]]] = {}
        self.known: dict[tuple[str, str, str], Evaluated] = {}
        manifests: dict[str, dict[str, dict[str, Any]]] = {}
        for kind in ("headers", "audit"):
            for item in ledger.items(kind):
                digest = item["settings"].get("manifest")
                if digest is None:
                    continue
                if digest not in manifests:
                    files = manifest_of(ordinary_metadata(ledger.document(digest))).files
                    manifests[digest] = files
                    for file in files.values():
                        self._add(file)
                self._listed[item["bundle_sha256"]] = manifests[digest]

    def of(self, record: dict[str, Any]) -> Evaluated | None:
        """Return the file of a record: as its manifest lists it, otherwise at the path that the record names."""
        name = record.get("file")
        if not isinstance(name, str) or not name:
            return None
        listed = self._listed.get(record["source"]["bundle_sha256"])
        if listed is None:
            return self._add({"file": name})
        return self._add(listed[name]) if name in listed else None

    def _add(self, file: dict[str, Any]) -> Evaluated:
        path, expected = file.get("path", file["file"]), file.get("sha256")
        artifact = file.get("artifact", file["file"])
        key = (artifact, path, expected or "")
        if key not in self.known:
            self.known[key] = Evaluated(artifact, path, expected, self._folder)
        return self.known[key]
