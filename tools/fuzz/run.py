"""Fuzz the parsers and matchers: nox -s fuzz -- --minutes N [--target NAME] [--jobs N].

Each target runs in a process of its own for N minutes; `--jobs` runs several side by side. Inputs that reach new code
are kept in build/fuzz/NAME/corpus for the next run. An input that breaks a promise is shrunk into
build/fuzz/NAME/finding-HASH; the last lines tell how to run it again and where a test of it belongs. Exit status: 0
nothing found, 1 something found.
"""

import argparse
import hashlib
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.fuzz.engine import NAMES, target_of

ROOT = Path(__file__).resolve().parents[2]
_FINDING = "finding"
_MORE = 120.0  # seconds that one input may take beyond the time given


def breaks(name: str, data: bytes) -> bool:
    """Whether an input breaks the promise of a target."""
    try:
        target_of(name).check(data)
    except Exception:
        return True
    return False


def fuzz(name: str, seconds: float, seed: int, folder: Path) -> int:
    """Run one target and print what came of it: 0 nothing found, 1 something found."""
    return _report(name, folder, _run(name, seconds, seed, folder))


def _run(name: str, seconds: float, seed: int, folder: Path) -> "subprocess.CompletedProcess[str] | None":
    """Run one target in a process of its own; return None if one input took too long."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _FINDING).unlink(missing_ok=True)
    command = [sys.executable, "-m", "tools.fuzz.engine", name, str(folder), "--seconds", str(seconds)]
    try:
        return subprocess.run(
            [*command, "--seed", str(seed)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=seconds + _MORE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None


def _report(name: str, folder: Path, done: "subprocess.CompletedProcess[str] | None") -> int:
    """Print what came of a run, with its finding shrunk: 0 nothing found, 1 something found."""
    if done is None:
        print(f"{name}: one input took more than {_MORE:g} seconds; run it alone with --target {name}", flush=True)
        return 1
    counted = done.stdout.strip().splitlines()
    print(f"{name}: {counted[-1] if counted else 'ended early'}, status {done.returncode}", flush=True)
    if done.returncode == 0:
        return 0
    print(done.stderr[-3000:])
    finding = folder / _FINDING
    if finding.exists():
        data = shrink(finding.read_bytes(), lambda shorter: breaks(name, shorter))
        kept = folder / f"finding-{hashlib.sha256(data).hexdigest()[:12]}"
        kept.write_bytes(data)
        print(f"{name}: shrunk to {data!r}")
        print(f"  again: python -m tools.fuzz.run --target {name} --input {kept}")
        print(f"  a lasting test of it: {target_of(name).vector}")
    return 1


def shrink(data: bytes, breaks: Callable[[bytes], bool], attempts: int = 2000) -> bytes:
    """Leave out ever smaller pieces, and write `a` for what remains, as long as it still `breaks`."""
    size = len(data) // 2
    while size and attempts > 0:
        start = 0
        while start < len(data) and attempts > 0:
            attempts -= 1
            shorter = data[:start] + data[start + size :]
            if breaks(shorter):
                data = shorter
            else:
                start += size
        size //= 2
    for at in range(min(len(data), max(attempts, 0))):
        plainer = data[:at] + b"a" + data[at + 1 :]
        if data[at : at + 1] != b"a" and breaks(plainer):
            data = plainer
    return data


def main(argv: list[str] | None = None) -> int:
    """Fuzz all targets, or the one that is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long each target runs (default: 1)")
    parser.add_argument("--target", choices=NAMES, action="append", help="run only this one; may be repeated")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random inputs (default: 1)")
    parser.add_argument("--jobs", type=int, default=1, help="targets that run side by side (default: 1)")
    parser.add_argument("--input", type=Path, help="run one target on the bytes of this file instead")
    options = parser.parse_args(argv)
    targets = options.target or NAMES
    if options.input is not None:
        if len(targets) != 1:
            parser.error("--input needs one --target")
        target_of(targets[0]).check(options.input.read_bytes())
        return 0
    if options.jobs < 1:
        parser.error("--jobs must be at least 1")
    folders = [ROOT / "build" / "fuzz" / name for name in targets]
    seconds, seed = options.minutes * 60, options.seed
    with ThreadPoolExecutor(options.jobs) as pool:
        runs = pool.map(lambda name, folder: _run(name, seconds, seed, folder), targets, folders)
        return max(_report(*told) for told in zip(targets, folders, runs, strict=True))


if __name__ == "__main__":
    raise SystemExit(main())
