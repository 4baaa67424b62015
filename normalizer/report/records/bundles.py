"""The raw bundles of a page. They are read each time they are needed: there may be many more than memory holds."""

from functools import lru_cache
from typing import Any

from normalizer.ledger.reader import Ledger
from normalizer.screening.raw_rows import unpack_bundle

_HELD = 4
"""Bundles that are kept in memory: records are shown bundle by bundle."""


class PageBundles:
    """The bundles that a page shows, in ledgers that stay open as long as the page is made."""

    def __init__(self) -> None:
        self._ledgers: dict[str, Ledger] = {}
        self.sizes: dict[str, int] = {}
        """Bytes of each bundle, by hash."""
        self.read = lru_cache(_HELD)(self._read)

    def add(self, sha256: str, ledger: Ledger) -> None:
        """Add a bundle of a ledger."""
        if sha256 not in self._ledgers:
            self._ledgers[sha256] = ledger
            self.sizes[sha256] = len(self._read(sha256))

    def _read(self, sha256: str) -> bytes:
        return unpack_bundle(self._ledgers[sha256], sha256)

    def add_all(self, ledgers: list[Ledger], wanted: set[str] | None) -> list[dict[str, Any]]:
        """Add every bundle of ledgers, or those wanted, and return all reasons that blame no record."""
        reasons: list[dict[str, Any]] = []
        seen: set[str] = set()
        for ledger in ledgers:
            for kind in ("headers", "audit"):
                for item in ledger.items(kind):
                    sha256 = item["bundle_sha256"]
                    if sha256 not in seen:
                        seen.add(sha256)
                        if wanted is None or sha256 in wanted:
                            self.add(sha256, ledger)
                        about = {"bundle_sha256": sha256, "unreadable": kind == "audit"}
                        reasons += [{**reason, **about} for reason in item["reasons"]]
        return reasons
