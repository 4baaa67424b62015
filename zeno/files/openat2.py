"""openat2(2): open a path below a directory without following links, in one system call.

This is only a shortcut. If it fails, for whatever reason, the path is followed component by component.
"""

import ctypes
import os
import sys
from collections.abc import Callable

from zeno.options import is_without

_OPENAT2 = 437  # the same on every architecture
_RESOLVE_NO_MAGICLINKS, _RESOLVE_NO_SYMLINKS, _RESOLVE_BENEATH = 0x02, 0x04, 0x08

Opener = Callable[[int, bytes], int]
"""Takes an open directory and a path below it; returns a descriptor, or a negative number on failure."""


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def opener(flags: int) -> Opener | None:
    """Return a function that opens with these flags; None if the system has no openat2."""
    if not sys.platform.startswith("linux") or is_without("openat2"):
        return None
    try:
        syscall = ctypes.CDLL(None).syscall
    except (OSError, AttributeError):
        return None
    syscall.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
    syscall.restype = ctypes.c_long
    how = _How(flags | os.O_CLOEXEC, 0, _RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS)
    address, size = ctypes.addressof(how), ctypes.sizeof(how)

    def open_beneath(directory: int, path: bytes, _held: _How = how) -> int:
        descriptor: int = syscall(_OPENAT2, directory, path, address, size)
        return descriptor

    return open_beneath
