"""Divide the lines of a file by the innermost definitions around them."""

from array import array
from collections.abc import Sequence

from zeno.code.facts import Symbol, numbers

# Behind all lines.
_END = 1 << 32


def divide(symbols: Sequence[Symbol]) -> "tuple[array[int], array[int]]":
    """Divide the lines of a file by the definition that begins last around them, of these the shortest.

    Returns the first line of each part, and the number of its definition, counted from 1; 0 where there is none.
    Takes linear time but for the sorting.
    """
    firsts, owners = numbers(), numbers()

    def begin(line: int, owner: int) -> None:
        if firsts and firsts[-1] == line:
            owners[-1] = owner
        else:
            firsts.append(line)
            owners.append(owner)

    def end_before(line: int) -> None:
        while around and around[-1][0] < line:
            last = around.pop()[0]
            begin(last + 1, around[-1][1] if around else 0)

    extents = [
        (one.start_line, -one.end_line, number)
        for number, one in enumerate(symbols, 1)
        if one.end_line >= one.start_line
    ]
    around: list[tuple[int, int]] = []
    """Last lines and numbers of definitions: each ends before the one under it."""
    for start, negative_end, number in sorted(extents):
        end_before(start)
        while around and around[-1][0] <= -negative_end:
            around.pop()
        around.append((-negative_end, number))
        begin(start, number)
    end_before(_END)
    return firsts, owners
