"""The worked example, run before your eyes: a small study with the mistakes that judges make, from bundles to an audit.

    python tools/demo_normalizer.py

It needs nothing but the run-time dependencies, and leaves nothing behind.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUNS = Path("docs/example-study/runs")


def show(folder: Path, *command: str, most: int = 60) -> str:
    """Print a command as one would type it, run it for real, print what it says; returns its standard output."""
    print(f"\n$ normalizer {' '.join(command)}".replace(str(folder), "LEDGER"))
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-m", "normalizer", *command], cwd=ROOT, capture_output=True, encoding="utf-8", env=environment
    )
    lines = (done.stdout + done.stderr).splitlines()
    print("\n".join(lines[:most]))
    if len(lines) > most:
        print(f"... and {len(lines) - most} more lines")
    if done.returncode == 2:
        raise SystemExit("the demo could not run")
    print(f"(exit status {done.returncode})")
    return done.stdout


def main() -> int:
    """Run the example; returns 0 if everything is accounted for."""
    with tempfile.TemporaryDirectory() as scratch:
        ledger = Path(scratch) / "ledger"
        print("Two judges scored 24 artifacts of two generators. Is what the runs are held to free of contradictions?")
        show(ledger, "lint", "--manifest", f"{RUNS}/birch-1/manifest.json", "--dialect", f"{RUNS}/birch-1/dialect.json")
        print("\nThen each run's bundle becomes records, VALID or INVALID. Nothing is repaired, nothing is lost.")
        for run in ("cedar-0", "cedar-1", "cedar-2", "birch-1", "birch-1-first-try"):
            options = [f"--{kind}" for kind in ("manifest", "dialect") if (ROOT / RUNS / run / f"{kind}.json").exists()]
            documents = [word for option in options for word in (option, f"{RUNS}/{run}/{option[2:]}.json")]
            show(ledger, "normalize", f"{RUNS}/{run}/bundle.json", *documents, "--out", str(ledger))
        print("\nWhat is wrong, by reason and by whom?")
        show(ledger, "audit", str(ledger))
        print("\nWhy is a record INVALID? Down to the lines of the raw bundle:")
        for line in (ledger / "invalid.jsonl").read_text(encoding="ascii").splitlines():
            record = json.loads(line)
            if record["reasons"][0]["code"] == "score_not_allowed":
                show(ledger, "explain", str(ledger), record["record_id"][:12], most=30)
                break
        print("\nAnd the raw bytes come back as they were:")
        fenced = json.loads((ledger / "audit.jsonl").read_text(encoding="ascii"))["bundle_sha256"]
        restored = show(ledger, "restore", str(ledger), fenced, most=4)
        assert restored == (ROOT / RUNS / "birch-1-first-try" / "bundle.json").read_text(encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
