"""Refuse the calls of `system_calls` to this process, with a seccomp filter.

A filter cannot be lifted again, and every process that is started afterwards inherits it.
"""

import ctypes
import errno
import os
import struct
import sys

from zeno.confinement.system_calls import CONDITIONS, DECIDED_BY_ARGUMENTS, REFUSED, Condition

_PR_GET_SECCOMP, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 21, 22, 38
_MODE_FILTER = 2
_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06  # instructions of classic BPF
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data; an argument has 8 bytes
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
_X32 = 0x40000000  # from here on: calls of x86-64 with short pointers, which have numbers of their own

# By what uname tells: the kernel's number of the architecture, and the column of its numbers in `system_calls`.
_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1), "riscv64": (0xC00000F3, 1)}


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
    filter_program = _Program(len(instructions) // 8, instructions)
    return (
        _prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1)) == 0
        and _prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_MODE_FILTER), ctypes.byref(filter_program)) == 0
    )


def program(machine: str) -> bytes:
    """Return the filter for a kind of machine, as instructions of 8 bytes."""
    architecture, column = _ARCHITECTURES[machine]
    tests = [(_AT_LEAST, _X32)] if machine == "x86_64" else []
    tests += [(_EQUAL, number) for numbers in REFUSED.values() if (number := numbers[column]) is not None]
    # Each test jumps over the tests after it and the instruction that allows.
    jumps = [_instruction(code, value, len(tests) - at) for at, (code, value) in enumerate(tests)]
    return b"".join(
        (
            _instruction(_LOAD, _ARCHITECTURE),
            _instruction(_EQUAL, architecture, 1),
            _instruction(_RETURN, _REFUSE),
            _instruction(_LOAD, _NUMBER),
            *(_decide(numbers[column], CONDITIONS[call]) for call, numbers in DECIDED_BY_ARGUMENTS.items()),
            *jumps,
            _instruction(_RETURN, _ALLOW),
            _instruction(_RETURN, _REFUSE),
        )
    )


def _decide(number: int, conditions: tuple[Condition, ...]) -> bytes:
    """Return instructions that decide about one call by its arguments, and pass over all other calls."""
    decision = [part for condition in conditions for part in _require(condition)]
    decision.append(_instruction(_RETURN, _ALLOW))
    return b"".join((_instruction(_EQUAL, number, 0, len(decision)), *decision))


def _require(condition: Condition) -> list[bytes]:
    """Return instructions that refuse the call unless a condition holds."""
    values = condition.values
    return [
        _instruction(_LOAD, _ARGUMENTS + 8 * condition.argument),
        _instruction(_AND, condition.bits),
        *(_instruction(_EQUAL, value, len(values) - at) for at, value in enumerate(values)),
        _instruction(_RETURN, _REFUSE),
    ]


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _prctl(option: int, *arguments: object) -> int:
    result: int = ctypes.CDLL(None).prctl(option, *arguments, *[ctypes.c_ulong(0)] * (4 - len(arguments)))
    return result
