"""coverage: how much of the tree the agent was shown, what it searched for, and what limits withheld from it."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from contract_models.zeno.request import Request
from contract_spec.model import Model

from zeno import dispatch
from zeno.errors import NotAFile, ZenoError
from zeno.meter import Meter
from zeno.text import Window
from zeno.trace.deliveries import Delivered, Lines
from zeno.trace.digest import canonical
from zeno.trace.events import Entry, Exchange
from zeno.trace.replay import Comparison, Replayer
from zeno.tree import Tree

_NO_LIMIT = (1 << 53) - 1
# Hits beyond this many more are not counted one by one.
MAX_COUNTED = 100_000
# What each operation's result is a list of, and the arguments that can cut it.
_LISTS = {
    "list_files": ("files", ("max", "max_files")),
    "grep": ("hits", ("max_hits", "max_files")),
    "extract_symbols": ("symbols", ("max_symbols",)),
}


class FileCoverage(NamedTuple):
    """One file: the lines delivered of the lines there are."""

    path: str
    total: int | None
    """None where no text file is there now."""
    delivered: int
    ranges: list[tuple[int, int]]


class Pattern(NamedTuple):
    """A search, however often it was run the same way."""

    args: dict[str, Any]
    lines: list[int]
    hits: int
    files_scanned: int
    truncated: bool


class Truncation(NamedTuple):
    """An answer that a limit cut, however often it was given."""

    lines: list[int]
    op: str
    args: dict[str, Any]
    shown: int
    hidden: int | None
    """None where it cannot be told any more, because the tree answers otherwise now."""
    at_least: bool
    """Whether there is more than was counted."""
    what: str


class Coverage(NamedTuple):
    """A whole trace."""

    files: list[FileCoverage]
    """Every text file of the tree that is not hidden, and every other that was delivered from."""
    binary: int
    patterns: list[Pattern]
    truncations: list[Truncation]
    unknown: list[int]
    """Lines of answers that delivered text, but the tree no longer gives them: what they delivered is not counted."""


def coverage(steps: Iterable[Entry | Exchange], replayer: Replayer) -> Coverage:
    """Gather what the exchanges of a trace delivered, searched and withheld."""
    delivered = Delivered()
    patterns: dict[bytes, Pattern] = {}
    truncations: dict[bytes, Truncation] = {}
    unknown: list[int] = []
    for step in steps:
        if not isinstance(step, Exchange):
            continue
        comparison = replayer.compare(step)
        delivered.add(comparison.spans)
        if not comparison.certain:
            unknown.append(step.answered)
        if step.answer["event"] == "response":
            if step.op == "grep":
                _searched(step, patterns)
            if step.answer["summary"]["truncated"]:
                key = canonical([step.op, step.args, step.answer["digest"]])
                if key in truncations:
                    truncations[key].lines.append(step.answered)
                else:
                    truncations[key] = truncation(comparison, replayer)
    files, binary = file_table(replayer.corpus.tree, delivered)
    return Coverage(files, binary, list(patterns.values()), list(truncations.values()), unknown)


def file_table(tree: Tree, delivered: Delivered) -> tuple[list[FileCoverage], int]:
    """All files with what was delivered of them, by path, and how many binary ones were left out."""
    binary = 0
    found = []
    for path in sorted({*tree.walk(False, frozenset()), *delivered.files}):
        lines = delivered.files.get(path, Lines())
        try:
            # A link is not a second file: what was delivered through it is told under the file's own name.
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


def _searched(exchange: Exchange, patterns: dict[bytes, Pattern]) -> None:
    summary = exchange.answer["summary"]
    key = canonical(exchange.args)
    before = patterns.get(key)
    lines = before.lines if before else []
    lines.append(exchange.asked)
    scanned = summary["metrics"]["files_scanned"]
    patterns[key] = Pattern(exchange.args, lines, summary["count"] or 0, scanned, summary["truncated"])


def truncation(comparison: Comparison, replayer: Replayer) -> Truncation:
    """What a cut answer withheld, by asking again without its limits."""
    exchange = comparison.exchange
    summary = exchange.answer["summary"]
    shown = summary["count"]
    what = "lines" if shown is None else _LISTS.get(exchange.op, ("items", ()))[0]
    if shown is None:
        shown = summary["metrics"].get("lines_returned", 0)
    hidden, at_least = None, False
    if comparison.verdict == "same":
        hidden, at_least = _hidden(exchange, shown, comparison, replayer)
    return Truncation([exchange.answered], exchange.op, exchange.args, shown, hidden, at_least, what)


def _hidden(exchange: Exchange, shown: int, comparison: Comparison, replayer: Replayer) -> tuple[int | None, bool]:
    args = exchange.args
    if exchange.op == "read_file" and comparison.again is not None:
        total = dict(comparison.again.totals).get(replayer.resolved(args["path"]), 0)
        first = int(args.get("start_line", 1))
        return max(0, min(int(args.get("end_line", first)), total) - first + 1 - shown), False
    if exchange.op not in _LISTS:
        return None, False
    name, limits = _LISTS[exchange.op]
    lifted = {**args, **dict.fromkeys(limits, _NO_LIMIT)}
    if exchange.op == "grep":
        lifted |= {"max_hits": shown + MAX_COUNTED, "context": 0}
    try:
        request = Request(id="coverage", op=exchange.op, args=lifted)
        result: Model = dispatch.perform(request, replayer.corpus, Meter(max_response_bytes=_NO_LIMIT))
    except ZenoError:
        return None, False
    there = len(getattr(result, name))
    return max(0, there - shown), there == shown + MAX_COUNTED


def totals(files: Iterable[FileCoverage]) -> Iterator[tuple[str, int]]:
    """Files and lines there are, files and lines delivered."""
    files = list(files)
    yield "files", sum(file.total is not None for file in files)
    yield "files_delivered", sum(file.delivered > 0 for file in files)
    yield "lines", sum(file.total or 0 for file in files)
    yield "lines_delivered", sum(file.delivered for file in files if file.total is not None)
