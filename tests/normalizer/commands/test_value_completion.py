"""A shell offers values: shipped dialects, keys, pages. Asked as the shell's script asks."""

import os
import subprocess
import sys

import pytest

from normalizer.containers import shipped


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["normalize", "x", "--dialect", "mt"], [name for name in shipped.names() if name.startswith("mt")]),
        (["aggregate", "x", "--by", "phase,gen"], ["phase,generator_model"]),
        (["compare", "x", "--by", "factors"], ["factors."]),
        (["docs", "dialects"], ["dialects"]),
        (["aggregate", "x", "--format", "la"], ["latex"]),
    ],
)
def test_values_are_offered(words, offered):
    asked = {"_NORMALIZER_COMPLETE": "bash_complete", "COMP_WORDS": f"normalizer {' '.join(words)}"}
    done = subprocess.run(
        [sys.executable, "-m", "normalizer"],
        env={**os.environ, **asked, "COMP_CWORD": str(len(words))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert [line.removeprefix("plain,") for line in done.stdout.splitlines() if line.startswith("plain,")] == offered
