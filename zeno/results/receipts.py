"""Citations: what lines said, in 64 digits, and whether the tree still says it.

A receipt is the SHA-256 of the UTF-8 bytes of lines joined by a line feed, exactly as `read_file` returns them.
"""

import hashlib
from collections.abc import Callable, Iterator

from contract_models.zeno.ops.verify import CitationVerdict, LineRange, VerifyCitation
from pydantic import MISSING

from zeno.errors import InvalidArgs, NotAFile, NotFound, PermissionDenied
from zeno.files.open_file import File
from zeno.files.tree import Tree
from zeno.text.file_lines import Window, decode, raw_lines
from zeno.text.file_lines import receipt as receipt

# Nobody was ever handed more in one answer.
MAX_CITED_BYTES = 1 << 24
# Lines that moved are looked for by hashing every place they could be at: nearest first, and not for ever.
MAX_SEARCHED_BYTES = 1 << 24
_COST_OF_A_PLACE = 256


def check(
    citation: VerifyCitation, tree: Tree, field: str = "citation", scanned: Callable[[int], None] | None = None
) -> CitationVerdict:
    """Compare a citation with the tree. A path outside the root raises `OutsideRoot`; `field` names it in errors.

    One that says neither `sha256` nor `text` is only asked whether its lines are there. `scanned` is told how many
    bytes of the file were read.
    """
    verdict, path, moved_to, reason = "missing", citation.path, None, None
    try:
        path = tree.place(citation.path, f"{field}.path").path
        with tree.open(citation.path, f"{field}.path") as file:
            file.require_text()
            verdict, moved_to, reason = _judge(citation, file, field)
        if scanned:
            scanned(file.bytes_read)
    except (NotFound, NotAFile, PermissionDenied) as error:
        reason = str(error)
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


def _judge(citation: VerifyCitation, file: File, field: str) -> tuple[str, LineRange | None, str | None]:
    window = Window(citation.start_line, citation.end_line, _at_most(MAX_CITED_BYTES, field))
    window.feed(file.chunks())
    there = citation.start_line <= citation.end_line <= window.total
    wanted = receipt(citation.text) if citation.text is not MISSING else citation.sha256
    if there and (wanted is MISSING or receipt("\n".join(window.lines)) == wanted):
        return "ok", None, None
    moved_to, reason = None, None
    if wanted is not MISSING and citation.start_line <= citation.end_line:
        moved_to, reason = _look_for(wanted, citation, file)
    if moved_to:
        return "moved", moved_to, None
    return "changed" if there else "out_of_range", None, reason


def _at_most(limit: int, field: str) -> Callable[[int], None]:
    room = limit

    def keep(size: int) -> None:
        nonlocal room
        room -= size
        if room < 0:
            raise InvalidArgs(f"{field} cites more than {limit} bytes of text; cite fewer lines")

    return keep


def _look_for(wanted: str, citation: VerifyCitation, file: File) -> tuple[LineRange | None, str | None]:
    """Where in the file as many lines have that digest, or why not all of it was searched."""
    if file.size > MAX_SEARCHED_BYTES:
        return None, f"the file is longer than {MAX_SEARCHED_BYTES} bytes, so the lines were not looked for elsewhere"
    lines = [decode(line).encode() for line in raw_lines(file.read())]
    text = memoryview(b"\n".join(lines))
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    count = citation.end_line - citation.start_line + 1
    room = MAX_SEARCHED_BYTES
    for first in _outwards(citation.start_line - 1, len(lines) - count):
        place = text[starts[first] : starts[first + count] - 1]
        room -= len(place) + _COST_OF_A_PLACE
        if room < 0:
            return (
                None,
                "the file is too long to be searched in whole: the lines may have moved further than was looked",
            )
        if hashlib.sha256(place).hexdigest() == wanted:
            return LineRange(start_line=first + 1, end_line=first + count), None
    return None, None


def _outwards(centre: int, last: int) -> Iterator[int]:
    """The indexes 0 to `last`, but for the centre itself: nearest to the centre first, of two as near the smaller."""
    below, above = min(centre - 1, last), centre + 1
    while below >= 0 or above <= last:
        if above > last or (below >= 0 and centre - below <= above - centre):
            yield below
            below -= 1
        else:
            yield above
            above += 1
