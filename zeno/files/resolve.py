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
from zeno.files.listed_names import list_names
from zeno.files.location import DIRECTORY, MAX_MOVES, HeldDirectories, Location
from zeno.files.policy import DENIED, Policy
from zeno.files.rules import DeniedByRules
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


class _Guard:
    """Raises Denied for components of one path that the policy denies."""

    def __init__(self, policy: Policy, path: str, root: int) -> None:
        self._policy = policy
        self._path = path
        self._rules = DeniedByRules(root) if policy.ignored else None

    def before(self, place: bytes) -> None:
        """Check a component by its path from the root, before the file system is read."""
        if self._policy.active and self._policy.verdict(decode_name(place)) == DENIED:
            raise Denied(self._path)

    def after(self, place: bytes, mode: int | None) -> None:
        """Check a component with its file mode, None if it is missing: the absence of a denied name is not revealed."""
        if self._denies(place, mode):
            raise Denied(self._path)

    def find_name(self, above: list[bytes], directory: int, name: bytes, status: os.stat_result) -> bytes | None:
        """Return the name under which a directory lists what was found by a name; None if that one is denied.

        A denied file that is found by another spelling of its name is as good as absent.
        """
        if not self._policy.active:
            return name
        listed = list_names(directory, name, status)
        if listed == [name]:
            return name
        denied = any(self._denies(b"/".join([*above, one]), status.st_mode) for one in listed)
        return None if denied or not listed else listed[0]

    def _denies(self, place: bytes, mode: int | None) -> bool:
        if not self._policy.active:
            return False
        is_directory = mode is not None and stat.S_ISDIR(mode)
        kinds = (is_directory,) if mode is not None else (True, False)
        return self._policy.denies(decode_name(place), is_directory=is_directory) or (
            self._rules is not None and any(self._rules.deny(place, is_directory=kind) for kind in kinds)
        )

    def enter(self, names: list[bytes], directory: int) -> None:
        """Read the ignore rules of a directory that was opened."""
        if self._rules is not None:
            self._rules.enter(b"/".join(names) + b"/", directory)

    def leave(self, names: list[bytes]) -> None:
        """Go back up to the directory with these components."""
        if self._rules is not None:
            self._rules.leave(len(names))


def follow(
    location: Location,
    absolute_paths: AbsolutePaths,
    policy: Policy,
    path: str,
    target: bytes,
    stack: ExitStack,
    trail: Trail | None = None,
) -> ResolvedPath:
    """Resolve a path, given as text for errors (`path`) and as bytes (`target`).

    Raises OutsideRoot if it leads out of the root, Denied if the policy denies a component, also one that a link leads
    to, and PermissionDenied. The stack closes the directories that were opened. `trail` takes what the path
    leads through.
    """
    trail = Trail() if trail is None else trail
    for _ in range(MAX_MOVES):
        trail.links.clear()
        try:
            return _follow(location, absolute_paths, policy, path, target, stack, trail)
        except _Moved:
            stack.close()
    raise PermissionDenied(path, "a directory on the way keeps moving")


def _follow(
    location: Location,
    absolute_paths: AbsolutePaths,
    policy: Policy,
    path: str,
    target: bytes,
    stack: ExitStack,
    trail: Trail,
) -> ResolvedPath:
    held = HeldDirectories(location, DIRECTORY)
    stack.callback(held.clear)
    names = held.names
    guard = _Guard(policy, path, location.root)

    def last() -> int:
        """Return the last directory on the path. Raises _Moved."""
        try:
            return held.last()
        except OSError:
            raise _Moved from None

    def check() -> None:
        """Raise _Moved unless the last directory is still at its path."""
        directory = last()
        if not (location.is_above(directory, len(names)) or location.leads_to(directory, b"/".join(names))):
            raise _Moved

    todo = deque(_components(absolute_paths, path, target))
    added = retries = 0
    while todo:
        name = todo.popleft()
        if name in (b"", b"."):
            continue
        if name == b"..":
            if not names:
                raise OutsideRoot(path)
            held.leave()
            guard.leave(names)
            continue
        parent = last()
        place = b"/".join([*names, name])
        trail.steps.add(place)
        guard.before(place)
        try:
            status = os.stat(name, dir_fd=parent, follow_symlinks=False)
            guard.after(place, status.st_mode)
            found = guard.find_name(names, parent, name, status)
            if found is None:
                check()
                return _resolve_missing(path, names, name, todo)
            name = found
            if stat.S_ISLNK(status.st_mode):
                link = os.readlink(name, dir_fd=parent)
                check()
                trail.links.append(link)
                added += link.count(b"/") + 1
                if len(trail.links) > MAX_LINKS or added > MAX_LINK_COMPONENTS:
                    return _resolve_missing(path, names, name, todo)
                if link.startswith(b"/"):
                    held.clear()
                    guard.leave(names)
                todo.extendleft(reversed(_components(absolute_paths, path, link)))
            elif stat.S_ISDIR(status.st_mode):
                directory = os.open(name, DIRECTORY, dir_fd=parent)
                held.enter(name, directory)
                guard.enter(names, directory)
            elif todo:
                check()
                return _resolve_missing(path, names, name, todo)
            else:
                check()
                return ResolvedPath(_join([*names, name]), parent, name, status)
        except OSError as error:
            retries += 1
            # A link or a file replaced a directory after it was checked: look again.
            if error.errno in (errno.ENOTDIR, errno.ELOOP, errno.EINVAL) and retries < MAX_RETRIES:
                todo.appendleft(name)
            elif error.errno in NOWHERE:
                guard.after(place, None)
                check()
                return _resolve_missing(path, names, name, todo)
            else:
                check()
                _resolve_missing(path, names, name, todo)  # raises OutsideRoot if the rest would leave the root
                raise PermissionDenied(path, os.strerror(error.errno or 0)) from None
    directory = last()
    status = os.fstat(directory)
    check()
    return ResolvedPath(_join(names), directory, b".", status)


def _components(absolute_paths: AbsolutePaths, path: str, target: bytes) -> list[bytes]:
    if not target.startswith(b"/"):
        return target.split(b"/")
    below = absolute_paths.below(target)
    if below is None:
        raise OutsideRoot(path)
    return below


def _resolve_missing(path: str, names: list[bytes], name: bytes, todo: deque[bytes]) -> ResolvedPath:
    """Return a missing end. Raises OutsideRoot if the remaining components would leave the root."""
    return ResolvedPath(join_missing(path, names, name, todo), -1, name, None)


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
