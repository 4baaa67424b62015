"""Text from files as rows: made safe to show, behind line numbers, below definitions.

Characters that a terminal or a reader would obey are escaped: control characters but line feed and tab, marks that
reorder text (bidirectional controls), the line and paragraph separators U+2028 and U+2029, annotation marks, and every
character that Unicode calls default-ignorable: joiners, fillers, variation selectors and tag characters, which show
nothing, make two names look the same and can carry hidden text. A carriage return is one of them, so no file can begin
a row of its own in the middle of a line.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

Result = dict[str, Any]
Asked = dict[str, Any]
"""The arguments of a call, with the defaults for models."""

CLIPPED = "…"
"""Stands where a part of a line was left out."""

_UNSAFE = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)

# How rows begin that are no paths: the last line, a call of a batch, a gap, a hint, a scope, totals, callers.
_OTHER_ROW = re.compile(r"\[|=|…|--|hint: |in |totals: |callers of |not followed: |depth reached, ")
# Directories one below the other that names are divided by, deeper ones are not looked at; and the characters that a
# row with a directory counts for besides its own: whole paths are easier to read.
_LEVELS, _HEADING = 20, 16
# A scope that stands without its kind is one of these.
_FUNCTIONS = ("function", "method")


def visible(text: str) -> str:
    """Return the text with unsafe characters written as \\xNN, \\uNNNN or \\UNNNNNNNN. Line feeds and tabs stay."""
    return _UNSAFE.sub(_escape, text)


def one_line(text: str) -> str:
    """Return a name as it is if it can be printed on a line, else as a JSON string in ASCII."""
    return text if text.isprintable() and not _UNSAFE.search(text) else json.dumps(text)


def quote(text: str) -> str:
    """Return a name as a JSON string, to stand among other words: it ends where the quotation marks say."""
    return json.dumps(text, ensure_ascii=not text.isprintable() or bool(_UNSAFE.search(text)))


def write_path(path: str) -> str:
    """Return a path to begin a row with: behind `./` if it could be mistaken for a row that is no path."""
    shown = one_line(path)
    return f"./{shown}" if _OTHER_ROW.match(shown) else shown


def name_paths(paths: Sequence[str]) -> Iterator[list[str]]:
    """Yield for each path the rows that name it, in a short way.

    Names of neighbours in a directory stand behind tabs, below a row with the directory. Such a row belongs to the
    first of them.
    """
    yield from _name_short(paths, 0)[1]


def _name_short(paths: Sequence[str], start: int, level: int = 0) -> tuple[int, list[list[str]]]:
    """Return the cost in characters and the rows of neighbours whose paths are the same up to `start`."""
    size, rows = 0, []
    for is_deeper, neighbours in groupby(paths, lambda path: path[start : path.find("/", start) + 1]):
        some = list(neighbours)
        if not is_deeper or len(some) == 1 or level == _LEVELS:
            below = sum(len(path) + 1 for path in some), [[write_path(path)] for path in some]
        else:
            below = _name_short(some, start + len(is_deeper), level + 1)
        size += below[0]
        rows += below[1]
    headed = start + 1 + _HEADING + sum(len(path) - start + 2 for path in paths)
    if start and len(paths) > 1 and headed <= size:
        first, *others = [[f"\t{one_line(path[start:])}"] for path in paths]
        return headed, [[write_path(paths[0][:start]), *first], *others]
    return size, rows


def below_paths(entries: Iterable[Result], rows_of: Callable[[list[Result]], Iterable[str]]) -> Iterator[str]:
    """Yield the rows of entries of a result, those of each file below its path."""
    of_files = [(path, list(some)) for path, some in groupby(entries, lambda entry: entry["path"])]
    for named, (_, some) in zip(name_paths([path for path, _ in of_files]), of_files, strict=True):
        yield from named
        yield from rows_of(some)


def visible_json(text: str) -> str:
    """Return JSON text that is not ASCII with unsafe characters as JSON escapes, so that its value stays the same."""
    return _UNSAFE.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def number_lines(lines: Result, first: int) -> list[str]:
    """Return rows of lines with their numbers, from `first` on."""
    return [
        f"{number}\t{visible(text)}{CLIPPED if clipped else ''}"
        for number, (text, clipped) in enumerate(split_clipped(lines), first)
    ]


def split_clipped(lines: Result) -> Iterator[tuple[str, bool]]:
    """Return each line of a text and whether it was clipped: those are the longest, with all that a line may have."""
    texts = lines["text"].split("\n")
    longest = max(map(len, texts)) if lines.get("clipped") else -1
    return ((text, len(text) == longest) for text in texts)


def tell_clipped(texts: list[Result], args: Asked, more: str = "raise max_line_chars") -> str:
    """Say that lines were clipped, and what gives `more` of them, if it was not the answer that had no more room."""
    longest = max((len(text) for one in texts if one.get("clipped") for text in one["text"].split("\n")), default=0)
    if not longest:
        return ""
    # A line that had all of max_line_chars was clipped by it; a shorter one had no more room in the answer.
    return f"; … clipped, {more if longest >= args.get('max_line_chars', 0) else 'the answer is full'}"


def symbol_rows(symbols: list[Result], asked: str | None = None) -> Iterator[str]:
    """Yield a row for each symbol of a file: its lines, its kind, its name with its containers.

    Where kind and containers are those of the row above, a dot stands for them. A name that was asked for is left out.
    """
    above = None
    for one in symbols:
        container, name = one.get("container"), one["name"]
        lines = write_range(one.get("start_line") or one["line"], one.get("end_line"))
        if name == asked:
            kind = [] if container and one["kind"] in _FUNCTIONS else [one["kind"]]
            yield f"{lines}\t{' '.join([*kind, *([f'in {one_line(container)}'] if container else [])])}"
        elif above == (one["kind"], container):
            yield f"{lines}\t{one_line(f'.{name}')}"
        else:
            yield f"{lines}\t{one['kind']} {one_line(f'{container}.{name}' if container else name)}"
        above = one["kind"], container


def scope_row(hit: Result) -> str:
    """Return the row that names the definition around a hit; empty outside of all."""
    scope = hit.get("scope")
    if scope is None:
        return ""
    return f"in {name_scope(scope)} {write_range(scope['line'], scope['end_line'])}"


def name_scope(scope: Result) -> str:
    """Return the name of a definition behind its kind, which functions do without."""
    name = one_line(scope["name"])
    return name if scope["kind"] in _FUNCTIONS else f"{scope['kind']} {name}"


def write_range(first: int, last: int | None) -> str:
    """Return lines as `3-5`, `3`, or `3-?` where the last is not known."""
    return str(first) if first == last else f"{first}-{last or '?'}"
