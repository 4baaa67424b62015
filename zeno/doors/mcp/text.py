"""Results as text for language models: numbered lines under their path, and one last line about completeness.

The text leaves out digests and measurements; the structured content beside it has everything. Every line of a file
follows its number and a tab, so that no content of a file can be mistaken for a path, another line or the last line.
"""

import json
from collections.abc import Callable, Iterator
from itertools import groupby

from zeno.doors.mcp.status import Asked, Result, completeness, count, cut, next_peek, next_ranges
from zeno.doors.plain_text import pairs, plain
from zeno.doors.visible import one_line, visible, visible_json
from zeno.text.symbols import language_of

_CLIPPED = " [clipped]"


def text_of(op: str, result: Result, request_id: str | None = None, args: Asked | None = None) -> str:
    """Return the text of the result of a call with these arguments.

    Hints stand before the last line. With `request_id`, the last line names it, for claims to cite.
    """
    body, status = _TEXTS.get(op, _other)(result, args or {})
    told = [status] if status else []
    if "budget" in result.get("metrics", {}):
        told.append(f"budget left: {pairs(result['metrics']['budget'])}")
    if request_id is not None:
        told.append(f"request {request_id}")
    return "\n".join([*body, *_hints(result), *([f"[{'; '.join(told)}]"] if told else [])])


def _read_file(result: Result, args: Asked) -> tuple[list[str], str]:
    if "ranges" in result:
        return _ranges(result, args)
    path, first, last, total = (result[name] for name in ("path", "start_line", "end_line", "total_lines"))
    if last < first:
        return [], f"{one_line(path)}: no lines here, the file has {total}"
    status = f"{one_line(path)}: lines {first}-{last} of {total}"
    if result["truncated"]:
        status += f"; cut by {', '.join(result['truncated_by'])}, continue with start_line={last + 1}"
    return _numbered(result, first, last), status + _clipped([result], args)


def _ranges(result: Result, args: Asked) -> tuple[list[str], str]:
    """Several ranges, each below a row that names its path and lines."""
    ranges = [result, *result["ranges"]]
    body: list[str] = []
    for one in ranges:
        path, first, last, total = (one[name] for name in ("path", "start_line", "end_line", "total_lines"))
        if last < first:
            why = f"no room left for line {first} of {total}" if first <= total else f"no lines here, it has {total}"
            body.append(f"{one_line(path)}: {why}")
            continue
        body.append(f"{one_line(path)}: lines {first}-{last} of {total}{_clipped([one], args)}")
        body += _numbered(one, first, last)
    status = count(len(ranges), "range")
    if result["truncated"]:
        status += f"; cut by {', '.join(result['truncated_by'])}, continue with {next_ranges(ranges, args)}"
    return body, status


def _peek(result: Result, args: Asked) -> tuple[list[str], str]:
    head, tail, total = result["head"], result["tail"], result["total_lines"]
    body = _numbered(head, head["start_line"], tail["end_line"]) if head["end_line"] else []
    if tail["end_line"]:
        # On a short file the tail repeats lines of the head.
        rows = _numbered(tail, tail["start_line"], tail["end_line"])
        seen = max(0, head["end_line"] - tail["start_line"] + 1)
        gap = ["..."] if tail["start_line"] > head["end_line"] + 1 else []
        body += gap + rows[seen:]
    status = f"{one_line(result['path'])}: {count(total, 'line')}"
    if result.get("truncated") and (rest := next_peek(result, args)):
        status += f"; cut by max_chars, continue with {rest}"
    return body, status + _clipped([head, tail], args)


def _numbered(lines: Result, first: int, last: int) -> list[str]:
    width = len(str(last))
    return [
        f"{number:>{width}}\t{visible(text)}{_CLIPPED if clipped else ''}"
        for number, (text, clipped) in enumerate(_with_clipped(lines), first)
    ]


def _with_clipped(lines: Result) -> Iterator[tuple[str, bool]]:
    """Each line of a text and whether it was clipped. Clipped ones are the longest: they have all that a line may."""
    texts = lines["text"].split("\n")
    longest = max(map(len, texts)) if lines.get("clipped") else -1
    return ((text, len(text) == longest) for text in texts)


def _grep(result: Result, args: Asked) -> tuple[list[str], str]:
    if "hits" not in result:
        return _other(result, args)
    if "total" in result:
        return [], f"{_matching(**result['total'])}; {completeness(result, args, 'searched')}"
    if "counts" in result:
        return _counts(result, args)
    hits = result["hits"]
    body: list[str] = []
    files = 0
    for path, of_file in groupby(hits, lambda hit: hit["path"]):
        files += 1
        body += [one_line(path), *_rows(list(of_file))]
    found = f"{count(len(hits), 'hit')} in {count(files, 'file')}" if hits else "no hits"
    return body, f"{found}; {completeness(result, args, 'searched')}"


def _counts(result: Result, args: Asked) -> tuple[list[str], str]:
    """The files that match, each behind its number of lines."""
    counts = result["counts"]
    width = max((len(str(one["lines"])) for one in counts), default=0)
    body = [f"{one['lines']:>{width}}\t{one_line(one['path'])}" for one in counts]
    found = _matching(files=len(counts), lines=sum(one["lines"] for one in counts))
    return body, f"{found}; {completeness(result, args, 'searched')}"


def _matching(files: int, lines: int) -> str:
    return f"{count(lines, 'matching line')} in {count(files, 'file')}" if files else "no hits"


