"""A dialect: how one judge or tool writes, as steps that move members of bundles, or as a container of rows."""

from typing import Any, NamedTuple

from normalizer.documents.pointers import DialectStep

STATED = ("phase", "protocol_version", "self_judged")
"""Run metadata that a dialect may state."""


class Dialect(NamedTuple):
    """How one judge or tool writes."""

    name: str
    bundle: tuple[DialectStep, ...]
    entry: tuple[DialectStep, ...]
    rows: dict[str, Any] | None
    """The document itself where it declares a container, whose rows are read; None for judge bundles."""
    metadata: dict[str, Any]
    """Run metadata that it states for the files it reads."""


def dialect_of(document: dict[str, Any]) -> Dialect:
    """The dialect a valid document declares."""
    steps = {
        part: tuple(DialectStep(step["take"], step.get("put")) for step in document.get(part, []))
        for part in ("bundle", "entry")
    }
    rows = document if "container" in document else None
    metadata = {name: document[name] for name in STATED if name in document}
    return Dialect(document["name"], steps["bundle"], steps["entry"], rows, metadata)
