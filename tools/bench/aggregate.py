"""How aggregation grows with the ledger, as ratios to reading the same file alone, and its peak memory.

    python tools/bench/aggregate.py [--sizes 10000,100000,1000000,5000000] [--engine duckdb] [--memory 1200MB]

Ledgers are made up: four judges, every artifact judged by two of them, five dimensions with evidence. Each size is
timed in a process of its own, start-up included; the file was read just before, so that both find it in the cache.
CPU seconds are told too, for machines that others use; those of Spark's Java machine are not among them.
"""

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from normalizer.documents.settings import Settings, load
from normalizer.ledger.buckets import Chunk, raw_place, split
from normalizer.ledger.commit_record import encode, line_file, node_name
from normalizer.ledger.commit_tree import arranged_tree
from normalizer.ledger.record_index import make_index
from normalizer.screening.pipeline import line

DIMENSIONS = ("A_structure", "B_snapshot_constraint", "C_actionability", "D_completeness", "E_drift_failure")
PASSAGE = "the answer keeps to its task and lists each step in order"
A_BUNDLE = 500
_LOG = 1 << 22


def make(folder: Path, records: int) -> None:
    """Write a ledger such as `normalize` writes, the same on every machine."""
    settings = load()
    folder.mkdir(parents=True)
    (folder / "settings").mkdir()
    for digest, text in settings.documents.items():
        (folder / "settings" / f"{digest}.json").write_text(text + "\n")
    raw = {hashlib.sha256(data).hexdigest(): data for data in (b"%d" % n for n in range(-(-records // A_BUNDLE)))}
    shas = sorted(raw)
    entries = [min(A_BUNDLE, records - number * A_BUNDLE) for number in range(len(shas))]
    lines = {
        "records": _records(shas, entries),
        "invalid": iter(()),
        "headers": (Chunk(sha256, _header(sha256, some, settings)) for sha256, some in zip(shas, entries, strict=True)),
        "audit": iter(()),
    }
    files = []
    for kind, content in lines.items():
        for place, data in split(kind, "", content):
            (folder / place.name).write_bytes(data)
            index = None
            if place.index_name is not None:
                index = make_index(data)
                (folder / place.index_name).write_bytes(index)
            files.append(line_file(place, data, index))
    for node in arranged_tree(files):
        (folder / node_name(node.prefix)).write_bytes(encode(node))
    for sha256 in shas:  # a number is no bundle: `audit` would find that the records do not follow from it
        raw_place(folder, sha256).parent.mkdir(parents=True, exist_ok=True)
        raw_place(folder, sha256).write_bytes(raw[sha256])


def _records(shas: list[str], entries: list[int]) -> Iterator[Chunk]:
    chance = random.Random(11)
    for number, (sha256, some) in enumerate(zip(shas, entries, strict=True)):
        yield Chunk(sha256, "".join(_bundle(number, sha256, some, chance)).encode())


def _bundle(number: int, sha256: str, entries: int, chance: random.Random) -> list[str]:
    evidence = ",".join(f'"{key}":"{PASSAGE}"' for key in DIMENSIONS)
    half, judge = divmod(number, 2)
    judges = ("judge-a", "judge-b") if half % 2 else ("judge-c", "judge-d")
    lines = []
    for index in range(entries):
        artifact = half * A_BUNDLE + index
        scores = ",".join(f'"{key}":{chance.getrandbits(8) % 3}' for key in DIMENSIONS)
        lines.append(
            line(
                f'"source":{{"bundle_sha256":"{sha256}","index":{index},"pointer":"/per_file_scores/{index}"}},'
                f'"file":"out/{artifact}.pdf","scores":{{{scores}}},"evidence":{{{evidence}}},'
                f'"artifact":"out/{artifact}.pdf","run_id":"run-{number}","protocol_version":"p-1",'
                f'"judge_model":"{judges[judge]}","generator_model":"writer-{artifact % 3}","phase":2,'
                f'"self_judged":false,"rubric":"prompt-drift-v1",'
                f'"factors":{{"question_id":"q{artifact % 50}","prompt_version":"v{artifact % 2}"}}'
            )
        )
    return lines


def _header(sha256: str, entries: int, settings: Settings) -> bytes:
    identity = json.dumps(settings.identity, separators=(",", ":"))
    text = (
        f'{{"bundle_sha256":"{sha256}","entries":{entries},"valid":{entries},"invalid":0,'
        f'"entries_at":"/per_file_scores","settings":{identity},"header":{{}},"reasons":[]}}\n'
    )
    return text.encode()


def _read(folder: Path) -> float:
    start = time.perf_counter()
    for path in folder.glob("records*.jsonl"):
        with path.open("rb", buffering=0) as file:
            while file.read(_LOG):
                pass
    return time.perf_counter() - start


def main(argv: list[str] | None = None) -> int:
    """Measure and print; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000,1000000,5000000")
    parser.add_argument("--engine", default="duckdb")
    parser.add_argument("--memory", default="1200MB")
    parser.add_argument("--by", default="judge_model,generator_model")
    parser.add_argument("--folder", type=Path, help="Where ledgers are made and kept; a scratch folder by default.")
    parser.add_argument("--append", action="store_true", help="Add one record to each ledger instead.")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.one:
        return _one(options.one, options)
    titles = (("records", 9), ("file", 10), ("read alone", 12), ("aggregate", 11), ("ratio", 8), ("CPU", 9))
    print("".join(f"{title:>{width}}" for title, width in (*titles, ("us a record", 13), ("peak memory", 13))))
    with tempfile.TemporaryDirectory() as scratch:
        for size in map(int, options.sizes.split(",")):
            ledger = (options.folder or Path(scratch)) / f"ledger-{size}"
            if not ledger.exists():
                make(ledger, size)
            if options.append:
                print(_append(ledger, Path(scratch), size), flush=True)
                continue
            _read(ledger)
            alone = _read(ledger)
            command = [sys.executable, __file__, "--one", str(ledger), "--engine", options.engine]
            command += ["--memory", options.memory, "--by", options.by]
            start, before = time.perf_counter(), os.times()
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            took, after = time.perf_counter() - start, os.times()
            busy = after.children_user + after.children_system - before.children_user - before.children_system
            bytes_ = sum(path.stat().st_size for path in ledger.glob("records*.jsonl"))
            print(
                f"{size:>9}{bytes_ / 1e6:>7.0f} MB{alone:>10.2f} s{took:>9.2f} s{took / alone:>8.1f}{busy:>7.1f} s"
                f"{took / size * 1e6:>13.2f}{done.stdout.strip():>10} MB",
                flush=True,
            )
    return 0


def _append(ledger: Path, scratch: Path, size: int) -> str:
    """Add a bundle of one record to a ledger, in a process of its own; returns what it cost."""
    number = len(list(ledger.glob("bundles/*/*")))
    scores = dict.fromkeys(DIMENSIONS, 1)
    entry = {"file": f"new-{number}.pdf", "scores": scores}
    envelope = {"run_id": f"new-{number}", "phase": 1, "protocol_version": "p-1", "judge_model": "judge-a"}
    envelope["generator_model"] = "writer-0"
    (scratch / "new.json").write_text(json.dumps({**envelope, "per_file_scores": [entry]}))
    before, start = os.times(), time.perf_counter()
    command = [sys.executable, "-m", "normalizer", "normalize", str(scratch / "new.json"), "--out", str(ledger)]
    inodes = {path: path.stat().st_ino for path in ledger.glob("*.json*")}
    subprocess.run(command, capture_output=True, check=True)
    took, after = time.perf_counter() - start, os.times()
    written = sum(path.stat().st_size for path in ledger.glob("*.json*") if inodes.get(path) != path.stat().st_ino)
    busy = after.children_user + after.children_system - before.children_user - before.children_system
    return f"{size:>9} records: one more in {took:.2f} s, {busy:.2f} s of CPU, {written / 1e6:.2f} MB of files written"


def _one(ledger: Path, options: argparse.Namespace) -> int:
    from normalizer.aggregate.keys import keys_of
    from normalizer.aggregate.summary import Options, aggregate

    summary = aggregate((ledger,), Options(by=keys_of(options.by), engine=options.engine, memory=options.memory))
    if sum(row["n_records"] for row in summary["rows"]) != summary["records"]:
        raise SystemExit("records were lost")
    # Not getrusage: its peak is inherited from the process that started this one.
    status = dict(entry.split(":", 1) for entry in Path("/proc/self/status").read_text().splitlines())
    print(int(status["VmHWM"].split()[0]) // 1024)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
