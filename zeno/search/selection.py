"""Select files: the candidates that rules leave, and those of them that a request asks for."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Self, TypeVar

from zeno.errors import Denied, OutsideRoot
from zeno.files.file_tree import FileTree
from zeno.files.policy import DENIED
from zeno.files.rules import EXCLUDED, LEFT_OUT, NameRules
from zeno.files.walk import LINKED, NOT_REGULAR, Walked, WalkedNames
from zeno.text.globs import WILDCARD, matcher, reach
from zeno.text.path_names import Paths, decode_name, raw
from zeno.text.regex import Matches

HERE = re.compile(r"\A(?:\./+)+")
SLASH = re.compile("/")
MAX_SELECTIONS = 4
"""Selections of a snapshot that are kept."""


class Rules(NamedTuple):
    """The rules of a request that decide which files are candidates. Equal rules leave the same files."""

    names: NameRules = NameRules()
    exclude_globs: tuple[str, ...] = ()
    max_files: int = 20_000
    start: str = ""
    """Paths before this one are left out."""

    @classmethod
    def of(cls, args: Any, start: str = "") -> Self:
        """Return the rules of an operation that lists or searches files, from a path on."""
        names = NameRules(args.include_hidden, frozenset(args.exclude_dirs), args.gitignore)
        return cls(names, tuple(args.exclude_globs), args.max_files, start)


K = TypeVar("K")
V = TypeVar("V")


class Recent(dict[K, V]):
    """The values that were kept last, by key: clients repeat few combinations of rules, and few selections."""

    def __init__(self, most: int = 8) -> None:
        super().__init__()
        self._most = most

    def keep(self, key: K, value: V) -> V:
        """Keep a value, and let the oldest go if there are too many. Return the value."""
        self.pop(key, None)
        while len(self) >= self._most:
            del self[next(iter(self))]
        self[key] = value
        return value


class Candidates(NamedTuple):
    """The first `max_files` regular files that the rules leave, whether there are more, and other names found on the
    way."""

    paths: Paths
    cut: bool
    problems: list[Walked]
    """Names that are no candidates though no rule leaves them out; with a cut, those before the last candidate."""
    left_out: "dict[str, LeftOutNames]"
    """Names that a rule leaves out, by rule; with a cut, those before the last candidate."""


class LeftOutNames(NamedTuple):
    """Names that one rule leaves out."""

    names: Paths
    """Sorted paths of files, links and whatever else is no directory."""
    directories: list[str]
    """Paths of directories that were not entered, each ending in a slash."""


def select(walked: Iterable[WalkedNames], rules: Rules) -> Candidates:
    """Take sorted names from a path on, drop those that an exclude glob matches, and cap them."""
    start = rules.start
    excluded = matcher(rules.exclude_globs, "args.exclude_globs") if rules.exclude_globs else None
    paths = Paths()
    problems: list[Walked] = []
    left_out: dict[str, list[str]] = {}
    cut = False
    for found, problem in walked:
        if start:
            found = [path for path in found if path >= start]
        if problem in LEFT_OUT:
            left_out.setdefault(problem, []).extend(found)
            continue
        if excluded:
            # No exclude glob applies to the unknown content of an unreadable directory.
            kept = [path for path in found if path.endswith("/") or not excluded(path)]
            if len(kept) < len(found):
                left_out.setdefault(EXCLUDED, []).extend(set(found).difference(kept))
            found = kept
        if problem is not None:
            problems += [Walked(path, problem) for path in found]
            continue
        room = rules.max_files - len(paths)
        paths += found[:room]
        if len(found) > room:
            cut = True
            problems = [problem for problem in problems if problem.path < paths[-1]]
            left_out = {rule: [path for path in names if path < paths[-1]] for rule, names in left_out.items()}
            break
    return Candidates(paths, cut, problems, {rule: _names(left_out[rule]) for rule in LEFT_OUT if rule in left_out})


def _names(paths: list[str]) -> LeftOutNames:
    directories = [path for path in paths if path.endswith("/")]
    return LeftOutNames(Paths(sorted(path for path in paths if not path.endswith("/"))), directories)


class Selection(NamedTuple):
    """Selects the candidates that a request asks for."""

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
        """Return the selected files; if everything is selected, the candidates themselves."""
        picked = self.pick(candidates.paths)
        return picked if isinstance(picked, Paths) else Paths(picked)

    def problems(self, candidates: Candidates) -> "Counter[str]":
        """Count the names with a problem that may concern the selected files, by problem."""
        return Counter(problem for _, problem in self.name_problems(candidates))

    def name_problems(self, candidates: Candidates) -> list[tuple[str, str]]:
        """Return the names with a problem that may concern the selected files, with the problem."""
        named = self._name_links(candidates)
        return [
            (path, NOT_REGULAR if problem == LINKED else problem)
            for path, problem in candidates.problems
            if problem is not None
            and (
                path in named if problem == LINKED else self.reaches(path) if path.endswith("/") else self.wanted(path)
            )
        ]

    def _name_links(self, candidates: Candidates) -> set[str]:
        """Return the links to directories that an entry names, alone or at the beginning of a path.

        Linked directories are left out by a rule. But one that was asked for by name is a gap.
        """
        linked = {path for path, problem in candidates.problems if problem == LINKED}
        steps = (entry.split("/") for entry in self.entries or () if linked)
        return linked.intersection("/".join(some[:length]) for some in steps for length in range(1, len(some) + 1))

    def count_left_out(self, candidates: Candidates) -> "Counter[str]":
        """How many names each rule left out though they were asked for; `directories` are those not entered."""
        counts: Counter[str] = Counter()
        for rule, (names, directories) in candidates.left_out.items():
            not_entered = sum(map(self.reaches, directories))
            counts[rule] = len(self.pick(names)) + not_entered
            counts["directories"] += not_entered
        named = self._name_links(candidates)
        for path, problem in candidates.problems:
            if problem == LINKED and path not in named and (self.reaches(path + "/") or self.wanted(path)):
                counts.update((LINKED, "directories"))
        return counts


EVERYTHING = Selection(lambda _: True, lambda _: True, lambda paths: paths, ())


def select_by_glob(glob: str, field: str) -> Selection:
    """The paths that one glob matches."""
    globs = matcher([glob], field)
    return Selection(globs, reach([glob]), globs.of)


def select_by_regex(search: Matches) -> Selection:
    """The paths that a regular expression matches."""
    return Selection(
        lambda path: search(path.encode()),
        lambda _: True,
        lambda paths: [path for path in paths if search(path.encode())],
    )


def under(tree: FileTree, entries: Sequence[str], field: str) -> Selection:
    """The paths that `grep.paths` selects: each entry is a glob, a file's path, or a directory for all below it."""
    # Check all entries, even after one that selects everything: another may be outside the root.
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
                # Paths below it are consecutive in the order: `0` is the character after `/`.
                found += paths[bisect_left(paths, prefix) : bisect_left(paths, prefix[:-1] + "0")]
                last = prefix
        return found if len(found) == globbed else list(dict.fromkeys(sorted(found)))

    wanted = lambda path: path in exact or below(path) or matches(path)  # noqa: E731
    return Selection(wanted, reach(asked, prefixes), pick, tuple(asked))


def _below(folders: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a path lies below one of some directories, given with a slash at their ends."""
    known = frozenset(folders)
    return lambda path: any(path[: slash.end()] in known for slash in SLASH.finditer(path))


def _relative(tree: FileTree, entry: str, field: str) -> str:
    """An entry relative to the root, without `./` in front; `.` for the root itself."""
    name = raw(entry, field)
    if entry.startswith("/"):
        below = tree.inside(name)
        if below is None:
            raise OutsideRoot(entry)
        entry = "/".join(decode_name(name) for name in below if name not in (b"", b".")) or "."
    entry = HERE.sub("", entry)
    depth = 0
    for step in entry.split("/"):
        depth += {"": 0, ".": 0, "..": -1}.get(step, 1)
        if depth < 0:
            raise OutsideRoot(entry)
    if entry not in ("", ".") and not WILDCARD.search(entry) and tree.policy.verdict(entry.rstrip("/")) == DENIED:
        raise Denied(entry)
    return entry or "."
