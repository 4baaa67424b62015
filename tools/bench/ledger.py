"""Measure what commands cost on ledgers of several sizes, side by side in one run, beside DuckDB on plain Parquet.

    python -m tools.bench.ledger [--sizes 10000,1000000] [--folder DIR]

Ledgers are those of `tools.bench.aggregate`; `normalize` and `audit` use real bundles of the same records, a tenth as
many at most. Each command runs in a process of its own, start-up included. CPU seconds are of all its threads.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tools.bench.aggregate import DIMENSIONS, make

_PLAIN = (
    "import duckdb, sys; print(duckdb.sql('SELECT judge_model, generator_model, COUNT(*), AVG(total) FROM (SELECT "
    "judge_model, generator_model, artifact, AVG({total}) AS total FROM read_parquet(?) GROUP BY ALL) GROUP BY ALL', "
    "params=[sys.argv[1]]).fetchall())"
)
_MODELS = 100


def main(argv: list[str] | None = None) -> int:
    """Measure and print; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,1000000")
    parser.add_argument("--folder", type=Path, help="Where ledgers are made and kept; a scratch folder by default.")
    options = parser.parse_args(argv)
    print(f"{'records':>9}  {'command':<44}{'CPU':>8}{'wall':>8}{'peak':>9}{'written':>10}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        for size in map(int, options.sizes.split(",")):
            for name, command in _commands(folder, Path(scratch), size):
                _measure(size, name, command, folder / f"ledger-{size}")
    return 0


def _commands(folder: Path, scratch: Path, size: int) -> Iterator[tuple[str, list[str]]]:
    """Yield what is measured, and make what it needs just before."""
    ledger, parquet = folder / f"ledger-{size}", scratch / "scores.parquet"
    if not ledger.exists():
        make(ledger, size)
    program = [sys.executable, "-m", "normalizer"]
    yield "start of the program", [*program, "--version"]
    yield "aggregate --by judge_model,generator_model", [
        *program, "aggregate", str(ledger), "--by", "judge_model,generator_model"
    ]  # fmt: skip
    yield "aggregate --sensitivity", [*program, "aggregate", str(ledger), "--by", "generator_model", "--sensitivity"]
    yield "agreement", [*program, "agreement", str(ledger)]
    yield "export --to parquet", [*program, "export", str(ledger), "--to", "parquet", "--out", str(parquet)]
    total = " + ".join(f'"score.{name}"' for name in DIMENSIONS)
    yield "DuckDB on that Parquet file", [sys.executable, "-c", _PLAIN.format(total=total), str(parquet)]
    yield "explain FILE", [*program, "explain", str(ledger), f"out/{size // 4}.pdf"]
    yield "list --valid --file FILE", [*program, "list", str(ledger), "--valid", "--file", f"out/{size // 4}.pdf"]
    for number in (1, 1000):
        yield f"append of {number}", [*program, "normalize", _bundle(scratch, number), "--out", str(ledger)]
    few = max(size // 10, 10_000)
    bundles = [_bundle(scratch, 500, f"{part}") for part in range(few // 500)]
    yield f"normalize {few} records", [*program, "normalize", *bundles, "--out", str(scratch / f"real-{size}")]
    yield f"audit of these {few}", [*program, "audit", str(scratch / f"real-{size}")]
    duels = scratch / f"duels-{size}"
    subprocess.run(
        [*program, "normalize", _comparisons(scratch, few), "--out", str(duels)], check=True, capture_output=True
    )
    yield f"preferences, {few} of {_MODELS} models", [*program, "preferences", str(duels)]


def _bundle(scratch: Path, entries: int, name: str = "new") -> str:
    """Write a bundle and return its path."""
    scores = dict.fromkeys(DIMENSIONS, 1)
    document = {
        "run_id": f"{name}-{entries}-{time.time_ns()}",
        "phase": 1,
        "protocol_version": "p-1",
        "judge_model": "judge-a",
        "generator_model": "writer-0",
        "per_file_scores": [{"file": f"{name}-{number}.pdf", "scores": scores} for number in range(entries)],
    }
    (scratch / f"{name}-{entries}.json").write_text(json.dumps(document))
    return str(scratch / f"{name}-{entries}.json")


def _comparisons(scratch: Path, count: int) -> str:
    chance = random.Random(3)
    rows: list[dict[str, object]] = []
    for number in range(count):
        a, b = chance.sample(range(_MODELS), 2)
        verdict = chance.choice(("a", "b", "draw"))
        rows.append({"item": f"q{number % 500}", "a": f"m{a}", "b": f"m{b}", "verdict": verdict, "order": "ab"})
        rows[-1]["repeat"] = number // 500
    document = {"run_id": "d", "phase": 1, "protocol_version": "p-1", "judge_model": "j", "per_comparison": rows}
    (scratch / "duels.json").write_text(json.dumps({**document, "verdict_about": "positions"}))
    return str(scratch / "duels.json")


def _measure(size: int, name: str, command: list[str], ledger: Path) -> None:
    inodes = {path: path.stat().st_ino for path in ledger.iterdir()}
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = child.stderr.read() if child.stderr is not None else b""
    _, status, used = os.wait4(child.pid, 0)
    took = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"{name}: {said.decode()}")
    written = sum(path.stat().st_size for path in ledger.iterdir() if inodes.get(path) != path.stat().st_ino)
    print(
        f"{size:>9}  {name:<44}{used.ru_utime + used.ru_stime:>6.2f} s{took:>6.1f} s{used.ru_maxrss / 1000:>6.0f} MB"
        f"{written / 1e6:>7.1f} MB",
        flush=True,
    )


if __name__ == "__main__":
    raise SystemExit(main())
