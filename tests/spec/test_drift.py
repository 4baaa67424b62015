"""The drift gate is green now and red on demand: for an edited, a missing and an orphan file."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def check(out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.generate", "--check", "--out", str(out)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.fixture
def copy(tmp_path):
    folder = tmp_path / "generated"
    shutil.copytree(ROOT / "generated", folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_the_committed_models_are_what_the_schemas_make(copy):
    done = check(copy)
    assert (done.returncode, done.stdout) == (0, "")


def test_an_edited_file_is_drift(copy):
    module = copy / "zeno" / "metrics.py"
    module.write_text(module.read_text() + "\n")
    done = check(copy)
    assert done.returncode == 1
    assert "edited:  zeno/metrics.py" in done.stdout
    assert "nox -s generate" in done.stdout


def test_a_missing_file_is_drift(copy):
    (copy / "zeno" / "ops" / "grep.py").unlink()
    done = check(copy)
    assert done.returncode == 1
    assert "missing: zeno/ops/grep.py" in done.stdout


def test_an_orphan_file_is_drift(copy):
    (copy / "zeno" / "ops" / "sing.py").write_text("")
    done = check(copy)
    assert done.returncode == 1
    assert "orphan:  zeno/ops/sing.py" in done.stdout
