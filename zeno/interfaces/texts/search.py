"""The result of search as text for models."""

from collections.abc import Iterator

from zeno.interfaces.rows import CLIPPED, Asked, Result, one_line, visible, write_path
from zeno.interfaces.status import count
from zeno.results.selected_files import in_words

_ROW_CHARS = 180
"""Characters for one file: ten of them and the last line have 2,000. A path is never cut, nor left out."""
_MOST_TERMS = 6


def write_text(result: Result, _args: Asked) -> tuple[list[str], str]:
    """Return each file with its range, its enclosing definition and its best lines, best first."""
    body = [row for one in result["results"] for row in _rows(one)]
    found = f"{count(len(result['results']), 'file')}, best first" if result["results"] else "nothing relevant"
    absent = [one_line(term["term"]) for term in result["terms"] if not term["files"]]
    told = [found, *([f"in no file: {', '.join(absent[:_MOST_TERMS])}"] if absent else [])]
    if "max_results" in result.get("truncated_by", ()):
        told.append("others match less")
    looked = "all" if result["complete"] else "not all"
    told.append(f"looked at {looked} of {count(result['files_selected'], 'file')}")
    if left_out := in_words(result["left_out"]):
        told.append(left_out)
    return body, "; ".join(told)


def _rows(one: Result) -> Iterator[str]:
    scope = f" in {one['scope']['kind']} {one_line(one['scope']['name'])}" if "scope" in one else ""
    place = f"{write_path(one['path'])}:{one['start_line']}-{one['end_line']}"
    head = f"{place}{scope}" if len(place) + len(scope) < _ROW_CHARS else place
    yield head
    room = _ROW_CHARS - len(head) - 1
    for line in one["lines"]:
        # The indentation of a single line tells nothing.
        text = visible(line["text"]).strip()
        prefix = f"{line['line']}\t"
        most = room - len(prefix) - 1
        if most < min(len(text), 40):
            return
        is_cut = len(text) > most or line.get("clipped", False)
        row = f"{prefix}{text[: most - len(CLIPPED)] + CLIPPED if is_cut else text}"
        yield row
        room -= len(row) + 1
