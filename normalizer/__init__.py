"""Turn raw LLM-judge bundles into canonical evaluation records; keep INVALID ones with their reasons.

`normalizer.read(files or rows)` and `normalizer.open(ledger)` are the Python API; `normalizer.api` has the rest of it.
"""

from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from normalizer.api import Ledgers
    from normalizer.api.reading import Document

__all__ = ["open", "read"]

DISTRIBUTION = "zeno-normalizer"
"""The distribution of this package. Others install a package `normalizer` too; `zeno_normalizer` compares."""


def open(*ledgers: "str | PathLike[str]") -> "Ledgers":  # noqa: A001 - `normalizer.open` is what one writes
    """Open ledgers to read: records, frames and every number that the commands print."""
    from pathlib import Path

    from normalizer.api import open_ledgers  # commands start without it

    return open_ledgers(*(Path(ledger) for ledger in ledgers))


def read(
    source: Any,
    *,
    dialect: "Document | None" = None,
    rubric: "Document | None" = None,
    manifest: "Document | None" = None,
    stated: "Mapping[str, Any] | None" = None,
    out: "str | PathLike[str] | None" = None,
) -> "Ledgers":
    """Normalize files, rows, tables or frames, into the ledger `out` or a temporary one; see `normalizer.api`."""
    from normalizer.api.reading import read as read_source

    return read_source(source, dialect=dialect, rubric=rubric, manifest=manifest, stated=stated, out=out)
