"""A server in odd circumstances: few inotify watches, a clock that jumps, and restarts, some of them after SIGKILL.

The watches are limited in a user namespace (`unshare`), so that no other program feels it. The clock is the one that
libfaketime shows. Where one of the two is not installed, the server runs without it, and `missing` says so.
"""

import os
import random
import shutil
import subprocess
from pathlib import Path

from tools.soak.servers import Answer, Question, Stdio, command

# Fewer than there are directories, hardly more, fewer than there are files, and enough.
_WATCHES = (8, 25, 120, 2000)
_SHIFTS = (-400 * 86400, -3600, -1, 0, 1, 3600, 400 * 86400)
_LIMITED = 'echo "$0" > /proc/sys/user/max_inotify_watches && exec "$@"'


class OddServer:
    """`zeno serve` that is restarted with another number of watches, under a clock that can be set."""

    def __init__(self, root: Path, scratch: Path, chance: random.Random) -> None:
        self._root, self._log, self._chance = root, scratch / "odd.log", chance
        self._clock = scratch / "clock"
        self._unshare = shutil.which("unshare") if _can_unshare() else None
        self._library = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))), None)
        parts = {"unshare (few watches)": self._unshare, "libfaketime (clock changes)": self._library}
        self.missing = [name for name, found in parts.items() if found is None]
        self.set_clock()
        self._server = self._start()

    @property
    def has_clock(self) -> bool:
        """Whether the server has a clock that can be set."""
        return self._library is not None

    def ask(self, questions: list[Question]) -> list[Answer]:
        """Return the answers in the order of the questions."""
        return self._server.ask(questions)

    def set_clock(self) -> None:
        """Move the clock of the server by up to 400 days, forwards or backwards."""
        # Replaced in one step: the library reads the file at any moment.
        new = self._clock.with_suffix(".new")
        new.write_text(f"{self._chance.choice(_SHIFTS):+d}\n")
        new.replace(self._clock)

    def restart(self) -> None:
        """End the server, every other time by SIGKILL, and start it with another number of watches."""
        if self._chance.random() < 0.5:
            self._server.process.kill()
            self._server.process.communicate()
        else:
            self._server.close()
        self._server = self._start()

    def close(self) -> None:
        """End the server, and fail unless it ends well."""
        self._server.close()

    def _start(self) -> Stdio:
        # Confined, the server could not read the file that sets its clock.
        line = command("serve", self._root, "--log", str(self._log), "--confine", "off")
        if self._unshare is not None:
            line = [self._unshare, "-U", "-r", "sh", "-c", _LIMITED, str(self._chance.choice(_WATCHES)), *line]
        env = dict(os.environ)
        if self._library is not None:
            env |= {
                "LD_PRELOAD": str(self._library),
                "FAKETIME_TIMESTAMP_FILE": str(self._clock),
                "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                "DONT_FAKE_MONOTONIC": "1",
                "NO_FAKE_STAT": "1",
            }
        return Stdio(self._root, line=line, env=env)


def _can_unshare() -> bool:
    if shutil.which("unshare") is None:
        return False
    tried = ["unshare", "-U", "-r", "sh", "-c", _LIMITED, "100", "true"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0
