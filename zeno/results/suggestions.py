"""Suggest existing paths when a path is not found ("did you mean")."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from zeno.errors import NotFound
from zeno.search.corpus import Corpus

MAX_SUGGESTIONS = 3
# Names in one directory beyond this many are not compared: each comparison takes some microseconds.
MAX_COMPARED = 2000


class _Everything(NamedTuple):
    """The rules by which files are suggested: the defaults of `list_files`, without exclusions."""

    include_hidden: bool = False
    exclude_dirs: list[str] = []  # noqa: RUF012 - never changed
    exclude_globs: list[str] = []  # noqa: RUF012 - never changed
    max_files: int = 20_000
    gitignore: bool = False


@contextmanager
def suggesting(path: str, corpus: Corpus) -> Iterator[None]:
    """Add suggestions to a `NotFound` raised inside the block."""
    try:
        yield
    except NotFound as error:
        meant = similar(path, corpus.snapshot(_Everything()).candidates.paths)
        if not meant:
            raise
        raise NotFound(path, f"{error.why}; did you mean {alternatives(meant)}?") from None


def alternatives(paths: list[str]) -> str:
    """Return one or more paths as `'a', 'b' or 'c'`."""
    *others, last = map(repr, paths)
    return f"{', '.join(others)} or {last}" if others else last


def similar(path: str, paths: list[str]) -> list[str]:
    """Return a few of the sorted `paths` like `path`: the same name elsewhere, else similar names in its directory."""
    steps = [step for step in path.split("/") if step not in ("", ".")]
    if not steps:
        return []
    whole, name = "/".join(steps).lower(), steps[-1].lower()
    folded = [one for one in paths if one.lower() == whole]
    if folded:
        return folded[:MAX_SUGGESTIONS]
    same = [one for one in paths if one.rpartition("/")[2].lower() == name]
    if same:
        # Paths that share the most components come first.
        return sorted(same, key=lambda one: (-_shared(whole, one.lower()), one))[:MAX_SUGGESTIONS]
    from difflib import get_close_matches

    folder = "/".join(steps[:-1])
    beside = [one for one in paths if one.rpartition("/")[0] == folder][:MAX_COMPARED]
    names = {one.rpartition("/")[2]: one for one in beside}
    return [names[close] for close in get_close_matches(steps[-1], names, MAX_SUGGESTIONS, 0.75)]


def _shared(one: str, other: str) -> int:
    return len(set(one.split("/")) & set(other.split("/")))
