"""Processes of the command line, stopped at a definite step: a test waits for that fact instead of guessing a time.

Every Python process of the run, its workers among them, tells that it has begun; those that come to the step tell
that too, and stay there.
"""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.patience import PATIENCE, until

# Python runs a module of this name at its start, wherever the command line points.
_AT_THE_START = """
import os, sys, time
def tell(what):
    open(os.path.join({told!r}, what + str(os.getpid())), "x").close()
def watch(event, args):
    if event == "open" and isinstance(args[0], str) and args[1] == {mode!r}:
        if {below!r} in args[0] and args[0].endswith({suffix!r}):
            tell("there-")
            time.sleep({long!r})
tell("begun-")
sys.addaudithook(watch)
"""


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or is only still listed until somebody asks how it ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


class Stopped:
    """A run of the command line whose processes stop before they open such a file in such a mode."""

    def __init__(self, scratch: Path, command: list[str], *, below: str, suffix: str, mode: str) -> None:
        self._told = scratch / "told"
        self._told.mkdir(parents=True)
        facts = {"told": str(self._told), "below": below, "suffix": suffix, "mode": mode, "long": PATIENCE}
        (scratch / "sitecustomize.py").write_text(_AT_THE_START.format(**facts))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "normalizer", *command],
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(scratch)},
        )

    def wait_for(self, count: int) -> None:
        """Wait until so many processes are there."""
        until(lambda: len(self._pids("there-")) >= count or self.process.poll() is not None, "they are there")
        assert self.process.poll() is None, "it ended without coming there"

    def kill(self) -> None:
        """Kill the run, not those it has started; they must end by themselves."""
        self.process.kill()
        self.process.wait()
        others = [pid for pid in self._pids("begun-") if pid != self.process.pid]
        assert others
        until(lambda: all(map(has_ended, others)), "they have ended")

    def _pids(self, what: str) -> list[int]:
        return [int(path.name.removeprefix(what)) for path in self._told.glob(f"{what}*")]
