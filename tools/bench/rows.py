"""Rows of a container against plain JSON: `python -m tools.bench.rows [ROWS]`. Prints CPU seconds, ratio and memory."""

import gc
import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from normalizer.batch.part_files import PartFiles
from normalizer.containers import shipped
from normalizer.documents.settings import load
from normalizer.screening.pipeline import normalize_file

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


def score_row(number: int, chance: random.Random) -> dict[str, Any]:
    """A line of MT-bench, about a thousand bytes; a fifth of the judgments failed."""
    return {
        "question_id": number,
        "model": f"writer-{number % 4}",
        "judge": ["judge-large", "single-v1"],
        "user_prompt": " ".join(chance.choices(WORDS, k=80)),
        "judgment": " ".join(chance.choices(WORDS, k=60)) + " Rating: [[7]]",
        "score": chance.choice([1, 2, 7, 8.5, -1]),
        "turn": 1,
        "tstamp": 1687224461.7,
    }


def pair_row(number: int, chance: random.Random) -> dict[str, Any]:
    """A line of MT-bench with two games, each of which becomes a comparison: about four thousand bytes. A prompt holds
    the question and both answers; an eighth of the verdicts failed."""
    games = {
        f"g{game}_{name}": text
        for game in (1, 2)
        for name, text in (
            ("winner", chance.choice(["model_1", "model_2", "tie", "model_1", "model_2", "tie", "tie", "error"])),
            ("user_prompt", " ".join(chance.choices(WORDS, k=300))),
            ("judgment", " ".join(chance.choices(WORDS, k=60))),
        )
    }
    names = {"model_1": f"writer-{number % 4}", "model_2": "base", "judge": ["judge-large", "pair-v2"]}
    return {"question_id": number, **names, **games, "turn": 1, "tstamp": 1687224461.7}


KINDS = {"mt-bench": score_row, "mt-bench-pair": pair_row}


def write(path: Path, count: int, dialect: str = "mt-bench") -> None:
    """Write that many lines of a dialect."""
    chance = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            file.write(json.dumps(KINDS[dialect](number, chance)) + "\n")


def plain(path: Path) -> float:
    """CPU seconds of json.loads and json.dumps, line by line."""
    began = time.process_time()
    with path.open("rb") as file, Path("/dev/null").open("w") as out:
        out.writelines(json.dumps(json.loads(line)) for line in file)
    return time.process_time() - began


def ours(path: Path, folder: Path, dialect: str) -> float:
    """CPU seconds of normalizing the rows into files."""
    settings = load(dialect=shipped.given(dialect), stated=b'{"phase": 1, "protocol_version": "p"}')
    parts = PartFiles(folder, "00")
    gc.disable()
    began = time.process_time()
    with path.open("rb") as stream:
        normalize_file(stream, "0" * 64, path.stat().st_size, settings, parts)
    parts.close()
    return time.process_time() - began


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    for dialect in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "rows.jsonl")
            write(path, count, dialect)
            ordinary, mine = plain(path), ours(path, Path(folder), dialect)
            size = path.stat().st_size / 1e6
        print(f"{dialect}: {count} rows, {size:.0f} MB: plain JSON {ordinary:.2f} s, rows {mine:.2f} s")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        print(f"ratio {mine / ordinary:.1f}, peak memory {peak:.0f} MB")


if __name__ == "__main__":
    main()
