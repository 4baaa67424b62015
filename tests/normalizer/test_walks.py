"""How many modules a reader has to follow from a file to a number. The goals are 30 and 40."""

import sys
import threading
from inspect import CO_OPTIMIZED
from pathlib import Path

import pytest

import normalizer
from normalizer.cli import main

ROOT = Path(__file__).parents[2]
PACKAGE = str(Path(normalizer.__file__).parent)
RUN = ROOT / "docs" / "example-study" / "runs" / "cedar-1"
PAIRS = ROOT / "tests" / "support" / "dialects" / "mt-bench-pair.jsonl"


@pytest.fixture
def followed():
    """The modules of the package that have a function which ran."""
    modules = set()

    def look(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_flags & CO_OPTIMIZED and code.co_filename.startswith(PACKAGE):
            modules.add(code.co_filename)

    sys.setprofile(look)
    threading.setprofile(look)
    yield modules
    sys.setprofile(None)
    threading.setprofile(None)


@pytest.mark.parametrize(
    ("given", "command", "most"),
    [
        ([RUN / "bundle.json", "--manifest", RUN / "manifest.json"], "aggregate", 58),
        ([PAIRS, "--dialect", "mt-bench-pair"], "preferences", 62),
    ],
)
def test_from_a_file_to_a_number_few_modules_are_passed(followed, tmp_path, given, command, most):
    assert main(["normalize", *map(str, given), "--out", str(tmp_path / "ledger")]) == 1
    assert main([command, str(tmp_path / "ledger")]) == 0
    assert 20 < len(followed) <= most
