"""Run one function in a forked copy of this process, which can be killed at any moment.

The copy shares the memory of its parent, so a search in it uses the warm cache without building one, and its open root,
so it can open no more than its parent can. It sends the bytes that the function returns through a pipe and ends. It
never returns into the code that forked it.
"""

import errno
import gc
import os
import select
import signal
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from zeno.options import is_without

_PR_SET_PDEATHSIG = 1


class Forked:
    """A forked process that computes some bytes. `descriptor` becomes readable as they come, and ends after the last.

    Raises OSError when the process cannot be started, as on a system that has no fork.
    """

    def __init__(self, work: Callable[[], bytes], *, lasting: bool = True) -> None:
        """Start it. One that is `lasting` leaves connections and Ctrl-C to its parent, and the kernel ends it when its
        parent ends; `work` of others is short, or looks after its parent by itself."""
        if not hasattr(os, "fork") or is_without("fork"):
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        prctl = _find_prctl() if lasting else None
        parent = os.getpid()
        self.descriptor, sink = os.pipe()
        # No signal may run this process's handlers in the copy.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            self._process = os.fork()
            if self._process == 0:
                # First of all: closing it leaves one descriptor where the limit is reached.
                os.close(self.descriptor)
                _run(work, sink, parent, prctl, lasting=lasting)
        except BaseException:
            os.close(self.descriptor)
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            os.close(sink)

    def wait(self, deadline: float | None) -> bytes | None:
        """Return the bytes, or None if they are not there by `deadline` on the monotonic clock. Ends the process."""
        pieces: list[bytes] = []
        try:
            while True:
                left = None if deadline is None else max(0.0, deadline - time.monotonic())
                if not select.select([self.descriptor], [], [], left)[0]:
                    return None
                piece = os.read(self.descriptor, 1 << 20)
                if not piece:
                    return b"".join(pieces)
                pieces.append(piece)
        finally:
            self.close()

    def close(self) -> None:
        """Kill the process if it has not ended yet, and forget it."""
        if self._process:
            with suppress(ProcessLookupError):
                os.kill(self._process, signal.SIGKILL)
            # With SIGCHLD ignored the system forgets ended children by itself.
            with suppress(ChildProcessError):
                os.waitpid(self._process, 0)
            self._process = 0
            os.close(self.descriptor)


def _find_prctl() -> Callable[..., int] | None:
    import ctypes  # a short copy needs none

    return getattr(ctypes.CDLL(None), "prctl", None)


def _run(
    work: Callable[[], bytes], sink: int, parent: int, prctl: Callable[..., int] | None, *, lasting: bool
) -> NoReturn:
    """Run the function in the copy, send its bytes and exit."""
    status = 1
    try:
        if prctl is not None:
            prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(status)
        gc.disable()
        signal.set_wakeup_fd(-1)
        for number in signal.valid_signals():
            if callable(signal.getsignal(number)):
                signal.signal(number, signal.SIG_DFL)
        if lasting:
            # Ctrl-C goes to the whole process group, but only the parent decides whether to end the request.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            _close_connections(sink)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        data = memoryview(work())
        while data:
            data = data[os.write(sink, data) :]
        status = 0
    finally:
        os._exit(status)


def _close_connections(sink: int) -> None:
    """Close inherited sockets and pipes: a client must see the end of a connection when the parent closes it."""
    for name in os.listdir("/dev/fd"):
        number = int(name)
        if number in (2, sink):
            continue
        with suppress(OSError):
            kind = os.fstat(number).st_mode
            if stat.S_ISSOCK(kind) or stat.S_ISFIFO(kind):
                os.close(number)
