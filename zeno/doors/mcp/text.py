"""Results as text for language models: numbered lines under their path, and one last line about completeness.

The text leaves out digests and measurements; the structured content beside it has everything. Every line of a file
follows its number and a tab, so that no content of a file can be mistaken for a path, another line or the last line.
"""

import json
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from zeno.doors.plain_text import pairs, plain
from zeno.doors.visible import one_line, visible
from zeno.results.left_out import in_words, selected_in_words

Result = dict[str, Any]


def text_of(op: str, result: Result, request_id: str | None = None) -> str:
    """Return the text of a result. With `request_id`, the last line names it, for claims to cite."""
    body, status = _TEXTS.get(op, _other)(result)
    told = [status] if status else []
    if "budget" in result.get("metrics", {}):
        told.append(f"budget left: {pairs(result['metrics']['budget'])}")
    if request_id is not None:
        told.append(f"request {request_id}")
    return "\n".join([*body, *([f"[{'; '.join(told)}]"] if told else []), *_hints(result)])


def _read_file(result: Result) -> tuple[list[str], str]:
    if "ranges" in result:
        return _ranges(result)
    path, first, last, total = (result[name] for name in ("path", "start_line", "end_line", "total_lines"))
    if last < first:
        return [], f"{one_line(path)}: no lines here, the file has {total}"
    status = f"{one_line(path)}: lines {first}-{last} of {total}"
    if result["truncated"]:
        status += f"; cut by {', '.join(result['truncated_by'])}, continue with start_line={last + 1}"
    return _numbered(result["text"], first, last), status + _clipped(result)


def _ranges(result: Result) -> tuple[list[str], str]:
    """Several ranges, each below a row that names its path and lines."""
    ranges = [result, *result["ranges"]]
    body: list[str] = []
    for one in ranges:
        path, first, last, total = (one[name] for name in ("path", "start_line", "end_line", "total_lines"))
        if last < first:
            why = f"no room left for line {first} of {total}" if first <= total else f"no lines here, it has {total}"
            body.append(f"{one_line(path)}: {why}")
            continue
        body.append(f"{one_line(path)}: lines {first}-{last} of {total}{_clipped(one)}")
        body += _numbered(one["text"], first, last)
    status = _count(len(ranges), "range")
    if result["truncated"]:
        status += f"; cut by {', '.join(result['truncated_by'])}, continue with {_missing(ranges)}"
    return body, status


def _missing(ranges: list[Result]) -> str:
    """Say where to go on after ranges that a limit cut: behind the last lines read, then those that found no room."""
    read = [one for one in ranges if one["end_line"] >= one["start_line"]][-1:]
    rest = [one for one in ranges if one["end_line"] < one["start_line"] <= one["total_lines"]]
    places = [(one["path"], one["end_line"] + 1) for one in read if one["end_line"] < one["total_lines"]]
    places += [(one["path"], one["start_line"]) for one in rest]
    return ", ".join(f"path={json.dumps(path)} start_line={line}" for path, line in places)


def _peek(result: Result) -> tuple[list[str], str]:
    head, tail, total = result["head"], result["tail"], result["total_lines"]
    body = _numbered(head["text"], head["start_line"], tail["end_line"]) if head["end_line"] else []
    if tail["end_line"]:
        # On a short file the tail repeats lines of the head.
        rows = _numbered(tail["text"], tail["start_line"], tail["end_line"])
        seen = max(0, head["end_line"] - tail["start_line"] + 1)
        gap = ["..."] if tail["start_line"] > head["end_line"] + 1 else []
        body += gap + rows[seen:]
    status = f"{one_line(result['path'])}: {total} lines"
    if result.get("truncated"):
        status += "; cut by max_chars, ask for fewer lines or read_file"
    return body, status + (_clipped(head) or _clipped(tail))


def _numbered(text: str, first: int, last: int) -> list[str]:
    width = len(str(last))
    return [f"{number:>{width}}\t{visible(line)}" for number, line in enumerate(text.split("\n"), first)]


def _grep(result: Result) -> tuple[list[str], str]:
    if "hits" not in result:
        return _other(result)
    if "total" in result:
        return [], f"{_matching(**result['total'])}; {_completeness(result, 'searched')}"
    if "counts" in result:
        return _counts(result)
    hits = result["hits"]
    body: list[str] = []
    files = 0
    for path, of_file in groupby(hits, lambda hit: hit["path"]):
        files += 1
        body += [one_line(path), *_rows(list(of_file))]
    found = f"{_count(len(hits), 'hit')} in {_count(files, 'file')}" if hits else "no hits"
    return body, f"{found}; {_completeness(result, 'searched')}"


def _counts(result: Result) -> tuple[list[str], str]:
    """The files that match, each behind its number of lines."""
    counts = result["counts"]
    width = max((len(str(one["lines"])) for one in counts), default=0)
    body = [f"{one['lines']:>{width}}\t{one_line(one['path'])}" for one in counts]
    found = _matching(files=len(counts), lines=sum(one["lines"] for one in counts))
    return body, f"{found}; {_completeness(result, 'searched')}"


