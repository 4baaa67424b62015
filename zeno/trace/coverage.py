"""coverage: lines delivered of each file, searches made, and results that limits cut."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from contract_models.zeno.ops.peek import PeekResult
from contract_models.zeno.ops.read_file import ReadFileResult
from contract_spec.model import Model
from contract_spec.operations import operations

from zeno.errors import NotAFile, ZenoError
from zeno.files.file_tree import FileTree
from zeno.files.roots import walk_all
from zeno.text.file_lines import Window
from zeno.trace.deliveries import Delivered, LineSet
from zeno.trace.digest import canonical
from zeno.trace.events import OTHER, Exchange, TraceLine
from zeno.trace.replay import Comparison, Replayer
from zeno.trace.writer import count_items

_NO_LIMIT = (1 << 53) - 1
# Hits beyond this many more are not counted one by one.
MAX_COUNTED = 100_000
_OF_TEXT = ("max_chars", "max_line_chars", "receipts")


class FileCoverage(NamedTuple):
    """The lines of one file that were delivered."""

    path: str
    total: int | None
    """Number of lines in the file; None if it is no longer a readable text file."""
    delivered: int
    ranges: list[tuple[int, int]]


class Pattern(NamedTuple):
    """A search with its arguments; equal requests are counted as one."""

    args: dict[str, Any]
    lines: list[int]
    hits: int
    files: int | None
    """Number of files searched. None if the tree now gives another answer."""
    truncated: bool


class Truncation(NamedTuple):
    """An answer that a limit cut; equal answers to equal requests are counted as one."""

    lines: list[int]
    op: str
    args: dict[str, Any]
    shown: int
    hidden: int | None
    """Number of items withheld. None if the tree now gives another answer."""
    at_least: bool
    """Whether `hidden` is only a lower bound."""
    what: str
    continued: bool
    """Whether a later request used this answer's cursor."""


class Coverage(NamedTuple):
    """The coverage of a whole trace."""

    files: list[FileCoverage]
    """Every text file of the tree that is not hidden, and every other file of which lines were delivered."""
    binary: int
    patterns: list[Pattern]
    truncations: list[Truncation]
    unknown: list[int]
    """Line numbers of answers that the tree no longer gives. The text they delivered is not counted."""


def coverage(steps: Iterable[TraceLine | Exchange], replayer: Replayer) -> Coverage:
    """Return the coverage of a trace, given as `events.exchanges` yields it."""
    delivered = Delivered()
    patterns: dict[bytes, Pattern] = {}
    truncations: dict[bytes, Truncation] = {}
    unknown: list[int] = []
    stopped: dict[str, bytes] = {}
    for step in steps:
        if not isinstance(step, Exchange):
            continue
        cursor = step.args.get("cursor")
        if isinstance(cursor, str) and (key := stopped.get(cursor)) is not None:
            truncations[key] = truncations[key]._replace(continued=True)
        comparison = replayer.compare(step)
        delivered.add(comparison.spans)
        if not comparison.certain:
            unknown.append(step.answered)
        if step.answer["event"] == "response":
            if step.op == "grep":
                _add_search(comparison, patterns)
            if step.answer["summary"]["truncated"]:
                key = canonical([step.op, step.args, step.answer["digest"]])
                if key in truncations:
                    truncations[key].lines.append(step.answered)
                else:
                    truncations[key] = truncation(comparison, replayer)
                if comparison.again is not None and comparison.again.cursor is not None:
                    stopped[comparison.again.cursor] = key
    files, binary = file_table(replayer.corpus.tree, delivered)
    return Coverage(files, binary, list(patterns.values()), list(truncations.values()), unknown)


def file_table(tree: FileTree, delivered: Delivered) -> tuple[list[FileCoverage], int]:
    """Return all text files by path with their delivered lines, and the number of binary files left out."""
    binary = 0
    found = []
    walked = walk_all(tree, include_hidden=False)
    for path in sorted({*(one.path for one in walked if one.problem is None), *delivered.files}):
        lines = delivered.files.get(path, LineSet())
        try:
            # A link is not a second file: lines delivered through it count under the file's own name.
            if path not in delivered.files and tree.place(path).path != path:
                continue
            with tree.open(path) as file:
                file.require_text()
                window = Window(1, 0, lambda _: None)
                window.feed(file.chunks())
            found.append(FileCoverage(path, window.total, lines.count(window.total), lines.ranges()))
        except NotAFile:
            binary += 1
        except ZenoError:
            if lines.ranges():
                found.append(FileCoverage(path, None, lines.count(), lines.ranges()))
    return found, binary


def _add_search(comparison: Comparison, patterns: dict[bytes, Pattern]) -> None:
    exchange = comparison.exchange
    summary = exchange.answer["summary"]
    key = canonical(exchange.args)
    before = patterns.get(key)
    lines = before.lines if before else []
    lines.append(exchange.asked)
    # The server's metrics cannot be used: with an index it scans fewer files than the search covers.
    again = comparison.again if comparison.verdict == "same" else None
    files = again.scanned if again is not None else None
    patterns[key] = Pattern(exchange.args, lines, summary["count"] or 0, files, summary["truncated"])


def truncation(comparison: Comparison, replayer: Replayer) -> Truncation:
    """Return how much a cut answer withheld, found by running its request again without limits."""
    exchange = comparison.exchange
    operation = operations().get(exchange.op, OTHER)
    what, limits = f"{operation.unit}s", operation.limits
    shown = exchange.answer["summary"]["count"]
    hidden, at_least = None, False
    if comparison.verdict == "same":
        shown = _size(replayer.perform(exchange.op, exchange.args))
        hidden, at_least = _count_hidden(exchange, shown, limits, replayer)
    return Truncation([exchange.answered], exchange.op, exchange.args, shown, hidden, at_least, what, continued=False)


def _count_hidden(exchange: Exchange, shown: int, limits: Iterable[str], replayer: Replayer) -> tuple[int | None, bool]:
    if "cursor" in exchange.args:
        # A page after a cursor does not say how many items preceded it.
        return None, False
    args = {name: value for name, value in exchange.args.items() if name not in _OF_TEXT}
    args |= dict.fromkeys(limits, _NO_LIMIT)
    if exchange.op == "grep":
        args |= {"max_hits": shown + MAX_COUNTED, "context": 0}
    try:
        there = _size(replayer.perform(exchange.op, args, limited=False))
    except ZenoError:
        return None, False
    return max(0, there - shown), exchange.op == "grep" and there == shown + MAX_COUNTED


def _size(result: Model) -> int:
    """Number of items that a result lists; lines for `read_file` and `peek`."""
    if isinstance(result, ReadFileResult):
        return result.end_line - result.start_line + 1
    if isinstance(result, PeekResult):
        return sum(part.end_line - part.start_line + 1 for part in (result.head, result.tail) if part.end_line)
    found = count_items(result)
    return 0 if found is None else found[1]


def totals(files: Iterable[FileCoverage]) -> Iterator[tuple[str, int]]:
    """Yield the totals by name: files, files_delivered, lines, lines_delivered."""
    files = list(files)
    yield "files", sum(file.total is not None for file in files)
    yield "files_delivered", sum(file.delivered > 0 for file in files)
    yield "lines", sum(file.total or 0 for file in files)
    yield "lines_delivered", sum(file.delivered for file in files if file.total is not None)
