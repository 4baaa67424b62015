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


WORKFLOWS = sorted([*(ROOT / ".github").rglob("*.yml"), ROOT / "docs" / "guides" / "ci.md"])
USED = re.compile(r"^\s*-? *uses: (?!OWNER/)(\S+)(.*)$", re.MULTILINE)


def test_actions_of_others_are_named_by_the_digest_of_a_commit():
    used = [(path.name, *found) for path in WORKFLOWS for found in USED.findall(path.read_text("utf-8"))]
    assert len(used) > 15
    by_tag = [one for one in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", one[1])]
    assert by_tag == []
    assert [one for one in used if not re.fullmatch(r" # v[0-9.]+", one[2])] == []
    digests = {(name.partition("@")[0], comment): name for _, name, comment in used}
    assert {name for _, name, _ in used} == set(digests.values()), "one version has two digests"


@pytest.mark.parametrize(
    "path", [path for path in WORKFLOWS if path.name == "action.yml"], ids=lambda path: path.parent.name
)
def test_an_action_runs_python_only_isolated_from_the_checkout(path):
    script = path.read_text("utf-8").partition("run: |")[2]
    assert len(re.findall(r"python3? |python\" ", script)) >= 3
    assert not re.findall(r"(?:python3?|bin/python\")(?! -I )[ \n].*", script)
    # Everything that is installed is started by that Python.
    assert not re.findall(r'^ *"\$RUNNER_TEMP/\w+/bin/(?!python").*', script, re.MULTILINE)
