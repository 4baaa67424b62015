"""Keep servers under edits, requests and faults: nox -s soak -- --minutes N.

A warm server over stdio and one over HTTP are asked after every edit, and their answers compared with those of a server
that caches nothing. Memory, descriptors and threads are measured every 200 requests, written to build/soak/curve.csv,
and must not grow. Exit status: 0 all is well, 1 an answer was wrong or something grew.
"""

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tools.soak.faults import Faults
from tools.soak.servers import Cost, Http, Stdio
from tools.soak.tree import ChangingTree

ROOT = Path(__file__).resolve().parents[2]
_EVERY = 200
_SHOWN = 1500
_FAULT = 0.02
# What a process may hold more in the last quarter of the time than in the second: caches fill, allocators keep.
_MORE_MEMORY = 1.15
_MORE_DESCRIPTORS = 4
_MORE_THREADS = 1


def soak(minutes: float, seed: int, curve: Path) -> list[str]:
    """Run for so long; return what went wrong, and print what was done."""
    chance = random.Random(seed)
    wrong: list[str] = []
    costs: dict[str, list[Cost]] = {"stdio": [], "http": []}
    asked = 0
    with tempfile.TemporaryDirectory(prefix="zeno-soak-") as scratch:
        root = Path(scratch) / "root"
        root.mkdir()
        tree = ChangingTree(root, chance)
        reference = Stdio(root, "--no-cache")
        stdio, http = Stdio(root, "--log", str(Path(scratch) / "log")), Http(root)
        servers: dict[str, Stdio | Http] = {"stdio": stdio, "http": http}
        faults = Faults(stdio, http, chance)
        started = time.monotonic()
        until = started + minutes * 60
        while time.monotonic() < until and not wrong:
            if chance.random() < 0.5:
                tree.edit()
            if chance.random() < _FAULT:
                faults.one()
            op, args = tree.request()
            expected = reference.ask(op, args)
            for name, server in servers.items():
                if (answer := server.ask(op, args)) != expected:
                    question = f"{name}: request {asked}: {op} {json.dumps(args)}"
                    wrong.append(f"{question}: {str(answer)[:_SHOWN]} instead of {str(expected)[:_SHOWN]}")
            if asked % _EVERY == 0:
                for name, server in servers.items():
                    costs[name].append(server.cost())
            asked += 1
        took = (time.monotonic() - started) / 60
        faults.close()
        for server in (reference, *servers.values()):
            server.close()
    _write(curve, costs)
    print(f"{asked} requests to each server in {took:.1f} minutes; curve: {curve}")
    print(f"faults: {faults.counts}, helper processes killed: {faults.killed}")
    for name, points in costs.items():
        print(f"{name}: first {points[0]}, last {points[-1]}")
        wrong += grown(name, points)
    return wrong


def _write(curve: Path, costs: dict[str, list[Cost]]) -> None:
    curve.parent.mkdir(parents=True, exist_ok=True)
    rows = [(name, at * _EVERY, *cost) for name, points in costs.items() for at, cost in enumerate(points)]
    curve.write_text(
        "server,requests,resident_kib,descriptors,threads\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    )


def grown(name: str, points: list[Cost]) -> list[str]:
    """Return what grew between the second and the last quarter of the points; too few of them tell nothing."""
    quarter = len(points) // 4
    if quarter < 3:
        return []
    before, after = points[quarter : 2 * quarter], points[-quarter:]
    found = []
    for field, more in (("resident_kib", None), ("descriptors", _MORE_DESCRIPTORS), ("threads", _MORE_THREADS)):
        then, now = (statistics.median(getattr(point, field) for point in part) for part in (before, after))
        if now > (then * _MORE_MEMORY if more is None else then + more):
            found.append(f"{name}: {field} grew from {then:g} to {now:g}")
    return found


def main(argv: list[str] | None = None) -> int:
    """Soak, and tell what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2.0, help="how long (default: 2)")
    parser.add_argument("--seed", type=int, default=1, help="another seed takes another course (default: 1)")
    parser.add_argument("--curve", type=Path, default=ROOT / "build" / "soak" / "curve.csv", help="where to write it")
    options = parser.parse_args(argv)
    if not sys.platform.startswith("linux"):
        parser.error("it measures by /proc: Linux only")
    wrong = soak(options.minutes, options.seed, options.curve)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
