"""How fast files are normalized, as ratios to plain `json.loads` and `json.dumps` of the same bytes in the same run.

    python -m tools.bench.normalize [--count 200000] [--rounds 3]

Judge bundles, with one job and with two, and rows of MT-bench, scores and pairs. The least time of each counts, by the
clock and by CPU seconds, for a machine that others use too. Memory is the peak of a process of its own, for the whole
and for a tenth of the bundles.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from normalizer.batch.run import run
from normalizer.containers import shipped
from normalizer.documents.settings import Settings, load
from tools.bench.ledger import DIMENSIONS
from tools.bench.servers import processor_seconds

TEXT = "the answer keeps to its task and lists each step in order as of March with “quotes” and a caveat"
A_BUNDLE = 200
"""Entries of a bundle."""
Spent = tuple[float, float]
"""Seconds by the clock, and of CPU."""


def write_bundles(folder: Path, count: int) -> list[str]:
    """Write bundles such as judges write, the same on every machine, and return their paths."""
    chance = random.Random(7)
    for number in range(max(1, count // A_BUNDLE)):
        listed = []
        for item in range(A_BUNDLE):
            scores = {key: chance.randrange(3) for key in DIMENSIONS}
            evidence = {key: _words(chance, 12) for key in DIMENSIONS}
            listed.append({"file": f"q{item}.pdf", "scores": scores, "evidence": evidence})
        made = {"run_id": f"run-{number}", "protocol_version": "p-1", "judge_prompt_version": "jp-1", "phase": 2}
        made |= {"judge_model": "judge", "generator_model": "writer", "factors": {"prompt": "baseline"}}
        (folder / f"{number:05}.json").write_text(json.dumps({**made, "per_file_scores": listed}), encoding="utf-8")
    return sorted(map(str, folder.iterdir()))


def score_row(number: int, chance: random.Random) -> dict[str, Any]:
    """Return a line of MT-bench, about a thousand bytes; a fifth of the judgments failed."""
    texts = {"user_prompt": _words(chance, 80), "judgment": _words(chance, 60) + " Rating: [[7]]"}
    named = {"question_id": number, "model": f"writer-{number % 4}", "judge": ["judge-large", "single-v1"]}
    return {**named, **texts, "score": chance.choice([1, 2, 7, 8.5, -1]), "turn": 1, "tstamp": 1687224461.7}


def pair_row(number: int, chance: random.Random) -> dict[str, Any]:
    """Return a line of MT-bench with two games, about four thousand bytes; an eighth of the verdicts failed."""
    games: dict[str, Any] = {}
    for game in (1, 2):
        games[f"g{game}_winner"] = chance.choice(["model_1", "model_2", "tie", "model_1", "model_2", "tie", "error"])
        games |= {f"g{game}_user_prompt": _words(chance, 300), f"g{game}_judgment": _words(chance, 60)}
    named = {"model_1": f"writer-{number % 4}", "model_2": "base", "judge": ["judge-large", "pair-v2"]}
    return {"question_id": number, **named, **games, "turn": 1, "tstamp": 1687224461.7}


ROWS: dict[str, Callable[[int, random.Random], dict[str, Any]]] = {"mt-bench": score_row, "mt-bench-pair": pair_row}


def write_rows(path: Path, dialect: str, count: int) -> list[str]:
    """Write that many lines of a dialect, and return the path."""
    chance = random.Random(1)
    path.write_text("".join(json.dumps(ROWS[dialect](number, chance)) + "\n" for number in range(count)))
    return [str(path)]


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(TEXT.split(), k=count))


def main(argv: list[str] | None = None) -> int:
    """Measure and print; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200_000, help="entries, and a tenth as many rows")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peak", metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.peak:
        return _print_peak(Path(options.peak))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "bundles"
        folder.mkdir()
        paths = write_bundles(folder, options.count)
        _race("judge bundles", paths, load(), Path(scratch), options.rounds, (1, 2))
        for share in (10, 1):
            some = Path(scratch) / f"some-{share}"
            some.mkdir()
            for path in paths[::share]:
                os.link(path, some / Path(path).name)
            command = [sys.executable, "-m", "tools.bench.normalize", "--peak", str(some)]
            peak = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
            print(f"  peak memory with {len(os.listdir(some))} bundles: {peak} MB")
        for dialect in ROWS:
            settings = load(dialect=shipped.read_dialect(dialect), stated=b'{"phase": 1, "protocol_version": "p"}')
            rows = write_rows(Path(scratch) / "rows.jsonl", dialect, options.count // 10)
            _race(f"rows of {dialect}", rows, settings, Path(scratch), options.rounds, (1,))
    return 0


def _race(name: str, paths: list[str], settings: Settings, scratch: Path, rounds: int, jobs: tuple[int, ...]) -> None:
    times: dict[str, list[Spent]] = {"json": [], **{f"--jobs {number}": [] for number in jobs}}
    for _ in range(rounds):
        times["json"].append(_time(lambda: _read_and_write(paths)))
        for number in jobs:
            times[f"--jobs {number}"].append(_time(lambda: run(paths, scratch / "ledger", settings, jobs=number)))  # noqa: B023 - called at once
            shutil.rmtree(scratch / "ledger")
    size = sum(os.path.getsize(path) for path in paths)
    print(f"{name}: {size / 1e6:.0f} MB, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    clock, cpu = min(times["json"])[0], min(spent[1] for spent in times["json"])
    for way, spent in times.items():
        least, used = min(spent)[0], min(one[1] for one in spent)
        print(f"  {way:<10}{least:7.2f} s, {used:7.2f} s of CPU; {least / clock:.2f} and {used / cpu:.2f} times json")


def _read_and_write(paths: list[str]) -> None:
    for path in paths:
        with open(path, "rb") as file:
            for line in file:
                json.dumps(json.loads(line))


def _time(work: Callable[[], object]) -> Spent:
    clock, cpu = time.perf_counter(), processor_seconds(own=True)
    work()
    return time.perf_counter() - clock, processor_seconds(own=True) - cpu


def _print_peak(folder: Path) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        run(map(str, sorted(folder.iterdir())), Path(scratch) / "ledger", load())
    # Not getrusage: its peak is inherited from the process that started this one.
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    print(int(status["VmHWM"].split()[0]) // 1024)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
