"""Which files an operation looks at: the candidates, and of these the ones that were asked for."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple, Protocol

from zeno.errors import OutsideRoot
from zeno.globs import Globs, matcher
from zeno.names import Paths, printed, raw
from zeno.tree import Tree


class Rules(Protocol):
    """The arguments that list_files and grep share."""

    @property
    def include_hidden(self) -> bool: ...
    @property
    def exclude_dirs(self) -> list[str]: ...
    @property
    def exclude_globs(self) -> list[str]: ...
    @property
    def max_files(self) -> int: ...


class Candidates(NamedTuple):
    """The first `max_files` regular files that the rules leave, and whether there are more."""

    paths: Paths
    cut: bool


def select(walked: Iterator[str], rules: Rules) -> Candidates:
    """Of files in sorted order, those that no exclude glob matches, capped: the same files on every machine."""
    excluded = matcher(rules.exclude_globs, "args.exclude_globs")
    left = (path for path in walked if not excluded(path)) if rules.exclude_globs else walked
    paths = Paths(islice(left, rules.max_files))
    return Candidates(paths, cut=next(left, None) is not None)


class Wanted:
    """The entries of `grep.paths`: each a glob, a file to the letter, or a directory with all below it."""

    def __init__(self, globs: Globs, entries: list[str]) -> None:
        self._globs = globs
        self._exact = frozenset(entries)
        self._below = tuple(entry.rstrip("/") + "/" for entry in entries)
        self._everything = "." in self._exact

    def of(self, paths: Paths) -> Paths:
        """The paths that are wanted, in order."""
        if self._everything:
            return paths
        globbed = frozenset(self._globs.of(paths))
        return Paths(path for path in paths if path in globbed or path in self._exact or path.startswith(self._below))


def under(tree: Tree, entries: Sequence[str], field: str) -> Wanted:
    """What `grep.paths` asks for; `field` names it in errors."""
    # All entries are looked at before one that takes everything is believed: another may be outside the root.
    wanted = [_relative(tree, entry, f"{field}[{index}]") for index, entry in enumerate(entries)]
    return Wanted(matcher(wanted, field), wanted)


def _relative(tree: Tree, entry: str, field: str) -> str:
    """An entry relative to the root, without `./` in front; `.` for the root itself."""
    if entry.startswith("/"):
        below = tree.inside(raw(entry, field))
        if below is None:
            raise OutsideRoot(entry)
        entry = "/".join(printed(name) for name in below if name not in (b"", b".")) or "."
    while entry.startswith("./"):
        entry = entry[2:].lstrip("/")
    depth = 0
    for step in entry.split("/"):
        depth += {"": 0, ".": 0, "..": -1}.get(step, 1)
        if depth < 0:
            raise OutsideRoot(entry)
    return entry or "."