def _rows(hits: list[Result]) -> Iterator[str]:
    """The hits of one file with their context, each line once; a hit is marked where there are other lines."""
    lines: dict[int, tuple[Result, bool]] = {}
    for hit in hits:
        for line in hit.get("context", ()):
            lines.setdefault(line["line"], (line, False))
    marked = bool(lines)
    for hit in hits:
        lines.update((row["line"], (row, True)) for row in _own_lines(hit))
    width = len(str(max(lines)))
    before = None
    for number in sorted(lines):
        line, is_hit = lines[number]
        if marked and before is not None and number > before + 1:
            yield "--"
        before = number
        mark = ("> " if is_hit else "  ") if marked else ""
        cut = f", goes on to line {line['goes_on_to']}" if "goes_on_to" in line else ""
        # The text of a hit may begin inside its line.
        around = " around the match" if is_hit and not cut else ""
        clipped = f" [clipped{around}{cut}]" if line.get("clipped") else ""
        yield f"{mark}{number:>{width}}\t{visible(line['text'])}{clipped}"


def _own_lines(hit: Result) -> Iterator[Result]:
    """The lines of a hit."""
    for number, (text, clipped) in enumerate(_with_clipped(hit), hit["line"]):
        yield {"line": number, "text": text, "clipped": clipped}
    if number < hit.get("end_line", 0):
        yield {"line": number, "text": text, "clipped": True, "goes_on_to": hit["end_line"]}


def _list_files(result: Result, args: Asked) -> tuple[list[str], str]:
    if "files" not in result:
        return _other(result, args)
    if "tree" in result:
        return _tree(result, args)
    files = result["files"]
    if not all(isinstance(path, str) for path in files):
        return _other(result, args)
    return [one_line(path) for path in files], f"{count(len(files), 'file')}; {completeness(result, args, 'selected')}"


def _tree(result: Result, args: Asked) -> tuple[list[str], str]:
    """Directories behind their numbers of files and lines.

    A plus where the lines of some files were not counted, a question mark where those of none were.
    """
    body = []
    for one in result["tree"]:
        none = one["files_not_counted"] == one["files"]
        lines = "? lines" if none else f"{count(one['lines'], 'line')}{'+' if one['files_not_counted'] else ''}"
        body.append(f"{count(one['files'], 'file')}, {lines}\t{one_line(one['path'])}")
    status = f"{len(body)} {'directory' if len(body) == 1 else 'directories'}; {completeness(result, args, 'selected')}"
    # The root comes first and holds all files.
    not_counted = result["tree"][0]["files_not_counted"] if body else 0
    return body, status + (f"; lines of {count(not_counted, 'file')} not counted (+, ?)" if not_counted else "")


def _extract_symbols(result: Result, _args: Asked) -> tuple[list[str], str]:
    symbols = result["symbols"]
    width = len(str(symbols[-1]["line"])) if symbols else 0
    body = [f"{one['line']:>{width}}\t{one['kind']} {one_line(one['name'])}" for one in symbols]
    status = f"{one_line(result['path'])}: {count(len(symbols), 'symbol')}"
    if not symbols and language_of(result["path"]) is None:
        status += " (its language is not known); use peek or grep"
    return body, status + (f"; {cut(result)}" if result["truncated"] else "")


def _stat(result: Result, _args: Asked) -> tuple[list[str], str]:
    return [_stat_row(item) for item in result["items"]], ""


def _stat_row(item: Result) -> str:
    path = one_line(item["path"])
    if not item["exists"]:
        return f"{path}: {visible(item['error'])}"
    kind = "file" if item["is_file"] else "directory" if item["is_dir"] else "other"
    return f"{path}: {kind}, {item['size']} bytes, {item['mtime_iso']}"


_MATCHES = {
    "white_space": "but for white space at the ends of lines",
    "run": "some of the cited lines",
    "part": "a part of the cited line",
}


def _verify(result: Result, _args: Asked) -> tuple[list[str], str]:
    body = []
    for item in result["items"]:
        row = f"{one_line(item['path'])}:{item['start_line']}-{item['end_line']} {item['verdict']}"
        if item.get("match", "exact") != "exact":
            row += f" ({_MATCHES[item['match']]})"
        if "differs_at" in item:
            row += f" at line {item['differs_at']}"
        if "moved_to" in item:
            row += f" to {item['moved_to']['start_line']}-{item['moved_to']['end_line']}"
        body.append(row + (f" ({visible(item['reason'])})" if "reason" in item else ""))
    wrong = sum(item["verdict"] != "ok" for item in result["items"])
    return body, f"{count(len(body), 'citation')}, {f'{wrong} wrong' if wrong else 'ok'}"


def _describe(result: Result, _args: Asked) -> tuple[list[str], str]:
    """JSON, which models read best where there are schemas in it."""
    told = {name: value for name, value in result.items() if name != "metrics"}
    return [visible_json(json.dumps(told, ensure_ascii=False, separators=(",", ":")))], ""


def _other(result: Result, _args: Asked) -> tuple[list[str], str]:
    return [visible(plain({name: value for name, value in result.items() if name != "metrics"}))], ""


_TEXTS: dict[str, Callable[[Result, Asked], tuple[list[str], str]]] = {
    "describe": _describe,
    "extract_symbols": _extract_symbols,
    "grep": _grep,
    "list_files": _list_files,
    "peek": _peek,
    "read_file": _read_file,
    "stat": _stat,
    "verify": _verify,
}


def _clipped(texts: list[Result], args: Asked) -> str:
    """Say that lines were clipped, and which limit did it."""
    longest = max((len(text) for one in texts if one.get("clipped") for text in one["text"].split("\n")), default=0)
    if not longest:
        return ""
    # A line that had all of max_line_chars was clipped by it; a shorter one had no more room in the answer.
    by = "max_line_chars" if longest >= args.get("max_line_chars", 0) else "max_chars"
    return f"; long lines clipped, raise {by} to see more"


def _hints(result: Result) -> list[str]:
    return [f"hint: {visible(str(hint))}" for hint in result.get("hints", ())]
