"""The recursive example, run as its page tells, with the scripted stand-in in the place of a model."""

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.interfaces import zeno
from tests.support.patience import PATIENCE

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
CONTEXT = 6_000


@pytest.fixture(scope="module")
def stand_in() -> Iterator[str]:
    command = [sys.executable, str(EXAMPLES / "scripted_model.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


@pytest.fixture
def forest(tmp_path: Path) -> tuple[Path, list[tuple[str, int]]]:
    """A tree of about a megabyte with a few needles, and where they are."""
    chance, needles = random.Random(6), []
    for folder in ("alpha", "beta", "gamma"):
        for number in range(30):
            lines = [f"line {chance.randrange(10**9)} of hay" for _ in range(400)]
            if number % 10 == 3:
                at = chance.randrange(400)
                lines[at] = "here is a needle"
                needles.append((f"{folder}/file{number:02}.txt", at + 1))
            path = tmp_path / "forest" / folder / f"file{number:02}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(lines))
    return tmp_path / "forest", needles


def run(stand_in: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OPENAI_BASE_URL": stand_in, "OPENAI_MODEL": "scripted-stand-in"}
    command = [sys.executable, str(EXAMPLES / "recursive.py"), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)


def test_every_needle_is_found_and_cited_in_contexts_far_smaller_than_the_tree(
    stand_in: str, forest: tuple[Path, list[tuple[str, int]]], tmp_path: Path
) -> None:
    root, needles = forest
    log = tmp_path / "trace.jsonl"
    limits = ("--context-chars", str(CONTEXT))
    done = run(stand_in, 'Where does "needle" stand?', "--root", str(root), "--log", str(log), *limits)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, f'"needle" stands on {len(needles)} lines')
    cited = re.findall(r"^  (\S+):(\d+)-\2 sha256:", done.stdout, re.MULTILINE)
    assert [(path, int(line)) for path, line in cited] == needles
    assert "4 calls" in done.stderr
    largest = int(re.findall(r"largest context (\d+)", done.stderr)[0])
    assert largest <= CONTEXT < sum(path.stat().st_size for path in root.rglob("*.txt")) / 100
    events: list[dict[str, Any]] = [json.loads(line) for line in log.read_text().splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds.count("subcall_start") == kinds.count("subcall_end") == kinds.count("claim") == 4
    # The trace stands on its own: well formed, every citation true, every cited line shown before it was cited.
    for command in (["lint", str(log)], ["verify", str(log), "--root", str(root)]):
        checked = subprocess.run(zeno("trace", *command), capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout


def test_an_endpoint_that_is_not_there_is_told_in_one_line(tmp_path: Path) -> None:
    for url in ("", "http://127.0.0.1:9/v1"):
        done = run(url, "Where?", "--root", str(tmp_path))
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
