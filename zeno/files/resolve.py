"""Resolve a path one component at a time from the descriptor of the root. This decides whether a path is outside.

Each component is opened without following links; links are read and resolved here. So the file that was checked is
the file that is opened, even while directories and links are being replaced. If a directory on the path was moved
meanwhile, the path is resolved again.
"""

import errno
import os
import stat
from collections import deque
from contextlib import ExitStack
from typing import NamedTuple

from zeno.errors import Denied, OutsideRoot, PermissionDenied
from zeno.files.absolute_paths import MAX_LINKS, AbsolutePaths
from zeno.files.location import DIRECTORY, MAX_MOVES, HeldDirectories, Location
from zeno.files.policy import DENIED, Policy, list_names
from zeno.files.rules import denies, read_rules
from zeno.text.gitignore import Ignores
from zeno.text.path_names import decode_name

# How many components the links on one path may add. With 40 links of 2,000 components each, one path would take a third
# of a second, and a tree or a request can hold thousands of such paths.
MAX_LINK_COMPONENTS = 256
# How often a component that changed between check and open is tried again.
MAX_RETRIES = 64

NOWHERE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG}


class _Moved(Exception):
    """A directory on the path was moved."""


class Trail:
    """Links and steps of a path, collected while it is resolved."""

    def __init__(self) -> None:
        self.links: list[bytes] = []
        """The targets of its links."""
        self.steps: set[bytes] = set()
        """Every path from the root at which something was looked up: while nothing there changes, it leads to the same
        end."""


class ResolvedPath(NamedTuple):
    """The end of a resolved path: a name in an open directory."""

    path: str
    """Relative to the root with links resolved; the root is `.`."""
    parent: int
    name: bytes
    status: os.stat_result | None
    """Its status; None if nothing is there."""


class Confines(NamedTuple):
    """A root in which paths are resolved, with its absolute paths and the names that are denied."""

    location: Location
    absolute_paths: AbsolutePaths
    policy: Policy

    def follow(self, path: str, target: bytes, stack: ExitStack, trail: Trail | None = None) -> ResolvedPath:
        """Resolve a path, given as text for errors (`path`) and as bytes (`target`).

        Raises OutsideRoot if it leads out of the root, Denied if the policy denies a component, also one that a link
        leads to, and PermissionDenied. The stack closes the directories that were opened. `trail` takes what the path
        leads through.
        """
        trail = Trail() if trail is None else trail
        for _ in range(MAX_MOVES):
            trail.links.clear()
            way = _Way(self, path, trail)
            stack.callback(way.held.clear)
            try:
                return way.follow(target)
            except _Moved:
                stack.close()
        raise PermissionDenied(path, "a directory on the way keeps moving")


