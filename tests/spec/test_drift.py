"""The drift gate is green now and red on demand: for an edited, a missing and an orphan file."""

import shutil
from pathlib import Path

import pytest

from tools import generate

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """What the schemas make, made once by the real generator."""
    folder = tmp_path_factory.mktemp("fresh") / "generated"
    generate.generate(ROOT / "spec" / "schemas", folder)
    return folder


@pytest.fixture
def gate(fresh, tmp_path, monkeypatch, capsys):
    """The gate on a copy of the committed models: it returns its exit status and what it says."""
    copy = tmp_path / "generated"
    shutil.copytree(ROOT / "generated", copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(generate, "generate", lambda _schemas, out: shutil.copytree(fresh, out))

    def run() -> tuple[int, str]:
        status = generate.main(["--check", "--out", str(copy)])
        return status, capsys.readouterr().out

    return copy, run


def test_the_committed_models_are_what_the_schemas_make(gate):
    _, run = gate
    assert run() == (0, "")


def test_an_edited_file_is_drift(gate):
    copy, run = gate
    module = copy / "zeno" / "metrics.py"
    module.write_text(module.read_text() + "\n")
    status, said = run()
    assert status == 1
    assert "edited:  zeno/metrics.py" in said
    assert "nox -s generate" in said


def test_a_missing_file_is_drift(gate):
    copy, run = gate
    (copy / "zeno" / "ops" / "grep.py").unlink()
    status, said = run()
    assert status == 1
    assert "missing: zeno/ops/grep.py" in said


def test_an_orphan_file_is_drift(gate):
    copy, run = gate
    (copy / "zeno" / "ops" / "sing.py").write_text("")
    status, said = run()
    assert status == 1
    assert "orphan:  zeno/ops/sing.py" in said
