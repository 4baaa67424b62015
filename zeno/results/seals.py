"""Seal the evidence of claims: citations get the digest of what is cited, and the full id of the commit that has it.

Nothing that the policy denies can be cited, nor a commit that may not be asked for.
"""

from collections.abc import Callable
from typing import Any

import contract_spec as spec

from zeno.code.pool import SourceText
from zeno.code.table import FactTable
from zeno.errors import Denied, InvalidArgs, ResponseTooLarge, ZenoError
from zeno.files.file_tree import FileTree
from zeno.meter import Meter
from zeno.options import Options
from zeno.results.definitions import find_definition, read_source
from zeno.text.file_lines import Window, receipt

MAX_CITED_BYTES = 1 << 24
"""Bytes of all lines that one claim may cite without their sha256: no more than an answer may hold."""
MAX_SCANNED_BYTES = 1 << 30
"""Bytes of files that one claim may have read to find its lines. A server does nothing else meanwhile."""

_FEWER = "cite its lines with the sha256 that read_file gives, or fewer at a time"

Citation = tuple[str, int, int] | dict[str, Any]
FindCommit = Callable[[str], FileTree]
"""Returns the tree of a commit, given by its name. Raises ZenoError."""


class NotRecorded(Exception):
    """The event is not valid or its evidence cannot be read. The message says what would be right."""

    def __init__(self, message: str, cause: ZenoError | None = None) -> None:
        super().__init__(message)
        self.cause = cause
        """Says what a server answers, where that is something else than arguments that are not valid."""


class EvidenceDenied(NotRecorded):
    """The path or the commit of a citation is denied. The message does not say whether anything is there."""

    def __init__(self, denied: Denied) -> None:
        super().__init__(f"the evidence cannot be read: {denied}", denied)


class Evidence:
    """Looks up the evidence of one claim in a tree, or in the commits that it names."""

    def __init__(self, tree: FileTree | None, find_commit: FindCommit | None) -> None:
        """Take None where there is no tree: then only lines can be cited, as they are."""
        self._tree = tree
        self._find_commit = find_commit
        self._meter = Meter(options=Options(max_response_bytes=MAX_CITED_BYTES, max_scan_bytes=MAX_SCANNED_BYTES))

    def seal(self, given: Citation) -> dict[str, Any]:
        """Return a citation with lines and their SHA-256, unless it has both or there is no root."""
        citation = _as_object(given)
        if found := spec.violations("zeno/claim.json#/$defs/citation", citation):
            sentences = sorted({f"{spec.dotted('', one.pointer) or 'it'} {one.message}" for one in found})
            raise NotRecorded(f"not a valid citation: {'; '.join(sentences)}")
        tree = self._tree if "rev" not in citation else self._find_tree(citation["rev"])
        whole = "start_line" in citation and "end_line" in citation
        if tree is None:
            if whole:
                return citation
            raise NotRecorded("without a root only lines can be cited, by start_line and end_line")
        if whole and "sha256" in citation:
            _require_allowed(citation["path"], tree)
            sealed = citation
        else:
            sealed = self._seal_in(tree, citation)
        return sealed if tree.rev is None else {**sealed, "rev": tree.rev}

    def complete(self, search: dict[str, Any]) -> dict[str, Any]:
        """Return what a claim says of a search, with the full id of its commit. Raises NotRecorded if it cannot be."""
        wanted = {"name"} if search.get("type") == "defines" else {"name", "pattern"}
        if len(wanted & search.keys()) != 1 or not {"name", "pattern"} & search.keys() <= wanted:
            raise NotRecorded(f"search needs {' or '.join(sorted(wanted))}, and one of them alone")
        if "name" in search and {"regex", "case_sensitive"} & search.keys():
            raise NotRecorded("search: regex and case_sensitive belong to a pattern")
        return {**search, "rev": self._find_tree(search["rev"]).rev} if "rev" in search else search

    def _find_tree(self, rev: str) -> FileTree:
        if self._find_commit is None:
            raise NotRecorded("a commit can be cited only with a root, whose repository has it")
        try:
            return self._find_commit(rev)
        except Denied as error:
            raise EvidenceDenied(error) from None
        except ZenoError as error:
            raise NotRecorded(f"the evidence cannot be read: {error}", error) from None

    def _seal_in(self, tree: FileTree, citation: dict[str, Any]) -> dict[str, Any]:
        try:
            return seal(citation, tree, self._meter)
        except Denied as error:
            raise EvidenceDenied(error) from None
        except ResponseTooLarge:
            raise NotRecorded(f"a claim may cite {MAX_CITED_BYTES} bytes of text; cite fewer lines") from None
        except ZenoError as error:
            raise NotRecorded(f"the evidence cannot be read: {error}") from None


def _as_object(given: Citation) -> dict[str, Any]:
    if isinstance(given, dict):
        return given
    path, first, last = given
    return {"path": path, "start_line": first, "end_line": last}


def _require_allowed(path: str, tree: FileTree) -> None:
    """Raise EvidenceDenied if the policy denies a path. Other problems are found by verify."""
    try:
        tree.place(path, "path")
    except Denied as error:
        raise EvidenceDenied(error) from None
    except ZenoError:
        pass


def seal(citation: dict[str, Any], tree: FileTree, meter: Meter) -> dict[str, Any]:
    """Return a citation with lines and digest. Raises ZenoError if the lines cannot be read or are not there."""
    named = {name: citation[name] for name in ("symbol",) if name in citation}
    if "start_line" in citation and "end_line" in citation:
        first, last = citation["start_line"], citation["end_line"]
    elif named:
        first, last = _find_lines(citation, tree, meter)
    else:
        raise InvalidArgs("a citation needs start_line and end_line, or symbol")
    window = Window(first, last, meter.charge_text)
    with tree.open(citation["path"], "path") as file:
        file.require_text()
        meter.charge_bytes(file.path, file.size, _FEWER)
        window.feed(file.chunks())
    if not first <= last <= window.total:
        lines = "1 line" if window.total == 1 else f"{window.total} lines"
        raise InvalidArgs(f"{citation['path']!r} has {lines}; {first}-{last} cannot be cited")
    digest = citation.get("sha256") or receipt("\n".join(window.lines))
    return {"path": file.path, **named, "start_line": first, "end_line": last, "sha256": digest}


def _find_lines(citation: dict[str, Any], tree: FileTree, meter: Meter) -> tuple[int, int]:
    with tree.open(citation["path"], "path") as file:
        file.require_text()
        meter.charge_bytes(file.path, file.size, _FEWER)
        text = read_source(file, meter, _FEWER)
    table = FactTable()
    try:
        facts = table.of(SourceText(file.path, text), meter.check)
    finally:
        table.close()
    found = find_definition(facts, citation["symbol"], file.path, "symbol")
    return found.start_line, found.end_line or found.line
