"""Run one target in this process: guided by coverage with atheris where it is installed, else with Hypothesis.

The first input that breaks a promise is written to FOLDER/finding, with status 1. The number of inputs is printed.
"""

import argparse
import importlib
import os
import sys
import time
import traceback
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NoReturn

from tools.fuzz.target import Target

MODULES = {
    "documents": ("strict", "lossless", "moves", "dialect", "manifest"),
    "judgements": ("bundle", "rows"),
    "patterns": ("glob", "gitignore", "index"),
    "protocol": ("request", "cursor", "trace"),
    "evidence": ("pdf",),
    "interfaces": ("http", "mcp"),
    "sources": ("source",),
    "repositories": ("difference", "objects", "rev"),
    "sessions": ("session",),
}
NAMES = [name for names in MODULES.values() for name in names]
_MOST_BYTES = 4096


def target_of(name: str) -> Target:
    """The target of a name. Its module is imported only now, so that atheris can look inside what it imports."""
    module = next(module for module, names in MODULES.items() if name in names)
    target: Target = importlib.import_module(f"tools.fuzz.{module}").TARGETS[name]
    return target


class _Run:
    """Counts inputs until time is up or one breaks a promise."""

    def __init__(self, target: Target, seconds: float, folder: Path) -> None:
        self._target, self._folder = target, folder
        self._until = time.monotonic() + seconds
        self._count = 0

    def one(self, data: bytes) -> None:
        if time.monotonic() > self._until:
            self._end(0)
        self._count += 1
        try:
            self._target.check(data)
        except Exception:
            traceback.print_exc()
            (self._folder / "finding").write_bytes(data)
            self._end(1)

    def _end(self, status: int) -> NoReturn:
        print(f"{self._count} inputs in {time.process_time() / 60:.1f} minutes of CPU time", flush=True)
        sys.stderr.flush()
        # Both engines would do more at the end: exit at once.
        os._exit(status)


def _guided(atheris: Any, run: _Run, target: Target, folder: Path, seed: int) -> None:
    corpus = folder / "corpus"
    corpus.mkdir(exist_ok=True)
    for number, data in enumerate(target.seeds):
        (corpus / f"seed-{number}").write_bytes(data)
    words = folder / "words"
    words.write_text("".join('"' + "".join(f"\\x{byte:02x}" for byte in word) + '"\n' for word in target.words))
    flags = [f"-dict={words}", f"-max_len={_MOST_BYTES}", f"-seed={seed}", "-timeout=120", "-verbosity=0"]
    flags.append(f"-artifact_prefix={folder}{os.sep}")  # slow inputs are kept there, not in the working directory
    atheris.Setup([sys.argv[0], *flags, str(corpus)], run.one)
    atheris.Fuzz()


def _generated(run: _Run, target: Target, seed: int) -> None:
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded
    from hypothesis import strategies as st

    pieces = st.lists(st.sampled_from([*target.words, *target.seeds]) | st.binary(max_size=6), max_size=12)
    cut = st.tuples(st.sampled_from(target.seeds), st.integers(0, 60), st.integers(0, 60), pieces)
    inputs = pieces.map(b"".join) | cut.map(
        lambda parts: parts[0][: parts[1]] + b"".join(parts[3]) + parts[0][parts[2] :]
    )
    while True:
        seed += 1

        @seeded(seed)
        @settings(
            max_examples=500,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(inputs)
        def batch(data: bytes) -> None:
            run.one(data)

        batch()


def main() -> None:
    """Run until the time is up; the process ends in `_Run`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=NAMES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    options = parser.parse_args()
    try:
        atheris: Any = importlib.import_module("atheris")
    except ModuleNotFoundError:
        atheris = None
    ours = ["zeno", "normalizer", "contract_spec"]
    with nullcontext() if atheris is None else atheris.instrument_imports(include=ours):
        target = target_of(options.target)
    run = _Run(target, options.seconds, options.folder)
    if atheris is None:
        _generated(run, target, options.seed)
    else:
        _guided(atheris, run, target, options.folder, options.seed)


if __name__ == "__main__":
    main()
