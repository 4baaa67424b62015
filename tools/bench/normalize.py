"""How fast bundles are normalized, as ratios from one run: to plain `json.loads` + `json.dumps`, and two jobs to one.

    python tools/bench/normalize.py [--entries 200000] [--bundles 1000] [--rounds 3]

Each round times the three side by side on the same bytes; the least time of each counts, since whatever else the
machine does only ever adds. Memory is the peak of a process of its own, for the whole and for a tenth of the bundles.
"""

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from normalizer.batch.run import run
from normalizer.documents.settings import load

DIMENSIONS = ("A_structure", "B_snapshot_constraint", "C_actionability", "D_completeness", "E_drift_failure")
TEXT = "the answer keeps to its task and lists each step in order as of March with “quotes” and a caveat"
WORDS = TEXT.split()


def make(folder: Path, bundles: int, entries: int) -> None:
    """Write bundles such as judges write, the same on every machine."""
    chance = random.Random(7)
    for number in range(bundles):
        listed = []
        for item in range(entries // bundles):
            scores = {key: chance.randrange(3) for key in DIMENSIONS}
            evidence = {key: " ".join(chance.choices(WORDS, k=12)) for key in DIMENSIONS}
            listed.append(
                {"file": f"out/q{item:03}.pdf", "scores": scores, "evidence": evidence, "total": sum(scores.values())}
            )
        document = {
            "run_id": f"run-{number}", "protocol_version": "p-1", "judge_prompt_version": "jp-1",
            "judge_model": "judge", "generator_model": "writer", "phase": 2, "self_judged": False,
            "factors": {"prompt": "baseline"}, "per_file_scores": listed,
        }  # fmt: skip
        (folder / f"{number:05}.json").write_text(json.dumps(document), encoding="utf-8")


class Spent(NamedTuple):
    """Seconds that some work took: by the clock, CPU of this process, CPU of its children."""

    clock: float
    own: float
    children: float


def timed(work: Callable[[], object]) -> Spent:
    """Run a function and return the seconds that it took."""
    clock, own, children = time.perf_counter(), time.process_time(), _children()
    work()
    return Spent(time.perf_counter() - clock, time.process_time() - own, _children() - children)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(argv: list[str] | None = None) -> int:
    """Measure and print; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=200_000)
    parser.add_argument("--bundles", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peak", metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.peak:
        return _peak(Path(options.peak))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "bundles"
        folder.mkdir()
        make(folder, options.bundles, options.entries)
        paths = sorted(map(str, folder.iterdir()))
        contents = [Path(path).read_bytes() for path in paths]
        size = sum(map(len, contents))
        print(f"{options.entries} entries in {options.bundles} bundles, {size / 1e6:.0f} MB, {os.cpu_count()} cores")
        times: dict[str, list[Spent]] = {"json": [], "1": [], "2": []}
        for number in range(options.rounds):
            times["json"].append(timed(lambda: [json.dumps(json.loads(data)) for data in contents]))
            for jobs in (1, 2):
                ledger = Path(scratch) / f"ledger-{number}-{jobs}"
                times[str(jobs)].append(timed(lambda: run(paths, ledger, load(), jobs=jobs)))  # noqa: B023 - called at once
                shutil.rmtree(ledger)
        least = {name: min(values) for name, values in times.items()}
        cpu = {name: min(spent.own + spent.children for spent in values) for name, values in times.items()}
        for name, values in times.items():
            label = "json.loads + json.dumps" if name == "json" else f"normalize, --jobs {name}"
            rounds = ", ".join(f"{spent.clock:.2f}" for spent in values)
            print(f"{label:<26}{least[name].clock:7.2f} s, {cpu[name]:.2f} s of CPU  (rounds: {rounds})")
        print(f"ratio of one job to json:  {least['1'].clock / least['json'].clock:.2f}  (at most 6 is wanted)")
        print(f"gain of two jobs over one: {least['1'].clock / least['2'].clock:.2f}  (at least 1.6 is wanted)")
        # On a machine that others use too the clock says little: print CPU seconds as well.
        alone = min(spent.own + spent.children / 2 for spent in times["2"])
        print(
            f"the same by CPU seconds:   {cpu['1'] / cpu['json']:.2f}, and {cpu['1'] / alone:.2f} with two free cores"
        )
        print(f"load average: {', '.join(f'{value:.1f}' for value in os.getloadavg())} on {os.cpu_count()} cores")
        for share in (10, 1):
            some = Path(scratch) / f"some-{share}"
            some.mkdir()
            for path in paths[::share]:
                os.link(path, some / Path(path).name)
            peak = subprocess.run([sys.executable, __file__, "--peak", str(some)], capture_output=True, text=True)
            print(f"peak memory with {len(os.listdir(some)):>6} bundles: {peak.stdout.strip()} MB")
    return 0


def _peak(folder: Path) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        run(map(str, sorted(folder.iterdir())), Path(scratch) / "ledger", load())
    # Not getrusage: its peak is inherited from the process that started this one.
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    print(int(status["VmHWM"].split()[0]) // 1024)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
