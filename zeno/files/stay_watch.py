"""Watch whether an open file leaves its place: it and every directory on its path, with inotify.

Change times cannot tell a move from names that come and go in a busy directory, nor from appended lines. The kernel
reports the move of a watched file or directory itself before the call that moved it returns.
"""

import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack

from zeno.files.location import DESCRIPTORS, DIRECTORY, Location
from zeno.options import is_without

_MOVE_SELF = 0x800


def stays_during(read: Callable[[], bool], descriptor: int, path: bytes, location: Location) -> bool:
    """Run `read` and return its verdict if the file stayed at its path below the root meanwhile; otherwise False.

    False also where the system cannot tell.
    """
    if not sys.platform.startswith("linux") or is_without("inotify"):
        return False
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        queue: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, AttributeError):
        return False
    if queue < 0:
        return False
    with ExitStack() as stack:
        stack.callback(os.close, queue)
        steps = path.split(b"/")
        held = {path: descriptor}
        try:
            for end in range(1, len(steps)):
                above = held.get(b"/".join(steps[: end - 1]), location.root)
                below = os.open(steps[end - 1], DIRECTORY, dir_fd=above)
                stack.callback(os.close, below)
                held[b"/".join(steps[:end])] = below
            for one in held.values():
                if libc.inotify_add_watch(queue, DESCRIPTORS % one, _MOVE_SELF) < 0:
                    return False
            # All of them are in place after they are watched, so that each move from now on is reported.
            return all(location.has(one, place) for place, one in held.items()) and read() and not _has_events(queue)
        except OSError:
            return False


def _has_events(queue: int) -> bool:
    """Whether anything was reported: a move, or that the kernel lost track."""
    try:
        return bool(os.read(queue, 1 << 12))
    except BlockingIOError:
        return False
