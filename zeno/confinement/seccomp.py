"""Refuse system calls that Landlock does not cover, with a seccomp filter.

Landlock checks which files are opened and which TCP ports are used. It allows all other sockets (UDP, MPTCP, Unix
sockets), TCP Fast Open, and changes to the mode, owner, times and attributes of a file. A server makes none of these
calls after its start. The list is short on purpose: everything else stays allowed, so that another version of Python or
of a library still runs. The numbers are those of `asm/unistd_64.h` and `asm-generic/unistd.h`; they never change.

A server still has sockets: the one that it listens on, and the pair of stream sockets by which an event loop wakes
itself. Shut down, the first can connect anew by TCP Fast Open, without `connect`. A pair of datagram sockets, unlike
one of stream sockets, can send to every Unix socket. So these two uses are refused by their arguments.

A filter cannot be lifted again, and every process that is started afterwards inherits it.
"""

import ctypes
import errno
import os
import struct
import sys

_PR_GET_SECCOMP, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 21, 22, 38
_MODE_FILTER = 2
_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06  # instructions of classic BPF
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data; an argument has 8 bytes
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
_X32 = 0x40000000  # from here on: calls of x86-64 with short pointers, which have numbers of their own

# io_uring makes calls that no filter sees.
_EVERYWHERE = {
    "io_uring_setup": 425,
    "fchmodat2": 452,
    "setxattrat": 463,
    "removexattrat": 466,
    "file_setattr": 469,
}
_X86_64 = _EVERYWHERE | {
    "socket": 41,
    "connect": 42,
    "chmod": 90,
    "fchmod": 91,
    "fchmodat": 268,
    "chown": 92,
    "fchown": 93,
    "lchown": 94,
    "fchownat": 260,
    "utime": 132,
    "utimes": 235,
    "futimesat": 261,
    "utimensat": 280,
    "setxattr": 188,
    "lsetxattr": 189,
    "fsetxattr": 190,
    "removexattr": 197,
    "lremovexattr": 198,
    "fremovexattr": 199,
}
_GENERIC = _EVERYWHERE | {
    "socket": 198,
    "connect": 203,
    "fchmod": 52,
    "fchmodat": 53,
    "fchownat": 54,
    "fchown": 55,
    "utimensat": 88,
    "setxattr": 5,
    "lsetxattr": 6,
    "fsetxattr": 7,
    "removexattr": 14,
    "lremovexattr": 15,
    "fremovexattr": 16,
}
_X86_64_BY_ARGUMENT = {"socketpair": 53, "sendto": 44, "sendmsg": 46, "sendmmsg": 307}
_GENERIC_BY_ARGUMENT = {"socketpair": 199, "sendto": 206, "sendmsg": 211, "sendmmsg": 269}
# By what uname tells: the kernel's number of the architecture, the calls that are refused, and those that an argument
# decides about.
_ARCHITECTURES = {
    "x86_64": (0xC000003E, _X86_64, _X86_64_BY_ARGUMENT),
    "aarch64": (0xC00000B7, _GENERIC, _GENERIC_BY_ARGUMENT),
    "riscv64": (0xC00000F3, _GENERIC, _GENERIC_BY_ARGUMENT),
}
_STREAM, _FAST_OPEN = 1, 0x20000000
# Which argument, which of its lower 32 bits, and what these must be for the call to be allowed.
_ALLOWED = {
    "socketpair": (1, 0xF, _STREAM),
    "sendto": (3, _FAST_OPEN, 0),
    "sendmsg": (2, _FAST_OPEN, 0),
    "sendmmsg": (3, _FAST_OPEN, 0),
}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def possible() -> bool:
    """Whether this system has seccomp filters, and the numbers of its system calls are known."""
    # A 32-bit process on a 64-bit kernel has calls of another architecture.
    known = sys.platform.startswith("linux") and sys.maxsize > 1 << 32 and os.uname().machine in _ARCHITECTURES
    return known and _prctl(_PR_GET_SECCOMP) >= 0


def restrict() -> bool:
    """Refuse the calls to this process from now on. Return whether that is in force.

    It is not where the system cannot, or where there are threads already: a filter holds for the calling thread and
    those that it starts.
    """
    if not possible() or len(os.listdir("/proc/self/task")) > 1:
        return False
    instructions = program(os.uname().machine)
    told = _Program(len(instructions) // 8, instructions)
    return (
        _prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1)) == 0
        and _prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_MODE_FILTER), ctypes.byref(told)) == 0
    )


def program(machine: str) -> bytes:
    """Return the filter for a kind of machine, as instructions of 8 bytes."""
    architecture, refused, by_argument = _ARCHITECTURES[machine]
    tests = [(_AT_LEAST, _X32)] if machine == "x86_64" else []
    tests += [(_EQUAL, number) for number in sorted(refused.values())]
    # Each test jumps over the tests after it and the instruction that allows.
    jumps = [_instruction(code, value, len(tests) - at) for at, (code, value) in enumerate(tests)]
    return b"".join(
        (
            _instruction(_LOAD, _ARCHITECTURE),
            _instruction(_EQUAL, architecture, 1),
            _instruction(_RETURN, _REFUSE),
            _instruction(_LOAD, _NUMBER),
            *(_by_argument(number, *_ALLOWED[call]) for call, number in by_argument.items()),
            *jumps,
            _instruction(_RETURN, _ALLOW),
            _instruction(_RETURN, _REFUSE),
        )
    )


def _by_argument(number: int, argument: int, bits: int, allowed: int) -> bytes:
    """Return instructions that decide about one call by bits of an argument, and pass over all other calls."""
    decision = (
        _instruction(_LOAD, _ARGUMENTS + 8 * argument),
        _instruction(_AND, bits),
        _instruction(_EQUAL, allowed, 1),
        _instruction(_RETURN, _REFUSE),
        _instruction(_RETURN, _ALLOW),
    )
    return b"".join((_instruction(_EQUAL, number, 0, len(decision)), *decision))


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _prctl(option: int, *arguments: object) -> int:
    result: int = ctypes.CDLL(None).prctl(option, *arguments, *[ctypes.c_ulong(0)] * (4 - len(arguments)))
    return result
