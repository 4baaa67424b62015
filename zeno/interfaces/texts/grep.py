"""The result of grep as text for models."""

from collections.abc import Iterator
from itertools import groupby

from zeno.interfaces.rows import (
    CLIPPED,
    Asked,
    Result,
    below_paths,
    one_line,
    scope_row,
    split_clipped,
    tell_clipped,
    visible,
)
from zeno.interfaces.status import completeness, count
from zeno.interfaces.texts import other


def write_text(result: Result, args: Asked) -> tuple[list[str], str]:
    """Return the hits below their paths, or counts."""
    if "hits" not in result:
        return other.write_text(result, args)
    if "total" in result:
        return [], f"{_count_matches(**result['total'])}; {completeness(result, args)}"
    if "counts" in result:
        return _counts(result, args)
    hits = result["hits"]
    body = list(below_paths(hits, _hit_rows))
    files = len({hit["path"] for hit in hits})
    found = f"{count(len(hits), 'hit')} in {count(files, 'file')}" if hits else "no hits"
    shown = [line for hit in hits for line in (hit, *hit.get("context", ()))]
    return body, f"{found}; {completeness(result, args)}{tell_clipped(shown, args, 'read_file has more')}"


def _counts(result: Result, args: Asked) -> tuple[list[str], str]:
    """The files that match, each behind its number of lines."""
    counts = result["counts"]
    body = [f"{one['lines']}\t{one_line(one['path'])}" for one in counts]
    found = _count_matches(files=len(counts), lines=sum(one["lines"] for one in counts))
    return body, f"{found}; {completeness(result, args)}"


def _count_matches(files: int, lines: int) -> str:
    return f"{count(lines, 'matching line')} in {count(files, 'file')}" if files else "no hits"


def _hit_rows(hits: list[Result]) -> Iterator[str]:
    """The hits of one file below the definitions around them.

    With context, lines of several definitions stand together: then the first hit of each stands below it.
    """
    if any("context" in hit for hit in hits):
        yield from _rows(hits, {hit["line"]: scope_row(hit) for hit in hits})
        return
    for scope, of_scope in groupby(hits, scope_row):
        yield from [scope] if scope else []
        yield from _rows(list(of_scope), {})


def _rows(hits: list[Result], scopes: dict[int, str]) -> Iterator[str]:
    """Hits with their context, each line once; a hit is marked where there are other lines. `scopes` are by line.

    A line that stands alone needs no indentation.
    """
    lines: dict[int, tuple[Result, bool]] = {}
    for hit in hits:
        for line in hit.get("context", ()):
            lines.setdefault(line["line"], (line, False))
    marked = bool(lines)
    alone = not marked and all(hit.get("end_line", hit["line"]) == hit["line"] for hit in hits)
    for hit in hits:
        lines.update((row["line"], (row, True)) for row in _own_lines(hit))
    before, within = None, ""
    for number in sorted(lines):
        line, is_hit = lines[number]
        if marked and before is not None and number > before + 1:
            yield "--"
        before = number
        if scopes.get(number, within) != within:
            within = scopes[number]
            yield from [within] if within else []
        mark = ("> " if is_hit else "  ") if marked else ""
        text = visible(line["text"])
        text = text.strip() if alone else text
        if line.get("clipped"):
            goes_on = f" [goes on to line {line['goes_on_to']}]" if "goes_on_to" in line else ""
            # The text of a hit may begin inside its line.
            text = f"{CLIPPED if is_hit and not goes_on else ''}{text}{CLIPPED}{goes_on}"
        which = f" [{','.join(map(str, line['patterns']))}]" if "patterns" in line else ""
        yield f"{mark}{number}{which}\t{text}"


def _own_lines(hit: Result) -> Iterator[Result]:
    """The lines of a hit."""
    which = {"patterns": hit["patterns"]} if "patterns" in hit else {}
    for number, (text, clipped) in enumerate(split_clipped(hit), hit["line"]):
        yield {"line": number, "text": text, "clipped": clipped, **which}
    if number < hit.get("end_line", 0):
        yield {"line": number, "text": text, "clipped": True, "goes_on_to": hit["end_line"]}
