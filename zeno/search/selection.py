"""Which files an operation looks at: the candidates, and of these the ones that were asked for."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from zeno.errors import OutsideRoot
from zeno.files.tree import Tree
from zeno.files.walk import Run, Walked
from zeno.text.globs import matcher
from zeno.text.path_names import Paths, printed, raw
from zeno.text.regex import Matches

WILDCARD = re.compile(r"[*?\[{]")
"""What makes a glob more than a path."""
HERE = re.compile(r"\A(?:\./+)+")
SLASH = re.compile("/")
FEW = 32
"""To compare a path with fewer is faster than to take it apart; to compare it with thousands is not."""


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
    @property
    def gitignore(self) -> bool: ...


class Candidates(NamedTuple):
    """The first `max_files` regular files that the rules leave, whether there are more, and what else was met there."""

    paths: Paths
    cut: bool
    problems: list[Walked]
    """Names that are no candidates though no rule leaves them out; with a cut, those before the last candidate."""


def select(walked: Iterable[Run], rules: Rules, start: str = "") -> Candidates:
    """Of names in sorted order, from `start` on, those that no exclude glob matches, capped: the same everywhere."""
    excluded = matcher(rules.exclude_globs, "args.exclude_globs") if rules.exclude_globs else None
    paths = Paths()
    problems: list[Walked] = []
    for found, problem in walked:
        if start:
            found = [path for path in found if path >= start]
        if excluded:
            # What a directory holds that cannot be listed, no glob over files can know.
            found = [path for path in found if path.endswith("/") or not excluded(path)]
        if problem is not None:
            problems += [Walked(path, problem) for path in found]
            continue
        room = rules.max_files - len(paths)
        paths += found[:room]
        if len(found) > room:
            return Candidates(paths, True, [problem for problem in problems if problem.path < paths[-1]])
    return Candidates(paths, False, problems)


class Selection(NamedTuple):
    """Which of the candidates were asked for."""

    wanted: Callable[[str], bool]
    """Whether a file was asked for."""
    reaches: Callable[[str], bool]
    """Whether a file that was asked for could be below a directory, whose path ends in a slash."""
    pick: Callable[[Paths], list[str]]
    """Returns the files that were asked for: as `wanted` does for each, in one pass where that is possible."""
    entries: tuple[str, ...] | None = None
    """The entries of `grep.paths` relative to the root: selections with equal entries pick the same files. None where
    there is no such description."""

    def of(self, candidates: Candidates) -> Paths:
        """The files that were asked for; of everything, the very candidates."""
        picked = self.pick(candidates.paths)
        return picked if isinstance(picked, Paths) else Paths(picked)

    def problems(self, candidates: Candidates) -> "Counter[str]":
        """How many names of each problem stand between the client and the files that were asked for."""
        return Counter(
            problem
            for path, problem in candidates.problems
            if problem is not None and (self.reaches(path) if path.endswith("/") else self.wanted(path))
        )


EVERYTHING = Selection(lambda _: True, lambda _: True, lambda paths: paths, ())


def globbed(glob: str, field: str) -> Selection:
    """What one glob asks for."""
    globs = matcher([glob], field)
    return Selection(globs, _reach([glob]), globs.of)


def searched(search: Matches) -> Selection:
    """What a regular expression asks for."""
    return Selection(
        lambda path: search(path.encode()),
        lambda _: True,
        lambda paths: [path for path in paths if search(path.encode())],
    )


def under(tree: Tree, entries: Sequence[str], field: str) -> Selection:
    """What `grep.paths` asks for: each entry is a glob, a file to the letter, or a directory for all below it."""
    # All entries are looked at before one that takes everything is believed: another may be outside the root.
    asked = [_relative(tree, entry, f"{field}[{index}]") for index, entry in enumerate(entries)]
    globs = [entry for entry in asked if WILDCARD.search(entry)]
    matches = matcher(globs, field)
    if "." in asked:
        return EVERYTHING
    exact = set(asked)
    prefixes = tuple(sorted({entry.rstrip("/") + "/" for entry in asked}))
    below = _below(prefixes)

    def pick(paths: Paths) -> list[str]:
        found = [*matches.of(paths)] if globs else []
        globbed = len(found)
        for entry in exact:
            index = bisect_left(paths, entry)
            found += [entry] if paths[index : index + 1] == [entry] else []
        last = "/"
        for prefix in prefixes:
            if not prefix.startswith(last):
                # What begins with it stands together: no character is between a slash and a zero.
                found += paths[bisect_left(paths, prefix) : bisect_left(paths, prefix[:-1] + "0")]
                last = prefix
        return found if len(found) == globbed else list(dict.fromkeys(sorted(found)))

    wanted = lambda path: path in exact or below(path) or matches(path)  # noqa: E731
    return Selection(wanted, _reach(asked, prefixes), pick, tuple(asked))


def _below(folders: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a path lies below one of some directories, given with a slash at their ends."""
    if len(folders) < FEW:
        return lambda path: path.startswith(folders)
    known = frozenset(folders)
    return lambda path: any(path[: slash.end()] in known for slash in SLASH.finditer(path))


def _reach(globs: Sequence[str], prefixes: Sequence[str] = ()) -> Callable[[str], bool]:
    """Whether a file below a directory could match: what stands before a glob's first wildcard must not forbid it."""
    literals = [WILDCARD.split(glob, maxsplit=1)[0] for glob in globs]
    open_ended = (*(part for part, glob in zip(literals, globs, strict=True) if part != glob), *prefixes)
    targets = [*literals, *prefixes]
    return lambda path: (
        path == "./" or path.startswith(open_ended) or any(target.startswith(path) for target in targets)
    )


def _relative(tree: Tree, entry: str, field: str) -> str:
    """An entry relative to the root, without `./` in front; `.` for the root itself."""
    name = raw(entry, field)
    if entry.startswith("/"):
        below = tree.inside(name)
        if below is None:
            raise OutsideRoot(entry)
        entry = "/".join(printed(name) for name in below if name not in (b"", b".")) or "."
    entry = HERE.sub("", entry)
    depth = 0
    for step in entry.split("/"):
        depth += {"": 0, ".": 0, "..": -1}.get(step, 1)
        if depth < 0:
            raise OutsideRoot(entry)
    return entry or "."
