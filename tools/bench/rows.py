"""Rows of a container against plain JSON: `python -m tools.bench.rows [ROWS]`. Prints CPU seconds, ratio and memory."""

import gc
import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from normalizer.batch.part_files import PartFiles
from normalizer.containers import shipped
from normalizer.documents.settings import load
from normalizer.screening.row_pipeline import normalize_rows

WORDS = [
    "the",
    "answer",
    "is",
    "good",
    "but",
    "lacks",
    "detail",
    "and",
    "could",
    "be",
    "more",
    "precise",
    "about",
    "sources",
]


def write(path: Path, count: int) -> None:
    """Write an MT-bench file of that many lines, about a thousand bytes each; a fifth of the judgments failed."""
    chance = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            row = {
                "question_id": number,
                "model": f"writer-{number % 4}",
                "judge": ["judge-large", "single-v1"],
                "user_prompt": " ".join(chance.choices(WORDS, k=80)),
                "judgment": " ".join(chance.choices(WORDS, k=60)) + " Rating: [[7]]",
                "score": chance.choice([1, 2, 7, 8.5, -1]),
                "turn": 1,
                "tstamp": 1687224461.7,
            }
            file.write(json.dumps(row) + "\n")


def plain(path: Path) -> float:
    """CPU seconds of json.loads and json.dumps, line by line."""
    began = time.process_time()
    with path.open("rb") as file, Path("/dev/null").open("w") as out:
        out.writelines(json.dumps(json.loads(line)) for line in file)
    return time.process_time() - began


def ours(path: Path, folder: Path) -> float:
    """CPU seconds of normalizing the rows into files."""
    settings = load(dialect=shipped.given("mt-bench"), stated=b'{"phase": 1, "protocol_version": "p"}')
    parts = PartFiles(folder, "00")
    gc.disable()
    began = time.process_time()
    with path.open("rb") as stream:
        normalize_rows(stream, "0" * 64, settings, parts)
    parts.close()
    return time.process_time() - began


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.jsonl")
        write(path, count)
        ordinary, mine = plain(path), ours(path, Path(folder))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        print(f"{count} rows, {path.stat().st_size / 1e6:.0f} MB: plain JSON {ordinary:.2f} s, rows {mine:.2f} s")
        print(f"ratio {mine / ordinary:.1f}, peak memory {peak:.0f} MB")


if __name__ == "__main__":
    main()
