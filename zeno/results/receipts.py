"""Receipts of cited lines, and their verification against the tree.

A receipt is the SHA-256 of the UTF-8 bytes of lines joined by a line feed, exactly as `read_file` returns them.
"""

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

from contract_models.zeno.ops.verify import CitationVerdict, LineRange, VerifyCitation
from pydantic import MISSING

from zeno.errors import Denied, InvalidArgs, NotAFile, NotFound, OutsideRoot, PermissionDenied
from zeno.files.file_tree import FileTree
from zeno.files.open_file import TextFile
from zeno.meter import Meter
from zeno.results.quotations import Match, find_difference, match_quotation
from zeno.text.file_lines import Window, receipt
from zeno.text.line_index import LineIndex

# No answer is larger than this, so no citation can be.
MAX_CITED_BYTES = 1 << 24
# Lines that moved are found by hashing every range of that many lines, nearest first, up to this many bytes.
MAX_SEARCHED_BYTES = 1 << 24
# Limit on the bytes hashed for all citations of one checker.
MAX_SEARCHED_IN_ALL = 1 << 28
_COST_OF_A_PLACE = 256
_FEWER = "check fewer citations at a time"

OpenFile = Callable[[str, str], TextFile]
"""Takes a path and the field that it was given in; returns the open file."""


class Verdict(NamedTuple):
    """A verdict on a citation, with the members of answers."""

    verdict: str
    match: Match | None = None
    differs_at: int | None = None
    moved_to: LineRange | None = None
    found_at: LineRange | None = None
    reason: str | None = None


class CitedLines(NamedTuple):
    """A range of lines, and what it said. Either of digest and text may be MISSING."""

    path: str
    start_line: int
    end_line: int
    sha256: Any
    text: Any


def check(citation: VerifyCitation, tree: FileTree, field: str = "citation") -> CitationVerdict:
    """Compare one citation with the tree; see `Checker.check`."""
    return Checker(tree).check(citation, field)


class Checker:
    """Compares citations with the tree. It keeps the text of the last file, so pass citations file by file."""

    def __init__(self, tree: FileTree, meter: Meter | None = None, open_file: OpenFile | None = None) -> None:
        """Read files with `open_file`, by default from the tree."""
        self._tree = tree
        self._open = open_file or tree.open
        self._meter = meter or Meter()
        self._room = MAX_SEARCHED_IN_ALL
        self._held: tuple[str, LineIndex] | None = None

    def check(self, citation: VerifyCitation, field: str = "citation") -> CitationVerdict:
        """Return the verdict on a citation. `field` names it in reasons.

        A citation without `sha256` and `text` is ok if its lines exist.
        """
        return judge(citation, self._tree, field, lambda path: self._check_place(path, citation, field))

    def _check_place(self, path: str, citation: VerifyCitation, field: str) -> Verdict:
        if citation.start_line is MISSING or citation.end_line is MISSING:
            return Verdict("invalid", reason="a citation needs start_line and end_line, or symbol")
        if citation.end_line < citation.start_line:
            return Verdict("invalid", reason=f"end_line is below start_line ({citation.start_line})")
        lines = (citation.start_line, citation.end_line)
        return self._check_file(path, CitedLines(citation.path, *lines, citation.sha256, citation.text), field)

    def _check_file(self, path: str, citation: CitedLines, field: str) -> Verdict:
        if self._held is None or self._held[0] != path:
            self._held = None
            with self._open(citation.path, f"{field}.path") as file:
                file.require_text()
                self._meter.charge_bytes(path, file.size, _FEWER)
                if file.size > MAX_SEARCHED_BYTES:
                    found = _check_stream(citation, file, field)
                    self._meter.count_file(file.bytes_read)
                    return found
                self._held = (path, LineIndex(file.read_text()))
            self._meter.count_file(file.bytes_read)
        return self._check(citation, self._held[1], field)

    def _check(self, citation: CitedLines, lines: LineIndex, field: str) -> Verdict:
        first, last = citation.start_line, citation.end_line
        start, end = lines.start(min(first - 1, len(lines))), lines.start(min(last, len(lines)))
        if end - start > MAX_CITED_BYTES:
            raise _cites_too_much(field)
        cited = None
        if last <= len(lines):
            self._meter.charge_bytes(citation.path, end - start, _FEWER)
            cited = lines.text[start : end - 1]
        found = compare(citation, cited)
        wanted = _read_wanted(citation)
        if found.verdict == "ok" or wanted is None:
            return found
        moved_to, reason = self._look_for(wanted, citation, lines)
        return Verdict("moved", moved_to=moved_to) if moved_to else found._replace(reason=reason)

    def _look_for(self, wanted: str, citation: CitedLines, lines: LineIndex) -> tuple[LineRange | None, str | None]:
        """Return the range of lines that has the digest, or why not all of the file was searched."""
        count = citation.end_line - citation.start_line + 1
        if citation.text is not MISSING:
            count = citation.text.count("\n") + 1
        room = min(MAX_SEARCHED_BYTES, self._room)
        before = room
        try:
            for first, start, end in lines.ranges_from(citation.start_line - 1, count):
                room -= end - start + _COST_OF_A_PLACE
                if room < 0:
                    return None, (
                        "the file is too long to be searched in whole: the lines may have moved further than was looked"
                    )
                if _digest(lines, start, end) == wanted:
                    return LineRange(start_line=first + 1, end_line=first + count), None
            return None, None
        finally:
            self._room -= before - max(0, room)


