"""The raw bundles as lines of a page, and where in them the records stand."""

from base64 import b64decode
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from normalizer.documents.locate import ItemSpan, items, place
from normalizer.report.markup import visible
from normalizer.report.records.bundles import PageBundles

MOST_RAW = 20_000_000
"""Bytes of raw bundles that a page carries; beyond, lines are named but not shown."""
_HELD = 4
"""Texts that are kept: records are shown bundle by bundle."""
_LONGEST = 2_000
"""Characters of a raw line that are shown."""

Lines = tuple[int, int]
"""First and last line, counted from 1."""


class Raw:
    """The raw bundles, and where in them things stand. An archive is shown as its rows, below the names of its files.

    Other bytes that are no text are not shown.
    """

    def __init__(self, bundles: PageBundles, records: Iterable[dict[str, Any]] = ()) -> None:
        self.numbers = {sha: number for number, sha in enumerate(sorted(bundles.sizes))}
        self._bundles = bundles
        rows: dict[str, dict[int, dict[str, Any]]] = {}
        for source in (record["source"] for record in records):
            if "member" in source:
                rows.setdefault(source["bundle_sha256"], {})[int(source["index"])] = source
        self._rows = {sha: ArchivedRows(sources) for sha, sources in rows.items()}
        self._text = lru_cache(_HELD)(self._read_text)
        self._items = lru_cache(_HELD)(self._find_items)

    def _read_text(self, sha256: str) -> str:
        return (
            self._rows[sha256].text if sha256 in self._rows else self._bundles.read(sha256).decode("utf-8", "replace")
        )

    def _find_items(self, sha256: str, parent: str) -> list[ItemSpan]:
        return items(self._text(sha256), parent)

    def _is_hidden(self, sha256: str) -> bool:
        return sha256 not in self._rows and b"\0" in self._bundles.read(sha256)

    def row(self, source: dict[str, Any]) -> Lines | None:
        """Return the lines of a row in an archive or in another file that is not one document; else None."""
        if "member" in source:
            return self._rows[source["bundle_sha256"]].lines[int(source["index"])]
        return (int(source["line"]), int(source["line"])) if "line" in source else None

    def entry(self, sha256: str, pointer: str, row: Lines | None = None) -> ItemSpan:
        """The lines of an entry in its raw bundle; those of its row where there is one."""
        if row is not None:
            return ItemSpan(*row, 0, 0)
        parent, _, index = pointer.rpartition("/")
        return self._items(sha256, parent)[int(index)]

    def lines(self, sha256: str, pointer: str) -> Lines:
        """First and last line of what a pointer names, or of what would hold it."""
        try:
            found = place(self._text(sha256), pointer)
        except (ValueError, IndexError, RecursionError):  # no JSON: the whole of it is meant
            return 1, self._text(sha256).count("\n") + 1
        return found.first, found.last if found.there else found.first

    def within(self, sha256: str, entry: str, pointer: str, row: Lines | None = None) -> Lines:
        """The lines of a value inside an entry, located without reading the text before the entry."""
        if row is not None:
            return row
        if not pointer.startswith(f"{entry}/"):
            return self.lines(sha256, pointer)
        span = self.entry(sha256, entry)
        found = place(self._text(sha256)[span.start : span.end], pointer.removeprefix(entry))
        first, last = (span.first - 1 + line for line in (found.first, found.last))
        return first, last if found.there else first

    def document(self) -> list[dict[str, Any]]:
        """The bundles as the page carries them."""
        left = MOST_RAW
        found = []
        for sha256 in self.numbers:
            lines = None
            if left >= 0:
                text = self._text(sha256)
                left -= len(text)
                if left >= 0 and not self._is_hidden(sha256):
                    lines = [_cut(visible(line.rstrip("\r"))) for line in text.split("\n")]
            found.append({"sha256": sha256, "lines": lines})
        return found


class ArchivedRows:
    """The rows of an archive as its records have them, as one text: the name of each member, and its rows below."""

    def __init__(self, sources: dict[int, dict[str, Any]]) -> None:
        self.lines: dict[int, Lines] = {}
        """First and last line of the row that each record comes from, by the record's index."""
        texts: list[str] = []
        member, count = None, 0
        for index, source in sorted(sources.items()):
            if source["member"] != member:
                member = source["member"]
                texts.append(f"{member}:")
                count += 1
            if "text" in source or "bytes" in source:
                text = source["text"] if "text" in source else b64decode(source["bytes"]).decode("utf-8", "replace")
                texts.append(text)
                here = (count + 1, count + 1 + text.count("\n"))
                count = here[1]
            else:  # a further entry of the row before
                here = (count, count) if not self.lines else self.lines[max(self.lines)]
            self.lines[index] = here
        self.text = "\n".join(texts)


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} \u2026 ({len(line)} characters)"
