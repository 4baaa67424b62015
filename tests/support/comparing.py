"""Comparisons made up for tests: a judge with a known preference, written as a bundle and normalized."""

import json
import math
import random
from pathlib import Path
from typing import Any

from normalizer.cli import main


def drawn(
    strengths: dict[str, float],
    items: int,
    seed: int,
    *,
    first: float = 0.0,
    length: float = 0.0,
    ties: float = 0.1,
) -> list[dict[str, Any]]:
    """Entries in both orders for every pair and item, drawn from a Bradley-Terry judge that favours the first answer
    and the longer one by so many log-odds."""
    rng = random.Random(seed)
    names = sorted(strengths)
    entries = []
    for item in range(items):
        for place, a in enumerate(names):
            for b in names[place + 1 :]:
                lengths = {"a": rng.randint(200, 999), "b": rng.randint(200, 999)}
                for order in ("ab", "ba"):
                    odds = strengths[a] - strengths[b] + (first if order == "ab" else -first)
                    odds += length * math.tanh((lengths["a"] - lengths["b"]) / 300)
                    chance = 1 / (1 + math.exp(-odds))
                    verdict = "draw" if rng.random() < ties else "a" if rng.random() < chance else "b"
                    entries.append(
                        {"item": f"q{item:03}", "a": a, "b": b, "verdict": verdict, "order": order, "length": lengths}
                    )
    return entries


def compared(folder: Path, entries: list[dict[str, Any]], name: str = "ledger", **run: Any) -> Path:
    """A ledger with one bundle of these entries."""
    known = {"protocol_version": "p-1", "judge_model": "judge-large", "phase": 1, **run}
    bundle = folder / f"{name}.json"
    bundle.write_text(json.dumps({**known, "per_comparison": entries}))
    ledger = folder / name
    assert main(["normalize", str(bundle), "--out", str(ledger)]) in (0, 1)
    return ledger
