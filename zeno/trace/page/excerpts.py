"""Choose the lines of the tree that a page includes: cited lines first, then delivered ones, up to a size limit."""

from collections.abc import Iterable
from typing import Any

from zeno.errors import ZenoError
from zeno.files.file_tree import FileTree
from zeno.text.file_lines import lines_of
from zeno.trace.deliveries import Delivered

MAX_TEXT_BYTES = 8 << 20
MAX_LINE_CHARS = 2000
MAX_FILE_BYTES = 1 << 26


def excerpts(groups: Iterable[Delivered], tree: FileTree) -> tuple[dict[str, list[Any]], int]:
    """Return runs of lines by path (first line, text, first line, text) and the number of lines left out."""
    room = MAX_TEXT_BYTES
    left_out = 0
    kept: dict[str, dict[int, str]] = {}
    for group in groups:
        for path, wanted in sorted(group.files.items()):
            lines = _lines(path, tree)
            chosen = kept.setdefault(path, {})
            for first, last in wanted.ranges():
                for number in range(first, min(last, len(lines)) + 1):
                    if number in chosen:
                        continue
                    if room < 0:
                        left_out += 1
                        continue
                    chosen[number] = _clip(lines[number - 1])
                    room -= len(chosen[number].encode()) + 1
    return {path: _runs(chosen) for path, chosen in sorted(kept.items()) if chosen}, left_out


def _lines(path: str, tree: FileTree) -> list[str]:
    try:
        with tree.open(path) as file:
            file.require_text()
            return lines_of(b"".join(file.chunks())) if file.size <= MAX_FILE_BYTES else []
    except ZenoError:
        return []


def _clip(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARS else line[:MAX_LINE_CHARS] + "\N{HORIZONTAL ELLIPSIS}"


def _runs(chosen: dict[int, str]) -> list[Any]:
    """Join consecutive lines into runs: first line, text, first line, text."""
    runs: list[Any] = []
    before = -1
    for number in sorted(chosen):
        if number != before + 1:
            runs += [number, []]
        runs[-1].append(chosen[number])
        before = number
    return ["\n".join(part) if isinstance(part, list) else part for part in runs]
