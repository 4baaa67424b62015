"""Receipts of cited lines, and their verification against the tree.

A receipt is the SHA-256 of the UTF-8 bytes of lines joined by a line feed, exactly as `read_file` returns them.
"""

import hashlib
from collections.abc import Callable

from contract_models.zeno.ops.verify import CitationVerdict, LineRange, VerifyCitation
from pydantic import MISSING

from zeno.errors import InvalidArgs, NotAFile, NotFound, PermissionDenied
from zeno.files.file_tree import FileTree, TextFile
from zeno.meter import Meter
from zeno.text.file_lines import Window
from zeno.text.file_lines import receipt as receipt
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
_Verdict = tuple[str, LineRange | None, str | None]


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
        """Compare a citation with the tree. `field` names it in errors.

        A citation without `sha256` and `text` is ok if its lines exist. Raises OutsideRoot for a path outside the root,
        Denied for a denied one, and InvalidArgs for more text than an answer can hold.
        """
        verdict, path, moved_to, reason = "missing", citation.path, None, None
        try:
            path = self._tree.place(citation.path, f"{field}.path").path
            if self._held is None or self._held[0] != path:
                self._held = None
                with self._open(citation.path, f"{field}.path") as file:
                    file.require_text()
                    self._meter.scan(path, file.size, _FEWER)
                    if file.size > MAX_SEARCHED_BYTES:
                        verdict, moved_to, reason = _check_stream(citation, file, field)
                    else:
                        self._held = (path, LineIndex(file.read_text()))
                self._meter.scanned(file.bytes_read)
            if self._held is not None:
                verdict, moved_to, reason = self._check(citation, self._held[1], field)
        except (NotFound, NotAFile, PermissionDenied) as error:
            verdict, moved_to, reason = "missing", None, str(error)
        return CitationVerdict.model_validate(
            {
                "path": path,
                "start_line": citation.start_line,
                "end_line": citation.end_line,
                "verdict": verdict,
                "moved_to": moved_to or MISSING,
                "reason": reason or MISSING,
            }
        )

    def _check(self, citation: VerifyCitation, lines: LineIndex, field: str) -> _Verdict:
        first, last = citation.start_line, citation.end_line
        start, end = lines.start(min(first - 1, len(lines))), lines.start(min(last, len(lines)))
        if end - start > MAX_CITED_BYTES:
            raise _cites_too_much(field)
        there = first <= last <= len(lines)
        wanted = _wanted(citation)
        if there and wanted is not None:
            self._meter.scan(citation.path, end - start, _FEWER)
        if there and (wanted is None or _digest(lines, start, end - 1) == wanted):
            return "ok", None, None
        moved_to, reason = None, None
        if wanted is not None and first <= last:
            moved_to, reason = self._look_for(wanted, citation, lines)
        if moved_to:
            return "moved", moved_to, None
        return "changed" if there else "out_of_range", None, reason

    def _look_for(self, wanted: str, citation: VerifyCitation, lines: LineIndex) -> tuple[LineRange | None, str | None]:
        """Return the range of lines that has the digest, or why not all of the file was searched."""
        count = citation.end_line - citation.start_line + 1
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


def _check_stream(citation: VerifyCitation, file: TextFile, field: str) -> _Verdict:
    """Compare a citation with a file that is too large to be held in memory."""
    room = MAX_CITED_BYTES

    def keep(size: int) -> None:
        nonlocal room
        room -= size
        if room < 0:
            raise _cites_too_much(field)

    window = Window(citation.start_line, citation.end_line, keep)
    window.feed(file.chunks(), is_normal=file.is_normal)
    there = citation.start_line <= citation.end_line <= window.total
    wanted = _wanted(citation)
    if there and (wanted is None or receipt("\n".join(window.lines)) == wanted):
        return "ok", None, None
    reason = f"the file is longer than {MAX_SEARCHED_BYTES} bytes, so the lines were not looked for elsewhere"
    looked_for = wanted is not None and citation.start_line <= citation.end_line
    return "changed" if there else "out_of_range", None, reason if looked_for else None


def _wanted(citation: VerifyCitation) -> str | None:
    if citation.text is not MISSING:
        return receipt(citation.text)
    return None if citation.sha256 is MISSING else citation.sha256


def _digest(lines: LineIndex, start: int, end: int) -> str:
    return hashlib.sha256(memoryview(lines.text)[start:end]).hexdigest()


def _cites_too_much(field: str) -> InvalidArgs:
    return InvalidArgs(f"{field} cites more than {MAX_CITED_BYTES} bytes of text; cite fewer lines")
