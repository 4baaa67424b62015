"""Keep servers under edits, requests and faults: nox -s soak -- --minutes N.

Servers over stdio, HTTP and MCP, and one in odd circumstances, are asked after every edit, and their answers compared
with those of a server that caches nothing. Memory, descriptors and threads are written to build/soak/curve.csv
and must not grow. Exit status: 0 all is well, 1 an answer was wrong or something grew.
"""

import argparse
import json
import random
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from pathlib import Path

from tools.soak import results
from tools.soak.faults import Faults
from tools.soak.odd_server import OddServer
from tools.soak.servers import Asked, Cost, Http, Mcp, Server, Stdio
from tools.soak.tree import ChangingTree

ROOT = Path(__file__).resolve().parents[2]
_SHOWN = 1500
_FAULT = 0.04
_BURST = 4
_POINTS = 500
_TOLD_EVERY = 600.0
_MOST_WRONG = 20
_LONGEST_PAUSE = 5.0


class Soak:
    """Servers, the tree they serve, and what went wrong."""

    def __init__(self, scratch: Path, chance: random.Random) -> None:
        self._chance = chance
        root = scratch / "root"
        root.mkdir()
        self._tree = ChangingTree(root, chance)
        self.reference = Stdio(root, "--no-cache")
        self._logs = {name: scratch / f"{name}.log" for name in ("stdio", "http", "mcp")}
        stdio = Stdio(root, "--log", str(self._logs["stdio"]))
        http = Http(root, "--log", str(self._logs["http"]))
        mcp = Mcp(root, "--log", str(self._logs["mcp"]))
        self._servers: dict[str, Server] = {"stdio": stdio, "http": http, "mcp": mcp}
        self.odd = OddServer(root, scratch, chance)
        self.faults = Faults(self._servers, http, self.odd, self._logs, self._tree.rewrite, chance)
        self.asked = 0
        self.costs: defaultdict[str, list[Cost]] = defaultdict(list)
        self.wrong: list[str] = []

    def step(self) -> None:
        """Edit the tree, sometimes cause a fault, and send all servers the same requests."""
        if self._chance.random() < 0.5:
            self._tree.edit()
        questions = [self._tree.request() for _ in range(self._chance.choice((1, 1, _BURST)))]
        expected = self.reference.ask(questions)
        if self._chance.random() < _FAULT:
            self.faults.one(questions[0], expected[0])
            self.wrong += self.faults.wrong
            self.faults.wrong.clear()
            expected = self.reference.ask(questions)
        everybody: dict[str, Asked] = {**self._servers, "odd": self.odd}
        for name, server in everybody.items():
            answers = server.ask(questions)
            for (op, args), answer, right in zip(questions, answers, expected, strict=True):
                if answer != right:
                    question = f"{name}: request {self.asked}: {op} {json.dumps(args)}"
                    self.wrong.append(f"{question}: {str(answer)[:_SHOWN]} instead of {str(right)[:_SHOWN]}")
        self.asked += len(questions)

    def measure(self, path: Path, minutes: float) -> None:
        """Measure every server, and add a row of each to a CSV file."""
        for name, server in {**self._servers, "no cache": self.reference}.items():
            self.costs[name].append(server.seen.cost())
            results.append(path, [name, f"{minutes:.2f}", self.asked, *self.costs[name][-1]])

    def close(self) -> None:
        """End all servers and read their logs."""
        self.faults.close()
        everybody: list[Asked] = [self.reference, *self._servers.values(), self.odd]
        for server in everybody:
            server.close()
        for name, log in self._logs.items():
            left = self.faults.left if name == "http" else 0
            self.wrong += results.problems(name, log, self.faults.counts["full_log"], left)


def soak(minutes: float, seed: int, path: Path, load: float) -> list[str]:
    """Run for `minutes`, print what was done, and return what went wrong."""
    path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="zeno-soak-") as scratch:
        run = Soak(Path(scratch), random.Random(seed))
        for missing in run.odd.missing:
            print(f"not available here: {missing}", flush=True)
        started = time.monotonic()
        until, due, told = started + minutes * 60, started, started
        try:
            while (now := time.monotonic()) < until and len(run.wrong) < _MOST_WRONG:
                if now >= due:
                    run.measure(path, (now - started) / 60)
                    due = now + minutes * 60 / _POINTS
                if now >= told + _TOLD_EVERY:
                    told = now
                    _tell(run, now - started)
                run.step()
                # Others may need the machine too.
                time.sleep(min(_LONGEST_PAUSE, (time.monotonic() - now) * (1 / load - 1)))
            run.measure(path, (time.monotonic() - started) / 60)
            run.close()
        except Exception:
            run.wrong.append(f"after {run.asked} requests: {traceback.format_exc()}")
        _tell(run, time.monotonic() - started)
    print(f"curve: {path}")
    for name, costs in run.costs.items():
        print(f"{name}: first {costs[0]}, last {costs[-1]}")
        run.wrong += results.list_growth(name, costs)
    return run.wrong


def _tell(run: Soak, seconds: float) -> None:
    print(f"{run.asked} requests to each server in {seconds / 60:.1f} minutes, wrong: {len(run.wrong)}")
    print(f"  faults: {run.faults.counts}, helper processes killed: {run.faults.killed}", flush=True)
    for line in run.wrong:
        print(f"  {line}", flush=True)


def main(argv: list[str] | None = None) -> int:
    """Run the soak test and print what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2.0, help="how long (default: 2)")
    parser.add_argument("--seed", type=int, default=1, help="seed of edits and faults (default: 1)")
    parser.add_argument("--curve", type=Path, default=ROOT / "build" / "soak" / "curve.csv", help="where to write it")
    parser.add_argument(
        "--load", type=float, default=1.0, help="share of the time in which it works, over 0 up to 1 (default: 1)"
    )
    options = parser.parse_args(argv)
    if not 0 < options.load <= 1:
        parser.error("--load must be over 0 and at most 1")
    if not sys.platform.startswith("linux"):
        parser.error("it measures by /proc: Linux only")
    wrong = soak(options.minutes, options.seed, options.curve, options.load)
    for line in wrong:
        print(line)
    print("nothing was wrong" if not wrong else f"wrong: {len(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
