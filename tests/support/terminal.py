"""Run a program on a real pseudo-terminal of a given width, as a person at it would see it."""

import errno
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.patience import PATIENCE

# Commands show progress after a second; here at once, so that a test need not be slow to see it.
AT_ONCE = "from normalizer.terminal import output; output.DELAY = 0.0; from normalizer.cli import run; run()"


def normalizer(*arguments: str | os.PathLike[str]) -> list[str]:
    """The command line of `normalizer`, whose progress is shown at once."""
    return [sys.executable, "-c", AT_ONCE, *(os.fspath(argument) for argument in arguments)]


def on_terminal(
    command: list[str],
    columns: int = 80,
    *,
    folder: Path | None = None,
    keys: Callable[[str], bytes | None] = lambda _: None,
    **variables: str,
) -> tuple[int, str]:
    """Run a command; return its status as a shell would tell it, and all that it wrote.

    `keys` is asked after each piece of output what to type, with all output so far.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    environment |= {"TERM": "xterm", **variables}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=slave, stdout=slave, stderr=slave, preexec_fn=_take_terminal
    )
    os.close(slave)
    seen, deadline = b"", time.monotonic() + PATIENCE
    try:
        while True:
            ready, _, _ = select.select([master], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"nothing more came: {seen!r}"
            try:
                piece = os.read(master, 4096)
            except OSError as error:
                assert error.errno == errno.EIO  # noqa: PT017 - nobody has the terminal open any more
                break
            if not piece:
                break
            seen += piece
            typed = keys(seen.decode("utf-8", "replace"))
            if typed is not None:
                os.write(master, typed)
        status = process.wait(PATIENCE)
    finally:
        process.kill()
        process.wait()
        os.close(master)
    return 128 - status if status < 0 else status, seen.decode().replace("\r\n", "\n")


def screen(seen: str) -> str:
    """What is to be read after all that was written: lines that were cleared are gone, and so are colours."""
    lines = [line.rpartition("\r\033[K")[2] for line in seen.split("\n")]
    return re.sub("\033\\[[0-9]*m", "", "\n".join(lines))


def _take_terminal() -> None:
    """In the new process: make its standard input the terminal that Ctrl-C comes from."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
