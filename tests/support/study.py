"""The worked example study for tests: normalized by our own commands, and read again by hand, without them."""

import json
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from normalizer.cli import main

STUDY = Path(__file__).parents[2] / "docs" / "example-study"
ARTIFACTS = STUDY / "artifacts"


def normalized(out: Path) -> Path:
    """A ledger of all runs."""
    for run in sorted((STUDY / "runs").iterdir()):
        options = [f"--{kind}={run / kind}.json" for kind in ("manifest", "dialect") if (run / f"{kind}.json").exists()]
        assert main(["normalize", str(run / "bundle.json"), "--out", str(out), *options]) in (0, 1)
    return out


def by_hand(*runs: str) -> dict[tuple[str, str, str], dict[str, int]]:
    """What the phase 1 runs say that is sound: scores by (generator, artifact, judge), from the raw files alone."""
    found = {}
    for run in runs:
        raw = json.loads((STUDY / "runs" / run / "bundle.json").read_bytes())
        manifest = json.loads((STUDY / "runs" / run / "manifest.json").read_bytes())
        listed = {item["file"]: item for item in manifest["files"]}
        entries = raw.get("per_file_scores") or raw["results"]
        names = [entry.get("file", entry.get("file_name")) for entry in entries]
        for name, entry in zip(names, entries, strict=True):
            scores = {key: value for key, value in entry["scores"].items() if key != "total"}
            sound = len(scores) == 5 and all(type(value) is int and 0 <= value <= 2 for value in scores.values())
            if sound and names.count(name) == 1 and name in listed:
                item = listed[name]
                found[item["generator_model"], item["artifact"], manifest["judge_model"]] = scores
    return found


def artifact_means(scores: dict[tuple[str, str, str], dict[str, int]], generator: str) -> list[Fraction]:
    """The total of every artifact of a generator, its judges averaged."""
    totals: dict[str, list[int]] = defaultdict(list)
    for (writer, artifact, _), given in scores.items():
        if writer == generator:
            totals[artifact].append(sum(given.values()))
    return [Fraction(sum(each), len(each)) for each in totals.values()]


def record_of(ledger: Path, kind: str = "records") -> dict[str, Any]:
    """The first record of a ledger's file."""
    with (ledger / f"{kind}.jsonl").open() as lines:
        record: dict[str, Any] = json.loads(next(lines))
    return record
