"""Turn raw LLM-judge bundles into canonical evaluation records; keep INVALID ones with their reasons.

`normalizer.open(ledger)` is the Python API; `normalizer.api` has the rest of it.
"""

from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from normalizer.api import Ledgers

__all__ = ["open"]

DISTRIBUTION = "zeno-normalizer"
"""The distribution of this package. Others install a package `normalizer` too; `zeno_normalizer` compares."""


def open(*ledgers: "str | PathLike[str]") -> "Ledgers":  # noqa: A001 - `normalizer.open` is what one writes
    """Open ledgers to read: records, frames and every number that the commands print."""
    from pathlib import Path

    from normalizer.api import open_ledgers  # commands start without it

    return open_ledgers(*(Path(ledger) for ledger in ledgers))