def _check_stream(citation: CitedLines, file: TextFile, field: str) -> Verdict:
    """Compare a citation with a file that is too large to be held in memory."""
    room = MAX_CITED_BYTES

    def keep(size: int) -> None:
        nonlocal room
        room -= size
        if room < 0:
            raise _cites_too_much(field)

    window = Window(citation.start_line, citation.end_line, keep)
    window.feed(file.chunks(), is_normal=file.is_normal)
    found = compare(citation, "\n".join(window.lines).encode() if citation.end_line <= window.total else None)
    if found.verdict == "ok" or _read_wanted(citation) is None:
        return found
    reason = f"the file is longer than {MAX_SEARCHED_BYTES} bytes, so the lines were not looked for elsewhere"
    return found._replace(reason=reason)


def judge(
    citation: VerifyCitation, tree: FileTree, field: str, check_place: Callable[[str], Verdict]
) -> CitationVerdict:
    """Return the verdict of `check_place`, which takes the resolved path, or why the path cannot be read."""
    path = citation.path
    try:
        path = tree.place(citation.path, f"{field}.path").path
        if citation.text is not MISSING and citation.sha256 not in (MISSING, receipt(citation.text)):
            found = Verdict("invalid", reason="sha256 is not that of text; give the one that is right")
        else:
            found = check_place(path)
    except (NotFound, NotAFile, PermissionDenied) as error:
        found = Verdict("missing", reason=str(error))
    except OutsideRoot as error:
        found = Verdict("outside_root", reason=str(error))
    except Denied as error:
        found = Verdict("denied", reason=str(error))
    except InvalidArgs as error:
        found = Verdict("invalid", reason=str(error))
    cited = citation.model_dump(include={"symbol", "start_line", "end_line"})
    members = {name: value for name, value in found._asdict().items() if value is not None}
    return CitationVerdict.model_validate({"path": path, **cited, **members})


def compare(citation: CitedLines, cited: bytes | memoryview | None) -> Verdict:
    """Compare a citation with the cited lines, joined by line feeds; None where the file does not have them."""
    if cited is None:
        return Verdict("out_of_range")
    if citation.text is MISSING:
        return Verdict("ok" if citation.sha256 in (MISSING, hashlib.sha256(cited).hexdigest()) else "changed")
    quoted, lines = citation.text.split("\n"), bytes(cited).decode().split("\n")
    match = match_quotation(quoted, lines)
    if match is not None:
        return Verdict("ok", match)
    return Verdict("changed", differs_at=citation.start_line + find_difference(quoted, lines))


def _read_wanted(citation: CitedLines) -> str | None:
    if citation.text is not MISSING:
        return receipt(citation.text)
    return None if citation.sha256 is MISSING else citation.sha256


def _digest(lines: LineIndex, start: int, end: int) -> str:
    return hashlib.sha256(memoryview(lines.text)[start:end]).hexdigest()


def _cites_too_much(field: str) -> InvalidArgs:
    return InvalidArgs(f"{field} cites more than {MAX_CITED_BYTES} bytes of text; cite fewer lines")
