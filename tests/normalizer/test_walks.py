"""How many modules a reader has to follow from a file to a number. The goals are 30 and 40."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUN = ROOT / "docs" / "example-study" / "runs" / "cedar-1"
PAIRS = ROOT / "tests" / "support" / "dialects" / "mt-bench-pair.jsonl"
FOLLOW = """
import json, sys, threading
from inspect import CO_OPTIMIZED
from pathlib import Path

import normalizer
from normalizer.cli import load_command, main

package, modules = str(Path(normalizer.__file__).parent), set()
command, ledger, *given = sys.argv[1:]
for name in ("normalize", command):
    load_command(name)

def look(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_flags & CO_OPTIMIZED and code.co_filename.startswith(package):
        modules.add(code.co_filename.removeprefix(package))

sys.setprofile(look)
threading.setprofile(look)
statuses = main(["normalize", *given, "--out", ledger]), main([command, ledger])
sys.setprofile(None)
print(json.dumps([statuses, sorted(modules)]))
"""


# The numbers may only get smaller. A fresh process: nothing is cached yet, and imports are not counted.
@pytest.mark.parametrize(
    ("given", "command", "most"),
    [
        ([RUN / "bundle.json", "--manifest", RUN / "manifest.json"], "aggregate", 51),
        ([PAIRS, "--dialect", "mt-bench-pair"], "preferences", 58),
    ],
)
def test_from_a_file_to_a_number_few_modules_are_passed(tmp_path, given, command, most):
    arguments = [sys.executable, "-c", FOLLOW, command, str(tmp_path / "ledger"), *map(str, given)]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True, cwd=ROOT)
    statuses, modules = json.loads(done.stdout.splitlines()[-1])
    assert statuses == [1, 0]
    assert 20 < len(modules) <= most, modules