class _Way:
    """One path while it is resolved."""

    def __init__(self, confines: Confines, path: str, trail: Trail) -> None:
        self._location, self._absolute_paths, self._policy = confines
        self._path = path
        self._trail = trail
        self.held = HeldDirectories(self._location, DIRECTORY)
        self._names = self.held.names
        self._added = 0
        """How many components its links have added."""
        self._denying: list[Ignores | None] = []
        """Ignore rules that deny, of the root and each directory down to the last; None where some cannot be read."""
        self._read_rules(Ignores(), self._location.root)

    def follow(self, target: bytes) -> ResolvedPath:
        """Follow it to its end. Raises _Moved if a directory on it was moved meanwhile."""
        todo = deque(self._components(target))
        retries = 0
        while todo:
            name = todo.popleft()
            if name in (b"", b"."):
                continue
            if name == b"..":
                if not self._names:
                    raise OutsideRoot(self._path)
                self.held.leave()
                self._leave_rules()
                continue
            place = b"/".join([*self._names, name])
            try:
                end = self._step(name, place, todo)
            except OSError as error:
                retries += 1
                # A link or a file replaced a directory after it was checked: look again.
                if error.errno in (errno.ENOTDIR, errno.ELOOP, errno.EINVAL) and retries < MAX_RETRIES:
                    todo.appendleft(name)
                    continue
                if error.errno in NOWHERE:
                    self._require_allowed(place, None)
                end = self._end_missing(name, todo)
                if error.errno not in NOWHERE:
                    raise PermissionDenied(self._path, os.strerror(error.errno or 0)) from None
            if end is not None:
                return end
        directory = self._last()
        status = os.fstat(directory)
        self._check()
        return ResolvedPath(_join(self._names), directory, b".", status)

    def _step(self, name: bytes, place: bytes, todo: deque[bytes]) -> ResolvedPath | None:
        """Follow one component; return the end of the path if this is it. Raises OSError."""
        parent = self._last()
        self._trail.steps.add(place)
        # Before the file system is read.
        if self._policy.active and self._policy.verdict(decode_name(place)) == DENIED:
            raise Denied(self._path)
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        self._require_allowed(place, status.st_mode)
        listed = self._find_listed(parent, name, status)
        if listed is None:
            return self._end_missing(name, todo)
        if stat.S_ISLNK(status.st_mode):
            link = os.readlink(listed, dir_fd=parent)
            self._check()
            self._trail.links.append(link)
            self._added += link.count(b"/") + 1
            if len(self._trail.links) > MAX_LINKS or self._added > MAX_LINK_COMPONENTS:
                return self._end_missing(listed, todo)
            if link.startswith(b"/"):
                self.held.clear()
                self._leave_rules()
            todo.extendleft(reversed(self._components(link)))
        elif stat.S_ISDIR(status.st_mode):
            directory = os.open(listed, DIRECTORY, dir_fd=parent)
            self.held.enter(listed, directory)
            self._read_rules(self._denying[-1] if self._denying else None, directory)
        elif todo:
            return self._end_missing(listed, todo)
        else:
            self._check()
            return ResolvedPath(_join([*self._names, listed]), parent, listed, status)
        return None

    def _last(self) -> int:
        """Return the last directory on the path. Raises _Moved."""
        try:
            return self.held.last()
        except OSError:
            raise _Moved from None

    def _check(self) -> None:
        """Raise _Moved unless the last directory is still at its path."""
        directory, location = self._last(), self._location
        if not (location.is_above(directory, len(self._names)) or location.leads_to(directory, b"/".join(self._names))):
            raise _Moved

    def _components(self, target: bytes) -> list[bytes]:
        below = self._absolute_paths.below(target) if target.startswith(b"/") else target.split(b"/")
        if below is None:
            raise OutsideRoot(self._path)
        return below

    def _end_missing(self, name: bytes, todo: deque[bytes]) -> ResolvedPath:
        """Return a missing end. Raises OutsideRoot if the remaining components would leave the root."""
        self._check()
        return ResolvedPath(join_missing(self._path, self._names, name, todo), -1, name, None)

    # The policy

    def _require_allowed(self, place: bytes, mode: int | None) -> None:
        """Raise Denied for a component that is denied, given its mode. The absence of a denied name is not revealed."""
        if self._denies(place, mode):
            raise Denied(self._path)

    def _find_listed(self, directory: int, name: bytes, status: os.stat_result) -> bytes | None:
        """Return the name under which a directory lists what was found by a name; None if that one is denied.

        A denied file that is found by another spelling of its name is as good as absent.
        """
        if not self._policy.active:
            return name
        listed = list_names(directory, name, status)
        if listed == [name]:
            return name
        denied = any(self._denies(b"/".join([*self._names, one]), status.st_mode) for one in listed)
        return None if denied or not listed else listed[0]

    def _denies(self, place: bytes, mode: int | None) -> bool:
        if not self._policy.active:
            return False
        is_directory = mode is not None and stat.S_ISDIR(mode)
        if self._policy.denies(decode_name(place), is_directory=is_directory):
            return True
        kinds = (is_directory,) if mode is not None else (True, False)
        return any(rules is None or any(denies(rules, place, kind) for kind in kinds) for rules in self._denying[-1:])

    def _read_rules(self, around: Ignores | None, directory: int) -> None:
        """Read the ignore rules of a directory that was opened, where they deny."""
        if not self._policy.ignored:
            return
        inside = None
        if around is not None:
            base = b"".join(name + b"/" for name in self._names)
            rules, complete = read_rules(around, base, directory, self._location)
            if not complete:
                self._check()
            inside = rules if complete else None
        self._denying.append(inside)

    def _leave_rules(self) -> None:
        """Go back up to the last directory."""
        del self._denying[len(self._names) + 1 :]


def join_missing(path: str, names: list[bytes], name: bytes, todo: deque[bytes]) -> str:
    """Return the path of something missing. Raises OutsideRoot if the remaining components would leave the root."""
    depth = len(names) + 1
    for step in todo:
        depth += {b"": 0, b".": 0, b"..": -1}.get(step, 1)
        if depth < 0:
            raise OutsideRoot(path)
    return _join([*names, name, *(step for step in todo if step not in (b"", b"."))])


def _join(names: list[bytes]) -> str:
    return decode_name(b"/".join(names)) if names else "."
