"""Compare a quotation with the lines that it cites.

People and models quote without indentation, or quote one statement of the lines they cite. White space at both ends of
a line therefore does not count, and a run of whole lines, or a part of one cited line, is a quotation too.
"""

from collections.abc import Sequence
from typing import Literal

Match = Literal["exact", "white_space", "run", "part"]


def match_quotation(quoted: Sequence[str], cited: Sequence[str]) -> Match | None:
    """Return how quoted lines match the cited ones; None if they do not.

    exact: all of them, to the character; white_space: all of them, but for white space at the ends of lines; run: some
    of them in a row, white space at the ends of lines aside; part: a part of the one cited line.
    """
    if list(quoted) == list(cited):
        return "exact"
    mine, theirs = [line.strip() for line in quoted], [line.strip() for line in cited]
    if mine == theirs:
        return "white_space"
    if not any(mine):
        return None
    if len(theirs) == 1:
        return "part" if len(mine) == 1 and mine[0] in theirs[0] else None
    # No line has a line feed, so whole lines match whole lines.
    return "run" if "\n".join(["", *mine, ""]) in "\n".join(["", *theirs, ""]) else None


def find_difference(quoted: Sequence[str], cited: Sequence[str]) -> int:
    """Return the index of the first cited line that differs; the last one where the quotation goes on behind it.

    The quotation is laid on the cited lines where its first line stands, or at their beginning.
    """
    mine, theirs = [line.strip() for line in quoted], [line.strip() for line in cited]
    start = theirs.index(mine[0]) if mine[0] in theirs else 0
    pairs = zip(mine, theirs[start:], strict=False)
    return next((start + at for at, (one, other) in enumerate(pairs) if one != other), len(theirs) - 1)
