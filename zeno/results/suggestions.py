"""Suggest existing paths when a path is not found ("did you mean")."""

from collections.abc import Iterator
from contextlib import contextmanager

from zeno.errors import NotFound
from zeno.meter import Meter
from zeno.search.corpus import Corpus
from zeno.search.selection import Rules

MAX_SUGGESTIONS = 3
# Names in one directory beyond this many are not compared: each comparison takes some microseconds.
MAX_COMPARED = 2000
# Nor are names beyond this many pairs of characters: a comparison may look at each pair several times.
MAX_PAIRS = 1 << 21


@contextmanager
def suggest_paths(path: str, corpus: Corpus, meter: Meter) -> Iterator[None]:
    """Add suggestions to a `NotFound` raised inside the block. Without a cache that takes a walk of the tree."""
    try:
        yield
    except NotFound as error:
        if not corpus.is_warm:
            meter.expect_walk()
        meant = similar(path, _list_known(path, corpus))
        if not meant:
            raise
        raise NotFound(path, f"{error.why}; did you mean {alternatives(meant)}?") from None


def _list_known(path: str, corpus: Corpus) -> list[str]:
    """Return sorted paths of files; in a tree that is too large for all, the first ones and those near `path`."""
    first = corpus.snapshot(Rules()).candidates
    steps = _steps(path)
    if not first.cut or len(steps) < 2:
        return list(first.paths)
    # The directory above that of the file: either of the last two steps may be misspelt.
    near = "".join(f"{step}/" for step in steps[: max(1, len(steps) - 2)])
    return sorted({*first.paths, *corpus.snapshot(Rules(start=near)).candidates.paths})


def alternatives(paths: list[str]) -> str:
    """Return one or more paths as `'a', 'b' or 'c'`."""
    *others, last = map(repr, paths)
    return f"{', '.join(others)} or {last}" if others else last


def similar(path: str, paths: list[str]) -> list[str]:
    """Return a few of the sorted `paths` like `path`: the same name elsewhere, else similar names in its directory."""
    steps = _steps(path)
    if not steps:
        return []
    whole, name = "/".join(steps).lower(), steps[-1].lower()
    folded = [one for one in paths if one.lower() == whole]
    if folded:
        return folded[:MAX_SUGGESTIONS]
    same = [one for one in paths if one.rpartition("/")[2].lower() == name]
    if same:
        # Paths that share the most components come first.
        return sorted(same, key=lambda one: (-_count_shared(whole, one.lower()), one))[:MAX_SUGGESTIONS]
    from difflib import get_close_matches

    folder = "/".join(steps[:-1])
    beside = [one for one in paths if one.rpartition("/")[0] == folder][:MAX_COMPARED]
    names = {}
    pairs = 0
    for one in beside:
        close = one.rpartition("/")[2]
        pairs += len(close) * len(steps[-1])
        if pairs > MAX_PAIRS:
            break
        names[close] = one
    return [names[close] for close in get_close_matches(steps[-1], names, MAX_SUGGESTIONS, 0.75)]


def _steps(path: str) -> list[str]:
    return [step for step in path.split("/") if step not in ("", ".")]


def _count_shared(one: str, other: str) -> int:
    return len(set(one.split("/")) & set(other.split("/")))
