"""Inspect logs: one a generator, a sample a file, a score a judge. Readable with `inspect_ai.log.read_eval_log`.

Inspect lists and views only files whose names begin with a time, as in `2026-01-31T10-00-00_TASK_ID.json`.
"""

import hashlib
import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from normalizer.errors import CannotRun
from normalizer.export.flat import Flat

_NO_TIME = "1970-01-01T00:00:00+00:00"
"""Inspect requires a time, and records have none."""
_NAME = "1970-01-01T00-00-00"
"""That time as the beginning of a file name."""


def logs(flat: Flat) -> dict[str, dict[str, Any]]:
    """The logs by file name. Only single scores have a place in Inspect's format."""
    samples: dict[str, dict[tuple[str, int], dict[str, Any]]] = defaultdict(dict)
    epochs: Counter[tuple[str, str, str]] = Counter()
    for row in flat.rows():
        if row.get("kind") == "comparison":
            raise CannotRun("Inspect logs hold scores of single answers: export comparisons as jsonl, csv or parquet")
        generator = str(row.get("generator_model") or "unknown")
        judge = str(row.get("judge_model") or "unknown")
        artifact = str(row["artifact"])
        epochs[generator, judge, artifact] += 1
        epoch = epochs[generator, judge, artifact]
        sample = samples[generator].setdefault((artifact, epoch), _sample(row, artifact, epoch))
        sample["scores"][judge] = _score(row)
    return {
        f"{_NAME}_normalizer_{re.sub('[^A-Za-z0-9.-]', '-', generator)}_{log['eval']['eval_id']}.json": log
        for generator, log in ((name, _log(name, samples[name])) for name in sorted(samples))
    }


def _digest(*parts: str) -> str:
    """Return an identifier made of the parts. Frames of Inspect join logs and samples by it."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:22]


def _sample(row: dict[str, Any], artifact: str, epoch: int) -> dict[str, Any]:
    factors = {name: value for name, value in row.items() if name.startswith("factor.")}
    return {
        "id": artifact,
        "epoch": epoch,
        "input": f"file {row.get('file', artifact)}",
        "target": "",
        "messages": [],
        "output": {"model": str(row.get("generator_model") or "unknown"), "choices": []},
        "scores": {},
        "metadata": factors,
        "store": {},
        "events": [],
        "model_usage": {},
    }


def _score(row: dict[str, Any]) -> dict[str, Any]:
    values = {name.removeprefix("score."): value for name, value in row.items() if name.startswith("score.")}
    kept = ("record_id", "bundle_sha256", "index", "phase", "protocol_version", "run_id", "judge_kind", "eligibility")
    evidence = {name: value for name, value in row.items() if name.startswith("evidence.")}
    return {
        "value": values,
        "explanation": row.get("notes"),
        "metadata": {**{name: row[name] for name in kept if row.get(name) is not None}, **evidence},
    }


def _log(generator: str, samples: dict[tuple[str, int], dict[str, Any]]) -> dict[str, Any]:
    ordered = [samples[key] for key in sorted(samples)]
    identity = _digest(
        generator, *(score["metadata"]["record_id"] for one in ordered for score in one["scores"].values())
    )
    for sample in ordered:
        sample["uuid"] = _digest(identity, sample["id"], str(sample["epoch"]))
    ids = sorted({sample["id"] for sample in ordered})
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "created": _NO_TIME,
            "task": "normalizer",
            "task_id": identity,
            "run_id": identity,
            "eval_id": identity,
            "task_version": 0,
            "task_attribs": {},
            "task_args": {},
            "dataset": {"name": "normalizer", "samples": len(ids), "sample_ids": ids, "shuffled": False},
            "model": generator,
            "model_args": {},
            "config": {"epochs": max(sample["epoch"] for sample in ordered)},
            "packages": {},
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {"total_samples": len(ordered), "completed_samples": len(ordered), "scores": []},
        "stats": {"started_at": _NO_TIME, "completed_at": _NO_TIME, "model_usage": {}},
        "samples": ordered,
    }


def write(flat: Flat, folder: Path) -> int:
    """Write the logs into a folder; returns how many."""
    found = logs(flat)
    folder.mkdir(parents=True, exist_ok=True)
    for name, log in found.items():
        (folder / name).write_text(json.dumps(log, indent=1, ensure_ascii=True) + "\n", encoding="ascii")
    return len(found)
