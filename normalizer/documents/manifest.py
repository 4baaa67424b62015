"""The run manifest: metadata of a run, and the fixed list of its evaluated files."""

from collections import Counter
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest that its schema accepts and that names no file twice."""

    metadata: dict[str, Any]
    files: dict[str, dict[str, Any]]
    """By `file`, in the manifest's order."""
    relaxations: tuple[dict[str, str], ...]

    @property
    def relaxed(self) -> frozenset[str]:
        """The constraints that the relaxations lift."""
        return frozenset(item["constraint"] for item in self.relaxations if "constraint" in item)


def manifest_of(document: dict[str, Any]) -> Manifest:
    """The manifest a document declares."""
    metadata = {key: value for key, value in document.items() if key not in ("files", "relaxations")}
    files = {item["file"]: item for item in document["files"]}
    return Manifest(metadata, files, tuple(document.get("relaxations", [])))


def files_named_twice(document: dict[str, Any]) -> list[str]:
    """Return the files that are listed more than once."""
    return [name for name, count in Counter(item["file"] for item in document["files"]).items() if count > 1]
