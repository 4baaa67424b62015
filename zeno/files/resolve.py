"""One path, followed one component at a time from the descriptor of the root, each opened without following links.

Links are read and followed by hand. So what was checked is what is opened, however fast someone swaps directories and
links.
"""

import errno
import os
import stat
from collections import deque
from contextlib import ExitStack
from typing import NamedTuple

from zeno.errors import OutsideRoot, PermissionDenied
from zeno.files.absolute_paths import MAX_LINKS, Entrance
from zeno.files.batch_open import DIRECTORY
from zeno.text.path_names import printed

# A step that changed between its check and its opening is tried again, but not for ever.
MAX_RETRIES = 64

NOWHERE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG}


class Found(NamedTuple):
    """Where a path ends: a name in an open directory."""

    path: str
    """Relative to the root with links resolved; the root is `.`."""
    parent: int
    name: bytes
    status: os.stat_result | None
    """What the system says of it; None where nothing is."""


def follow(
    root: int, entrance: Entrance, path: str, target: bytes, stack: ExitStack, links: list[bytes] | None = None
) -> Found:
    """Follow a path, `target` in the bytes of the system, to its end or to where nothing is.

    The stack closes what was opened on the way; `links` is given what the links on the way say.
    """
    links = [] if links is None else links
    names: list[bytes] = []
    directories = [root]
    todo = deque(_components(entrance, path, target))
    retries = 0
    while todo:
        name = todo.popleft()
        if name in (b"", b"."):
            continue
        if name == b"..":
            if not names:
                raise OutsideRoot(path)
            names.pop()
            directories.pop()
            continue
        parent = directories[-1]
        try:
            status = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                link = os.readlink(name, dir_fd=parent)
                links.append(link)
                if len(links) > MAX_LINKS:
                    return _missing(path, names, name, todo)
                if link.startswith(b"/"):
                    names.clear()
                    directories = [root]
                todo.extendleft(reversed(_components(entrance, path, link)))
            elif stat.S_ISDIR(status.st_mode):
                directory = os.open(name, DIRECTORY, dir_fd=parent)
                stack.callback(os.close, directory)
                names.append(name)
                directories.append(directory)
            elif todo:
                return _missing(path, names, name, todo)
            else:
                return Found(_join([*names, name]), parent, name, status)
        except OSError as error:
            retries += 1
            # A link or a file stands where a directory stood a moment ago: look again.
            if error.errno in (errno.ENOTDIR, errno.ELOOP, errno.EINVAL) and retries < MAX_RETRIES:
                todo.appendleft(name)
            elif error.errno in NOWHERE:
                return _missing(path, names, name, todo)
            else:
                _missing(path, names, name, todo)  # a step that would leave the root is outside here too
                raise PermissionDenied(path, os.strerror(error.errno or 0)) from None
    return Found(_join(names), directories[-1], b".", os.fstat(directories[-1]))


def _components(entrance: Entrance, path: str, target: bytes) -> list[bytes]:
    if not target.startswith(b"/"):
        return target.split(b"/")
    below = entrance.below(target)
    if below is None:
        raise OutsideRoot(path)
    return below


def _missing(path: str, names: list[bytes], name: bytes, todo: deque[bytes]) -> Found:
    """Nothing is there. The steps not taken still count: one that would leave the root is outside."""
    depth = len(names) + 1
    for step in todo:
        depth += {b"": 0, b".": 0, b"..": -1}.get(step, 1)
        if depth < 0:
            raise OutsideRoot(path)
    return Found(_join([*names, name, *(step for step in todo if step not in (b"", b"."))]), -1, name, None)


def _join(names: list[bytes]) -> str:
    return printed(b"/".join(names)) if names else "."