def _matching(files: int, lines: int) -> str:
    return f"{_count(lines, 'matching line')} in {_count(files, 'file')}" if files else "no hits"


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
        clipped = f" [clipped{cut}]" if line.get("clipped") else ""
        yield f"{mark}{number:>{width}}\t{visible(line['text'])}{clipped}"


def _own_lines(hit: Result) -> Iterator[Result]:
    """The lines of a hit. Clipped ones are the longest: all have as many characters as a line may have."""
    texts = hit["text"].split("\n")
    longest = max(map(len, texts)) if hit.get("clipped") else -1
    for number, text in enumerate(texts, hit["line"]):
        yield {"line": number, "text": text, "clipped": len(text) == longest}
    if number < hit.get("end_line", 0):
        yield {"line": number, "text": text, "clipped": True, "goes_on_to": hit["end_line"]}


def _list_files(result: Result) -> tuple[list[str], str]:
    if "files" not in result:
        return _other(result)
    if "tree" in result:
        return _tree(result)
    files = result["files"]
    if not all(isinstance(path, str) for path in files):
        return _other(result)
    return [one_line(path) for path in files], f"{_count(len(files), 'file')}; {_completeness(result, 'selected')}"


def _tree(result: Result) -> tuple[list[str], str]:
    """Directories behind their numbers of files and lines; a plus where the lines of some files were not counted."""
    body = []
    for one in result["tree"]:
        lines = f"{_count(one['lines'], 'line')}{'+' if one['files_not_counted'] else ''}"
        body.append(f"{_count(one['files'], 'file')}, {lines}\t{one_line(one['path'])}")
    status = f"{len(body)} {'directory' if len(body) == 1 else 'directories'}; {_completeness(result, 'selected')}"
    # The root comes first and holds all files.
    not_counted = result["tree"][0]["files_not_counted"] if body else 0
    return body, status + (f"; lines of {_count(not_counted, 'file')} not counted (+)" if not_counted else "")


def _extract_symbols(result: Result) -> tuple[list[str], str]:
    symbols = result["symbols"]
    width = len(str(symbols[-1]["line"])) if symbols else 0
    body = [f"{one['line']:>{width}}\t{one['kind']} {one_line(one['name'])}" for one in symbols]
    status = f"{one_line(result['path'])}: {_count(len(symbols), 'symbol')}"
    return body, status + (f"; {_cut(result)}" if result["truncated"] else "")


def _stat(result: Result) -> tuple[list[str], str]:
    return [_stat_row(item) for item in result["items"]], ""


def _stat_row(item: Result) -> str:
    path = one_line(item["path"])
    if not item["exists"]:
        return f"{path}: {visible(item['error'])}"
    kind = "file" if item["is_file"] else "directory" if item["is_dir"] else "other"
    return f"{path}: {kind}, {item['size']} bytes, {item['mtime_iso']}"


def _verify(result: Result) -> tuple[list[str], str]:
    body = []
    for item in result["items"]:
        row = f"{one_line(item['path'])}:{item['start_line']}-{item['end_line']} {item['verdict']}"
        if "moved_to" in item:
            row += f" to {item['moved_to']['start_line']}-{item['moved_to']['end_line']}"
        body.append(row + (f" ({visible(item['reason'])})" if "reason" in item else ""))
    wrong = sum(item["verdict"] != "ok" for item in result["items"])
    return body, f"{wrong} of {_count(len(body), 'citation')} wrong" if wrong else f"{_count(len(body), 'citation')} ok"


def _other(result: Result) -> tuple[list[str], str]:
    return [visible(plain({name: value for name, value in result.items() if name != "metrics"}))], ""


_TEXTS: dict[str, Callable[[Result], tuple[list[str], str]]] = {
    "extract_symbols": _extract_symbols,
    "grep": _grep,
    "list_files": _list_files,
    "peek": _peek,
    "read_file": _read_file,
    "stat": _stat,
    "verify": _verify,
}


def _completeness(result: Result, verb: str) -> str:
    """Say whether a list is all there is, what it covers, and where it is cut what to do."""
    told = []
    if result["truncated"]:
        told.append(_cut(result))
    elif "complete" in result:
        told.append("complete" if result["complete"] else "not complete")
    skipped = [f"{count} {name}" for name, count in result.get("skipped", {}).items() if count]
    if skipped:
        told.append(f"skipped: {', '.join(skipped)}")
    if "files_selected" in result:
        told.append(selected_in_words(result["files_selected"], verb))
    left_out = in_words(result.get("left_out", {}))
    if left_out:
        told.append(left_out)
    return "; ".join(told)


def _cut(result: Result) -> str:
    limits = ", ".join(result["truncated_by"])
    go_on = f'continue with cursor="{result["cursor"]}" or narrow' if "cursor" in result else "narrow the request"
    return f"there is more: cut by {limits}, {go_on}"


def _clipped(result: Result) -> str:
    return "; long lines clipped, see max_line_chars" if result.get("clipped") else ""


def _hints(result: Result) -> list[str]:
    return [f"hint: {visible(str(hint))}" for hint in result.get("hints", ())]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
