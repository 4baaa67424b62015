"""Restrict this process with Landlock, the Linux security module that needs no privileges.

A restriction cannot be lifted again, and every process that is started afterwards inherits it. It concerns what is
opened from now on: descriptors that are open already stay as they are. The numbers below are those of
`linux/landlock.h`; newer kernels know more kinds of access, and each version says how many by its ABI number.
"""

import ctypes
import os
import sys
from collections.abc import Iterable
from functools import cache

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_VERSION = 1  # a flag of landlock_create_ruleset: return the ABI number
_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
_ABI_1 = (1 << 13) - 1  # the four above, and removing and making directory entries of nine kinds
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15  # since ABI 2, 3 and 5
_BIND_TCP_AND_CONNECT_TCP = 3  # since ABI 4
_ABSTRACT_SOCKETS_AND_SIGNALS = 3  # since ABI 6: of processes outside
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE | _IOCTL_DEV

AccessRule = tuple[int | str, int]
"""A descriptor or path, and the kinds of access allowed to it and everything below it."""


class NotPossible(Exception):
    """Why this process cannot be restricted."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"  # implied by _pack_; Python 3.14 requires it
    _fields_ = (("access", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Return the kernel's Landlock ABI number, or raise NotPossible."""
    if not sys.platform.startswith("linux"):
        raise NotPossible("this system has no Landlock")
    try:
        return _call(_CREATE_RULESET, None, 0, _VERSION)
    except (OSError, AttributeError):
        raise NotPossible("this kernel has no Landlock, or does not allow it here") from None


def restrict(rules: Iterable[AccessRule]) -> None:
    """Allow this process the rules' access to files, and no new TCP connections.

    Paths that do not exist are left out. Raises NotPossible, with nothing restricted, where the kernel cannot, or where
    there are threads already: a restriction holds for the calling thread and those that it starts.
    """
    abi = version()
    if len(os.listdir("/proc/self/task")) > 1:
        raise NotPossible("this process has several threads already")
    files = _ABI_1 | (_REFER if abi >= 2 else 0) | (_TRUNCATE if abi >= 3 else 0) | (_IOCTL_DEV if abi >= 5 else 0)
    network = _BIND_TCP_AND_CONNECT_TCP if abi >= 4 else 0
    attributes = _Ruleset(files, network, _ABSTRACT_SOCKETS_AND_SIGNALS if abi >= 6 else 0)
    try:
        ruleset = _call(_CREATE_RULESET, ctypes.byref(attributes), ctypes.sizeof(attributes), 0)
        try:
            for place, access in rules:
                _allow(ruleset, place, access & files)
            if _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            _call(_RESTRICT_SELF, ruleset, 0)
        finally:
            os.close(ruleset)
    except OSError as error:
        raise NotPossible(f"Landlock: {error.strerror}") from None


def _allow(ruleset: int, place: int | str, access: int) -> None:
    if isinstance(place, str):
        try:
            descriptor = os.open(place, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return
        try:
            # Rights to directories are no rights of files.
            _add(ruleset, descriptor, access if os.path.isdir(place) else access & _OF_FILES)
        finally:
            os.close(descriptor)
    else:
        _add(ruleset, place, access)


def _add(ruleset: int, descriptor: int, access: int) -> None:
    rule = _PathBeneath(access, descriptor)
    _call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def _call(number: int, *arguments: object) -> int:
    """Make a system call; OSError where it fails."""
    syscall = _libc().syscall
    wide = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    result: int = syscall(ctypes.c_long(number), *wide)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
