"""CI installs what its tests start: a machine that happens to have a program must not hide that it is missing."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEEDED = re.compile(r"\bneeds\(\"([\w-]+)\", \"([\w.-]+)\"\)")


def needed() -> list[tuple[str, str]]:
    found = {pair for path in (ROOT / "tests").rglob("*.py") for pair in NEEDED.findall(path.read_text("utf-8"))}
    return sorted(found)


def test_some_tests_start_programs():
    assert len(needed()) > 5


@pytest.mark.parametrize(("program", "package"), needed())
def test_ci_installs_a_program_that_a_test_starts(program, package):
    line = f"command -v {program} >/dev/null || missing+=({package})"
    assert line in (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
