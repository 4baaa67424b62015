"""Measure what commands cost on ledgers of several sizes, side by side in one run, beside DuckDB on plain Parquet.

    python -m tools.bench.ledger [--sizes 10000,1000000] [--folder DIR]

Bundles of 500 entries are made up: four judges, every artifact judged by two of them, five dimensions. `normalize`
makes ledgers of them, and the other commands run on these. Each command runs in a process of its own, start-up
included. CPU seconds are of all its threads. With `--folder`, ledgers that are there are used again.
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
from collections.abc import Iterator
from pathlib import Path

DIMENSIONS = ("A_structure", "B_snapshot_constraint", "C_actionability", "D_completeness", "E_drift_failure")
A_BUNDLE = 500
_PLAIN = (
    "import duckdb, sys; print(duckdb.sql('SELECT judge_model, generator_model, COUNT(*), AVG(total) FROM (SELECT "
    "judge_model, generator_model, artifact, AVG({total}) AS total FROM read_parquet(?) GROUP BY ALL) GROUP BY ALL', "
    "params=[sys.argv[1]]).fetchall())"
)
_MODELS = 100
_MOST_COMPARISONS = 1_000_000
_MOST_IN_PYTHON = 1_000_000


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
    program = [sys.executable, "-m", "normalizer"]
    yield "start of the program", [*program, "--version"]
    if not ledger.exists():
        bundles = write_bundles(scratch / f"bundles-{size}", size)
        yield "normalize", [*program, "normalize", str(bundles), "--out", str(ledger)]
        shutil.rmtree(bundles)
    yield "aggregate --by judge_model,generator_model", [
        *program, "aggregate", str(ledger), "--by", "judge_model,generator_model"
    ]  # fmt: skip
    yield "aggregate --by generator_model", [*program, "aggregate", str(ledger), "--by", "generator_model"]
    yield "aggregate --sensitivity", [*program, "aggregate", str(ledger), "--by", "generator_model", "--sensitivity"]
    yield "agreement", [*program, "agreement", str(ledger)]
    yield "export --to parquet", [*program, "export", str(ledger), "--to", "parquet", "--out", str(parquet)]
    total = " + ".join(f'"score.{name}"' for name in DIMENSIONS)
    yield "DuckDB on that Parquet file", [sys.executable, "-c", _PLAIN.format(total=total), str(parquet)]
    yield "explain FILE", [*program, "explain", str(ledger), f"out/{size // 4}.pdf"]
    yield "list --valid --file FILE", [*program, "list", str(ledger), "--valid", "--file", f"out/{size // 4}.pdf"]
    yield "list", [*program, "list", str(ledger)]
    yield "compare", [*program, "compare", str(ledger)]
    yield "compare --by judge_model", [*program, "compare", str(ledger), "--by", "judge_model"]
    if size <= _MOST_IN_PYTHON:
        yield "gate with itself", [*program, "gate", str(ledger), str(ledger), "--allow-undecided"]
        yield "report", [*program, "report", str(ledger), "--out", str(scratch / "report.html")]
    yield "audit", [*program, "audit", str(ledger)]
    for number in (1, 1000):
        yield f"append of {number}", [*program, "normalize", _bundle(scratch, number), "--out", str(ledger)]
    few = min(size, _MOST_COMPARISONS)
    duels = folder / f"duels-{few}"
    if not duels.exists():
        made = [*program, "normalize", *_comparisons(scratch, few), "--out", str(duels)]
        subprocess.run(made, check=True, capture_output=True)
    yield f"preferences, {few} of {_MODELS} models", [*program, "preferences", str(duels)]


def write_bundles(folder: Path, records: int) -> Path:
    """Write bundles of that many records, the same on every machine, and return their folder."""
    chance = random.Random(11)
    for number in range(-(-records // A_BUNDLE)):
        half, judge = divmod(number, 2)
        judges = ("judge-a", "judge-b") if half % 2 else ("judge-c", "judge-d")
        entries = [
            {"file": f"out/{artifact}.pdf", "scores": {name: chance.getrandbits(8) % 3 for name in DIMENSIONS}}
            for artifact in range(half * A_BUNDLE, half * A_BUNDLE + min(A_BUNDLE, records - number * A_BUNDLE))
        ]
        document = {"run_id": f"run-{number}", "phase": 1, "protocol_version": "p-1", "judge_model": judges[judge]}
        factors = {"question_id": f"q{half % 50}", "prompt_version": f"v{half % 2}"}
        document |= {"generator_model": f"writer-{half % 3}", "factors": factors, "per_file_scores": entries}
        place = folder / f"{number // 1000:03}" / f"{number:06}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(document, separators=(",", ":")))
    return folder


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


def _comparisons(scratch: Path, count: int) -> list[str]:
    """Write bundles of comparisons of 500 items and return their paths."""
    chance = random.Random(3)
    paths = []
    for part in range(-(-count // 100_000)):
        rows = []
        for number in range(part * 100_000, min(count, (part + 1) * 100_000)):
            a, b = chance.sample(range(_MODELS), 2)
            verdict, order = chance.choice(("a", "b", "draw")), chance.choice(("ab", "ba"))
            row = {"item": f"q{number % 500}", "a": f"m{a}", "b": f"m{b}", "verdict": verdict, "order": order}
            rows.append({**row, "repeat": number // 500})
        document = {"run_id": f"d{part}", "phase": 1, "protocol_version": "p-1", "judge_model": "j"}
        paths.append(scratch / f"duels-{part}.json")
        paths[-1].write_text(json.dumps({**document, "verdict_about": "positions", "per_comparison": rows}))
    return [str(path) for path in paths]


def _measure(size: int, name: str, command: list[str], ledger: Path) -> None:
    inodes = {path: path.stat().st_ino for path in ledger.rglob("*")}
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = child.stderr.read() if child.stderr is not None else b""
    _, status, used = os.wait4(child.pid, 0)
    took = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"{name}: {said.decode()}")
    files = (path for path in ledger.rglob("*") if path.is_file())
    written = sum(path.stat().st_size for path in files if inodes.get(path) != path.stat().st_ino)
    print(
        f"{size:>9}  {name:<44}{used.ru_utime + used.ru_stime:>6.2f} s{took:>6.1f} s{used.ru_maxrss / 1000:>6.0f} MB"
        f"{written / 1e6:>7.1f} MB",
        flush=True,
    )


if __name__ == "__main__":
    raise SystemExit(main())
