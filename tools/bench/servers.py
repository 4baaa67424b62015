"""The harness of all races: servers over pipes, programs, times measured by turns, and rows of ratios."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, Self

# Seconds to wait for an index: a large tree on a busy machine takes minutes.
PATIENCE = 900
ZENO = [sys.executable, "-m", "zeno", "serve", "--root"]
EVERYWHERE: dict[str, Any] = {"max_files": 10_000_000}


class Server:
    """A process that answers one line with one line."""

    def __init__(self, command: Sequence[str], cwd: str | None = None) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, cwd=cwd)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in, self._out = self.process.stdin.fileno(), self.process.stdout.fileno()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def line(self, line: bytes) -> tuple[float, bytes]:
        """Seconds until the answer was read, and the answer."""
        start = time.perf_counter()
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(self._in, rest) :]
        pieces = [os.read(self._out, 1 << 20)]
        while pieces[-1] and not pieces[-1].endswith(b"\n"):
            pieces.append(os.read(self._out, 1 << 20))
        return time.perf_counter() - start, b"".join(pieces)

    def ask(self, op: str, **args: Any) -> tuple[float, Any]:
        """Send one request and return its time and result; fails if the answer is an error."""
        seconds, answer = self.line(request(op, **args))
        value = json.loads(answer)
        if not value["ok"]:
            raise AssertionError(value)
        return seconds, value["result"]

    def grep(self, pattern: str, **args: Any) -> tuple[float, Any]:
        """Search however many files there are."""
        return self.ask("grep", pattern=pattern, **EVERYWHERE, **args)

    @property
    def peak_bytes(self) -> int:
        """The most memory that the process ever had."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))

    @property
    def processor_seconds(self) -> float:
        """Processor time of its first thread so far."""
        with open(f"/proc/{self.process.pid}/schedstat") as status:
            return int(status.read().split()[0]) / 1e9

    @property
    def all_processor_seconds(self) -> float:
        """Processor time so far of the server and of the processes that it has waited for."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def warm(self) -> float:
        """Wait until it answers from an index; seconds waited. Raises TimeoutError."""
        start = time.perf_counter()
        while time.perf_counter() - start < PATIENCE:
            asked = time.perf_counter()
            if self.is_warm():
                return time.perf_counter() - start
            # A server prepares while it is idle.
            time.sleep(0.05 + 5 * (time.perf_counter() - asked))
        # Times of a server that still prepares are those of cold searches, and of waiting for its preparations.
        raise TimeoutError(f"the server was not ready after {PATIENCE} seconds")

    def is_warm(self) -> bool:
        """Whether it answers from an index."""
        # The pattern is in no file, so with a complete index no file is scanned.
        _, result = self.grep(f"{time.perf_counter_ns()}zqxj")
        children = subprocess.run(["ps", "--ppid", str(self.process.pid), "-o", "pid="], capture_output=True)
        return result["metrics"]["files_scanned"] == 0 and not children.stdout.strip()


def request(op: str, **args: Any) -> bytes:
    """One request line."""
    return json.dumps({"id": "1", "op": op, "args": args}).encode() + b"\n"


def serve(root: Path, *flags: str) -> Server:
    """Start a server of a tree, with room for the whole tree unless flags say otherwise."""
    return Server([*ZENO, str(root), *(flags or ("--cache-bytes", str(8 << 30)))])


class Timed(NamedTuple):
    """Seconds until a command had ended with its output read, its processor time, and the output."""

    seconds: float
    processor: float
    output: bytes


def timed(command: Sequence[str], cwd: Path) -> Timed:
    """Run a command in a folder."""
    before, start = processor_seconds(), time.perf_counter()
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    return Timed(time.perf_counter() - start, processor_seconds() - before, done.stdout)


def git(root: Path, *words: str) -> str:
    """Run git in a repository and return its output."""
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "gc.auto=0"]
    done = subprocess.run(["git", *identity, *words], cwd=root, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def processor_seconds(*, own: bool = False) -> float:
    """Processor time of the processes that this one has waited for, or of this one, too."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)[: 1 + own]]
    return sum(each.ru_utime + each.ru_stime for each in used)


def take_turns(rounds: int, *ways: Callable[[int], float]) -> list[list[float]]:
    """Return the seconds of each way. In every round each has its turn, with the number of the round."""
    times = [[way(number) for way in ways] for number in range(rounds)]
    return [list(column) for column in zip(*times, strict=True)]


def print_header(root: Path, what: str) -> None:
    """Print the head of a table."""
    print(f"\n{root}: {what}; medians (and fastest)")
    print(f"{'':36} {'zeno ms':>18} {'other ms':>18} {'ratio':>9}  goal", flush=True)


def print_row(name: str, times: Sequence[Sequence[float]], goal: float | str) -> None:
    """Print one race: our times and others', how many times faster we are, and how many times faster we mean to be."""
    ours, theirs = map(median, times)
    cells = " ".join(f"{median(one) * 1e3:9.2f} ({min(one) * 1e3:6.2f})" for one in times)
    told = goal if isinstance(goal, str) else f"{goal:.2f}x {'met' if theirs / ours >= goal else 'missed'}"
    print(f"{name:36} {cells} {theirs / ours:8.2f}x  {told}", flush=True)
