"""Single scores made up for tests: judges and annotators over the same files, written as bundles and normalized."""

import json
import random
from pathlib import Path
from typing import Any

from normalizer.cli import main
from tests.support.bundles import DIMENSIONS

Scores = dict[str, dict[str, int]]
"""Score of each dimension, by file."""


def truth(files: int, seed: int) -> Scores:
    """Scores from 0 to 2 for so many files."""
    rng = random.Random(seed)
    return {f"f{n:03}": {name: rng.choice([0, 1, 1, 2, 2]) for name in DIMENSIONS} for n in range(files)}


def noisy(scores: Scores, seed: int, wrong: float, shift: float = 0.0) -> Scores:
    """These scores, each moved by one with some probability, upwards or downwards as `shift` favours."""
    rng = random.Random(seed)

    def moved(score: int) -> int:
        if rng.random() >= wrong:
            return score
        return min(2, max(0, score + (1 if rng.random() < 0.5 + shift else -1)))

    return {file: {name: moved(score) for name, score in given.items()} for file, given in scores.items()}


def bundle_of(scores: Scores, judge: str, **run: Any) -> dict[str, Any]:
    """A bundle of phase 1."""
    known = {"protocol_version": "p-1", "judge_model": judge, "generator_model": "writer", "phase": 1, **run}
    return {**known, "per_file_scores": [{"file": file, "scores": given} for file, given in scores.items()]}


def labelled(folder: Path, name: str, *bundles: dict[str, Any], options: tuple[str, ...] = ()) -> Path:
    """A ledger of these bundles."""
    paths = []
    for number, bundle in enumerate(bundles):
        paths.append(folder / f"{name}-{number}.json")
        paths[-1].write_text(json.dumps(bundle))
    ledger = folder / name
    assert main(["normalize", *map(str, paths), "--out", str(ledger), *options]) in (0, 1)
    return ledger
