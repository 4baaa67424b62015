"""Permissions of files that hold for root too."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

# CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: to read what the permissions of a file forbid.
_READ_ANYTHING = 1 << 1 | 1 << 2
_VERSION_3 = 0x20080522


@contextmanager
def held_to_permissions() -> Iterator[None]:
    """Let this thread open only what permissions of files allow, as every user but root is used to."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    head = (ctypes.c_uint32 * 2)(_VERSION_3, 0)
    # Effective, permitted and inheritable, of the lower and of the higher 32 capabilities.
    sets = (ctypes.c_uint32 * 6)()
    assert libc.capget(head, sets) == 0
    before = sets[0]
    sets[0] = before & ~_READ_ANYTHING
    assert libc.capset(head, sets) == 0
    try:
        yield
    finally:
        sets[0] = before
        assert libc.capset(head, sets) == 0
