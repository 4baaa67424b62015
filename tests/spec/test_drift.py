"""The drift gate is green now and red on demand: for an edited, a missing and an orphan file."""

import importlib.util
import os
import py_compile
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


def test_a_compiled_module_without_source_is_drift(gate):
    copy, run = gate
    source = copy / "zeno" / "sing.py"
    source.write_text("x = 1\n")
    py_compile.compile(str(source), cfile=str(source.with_suffix(".pyc")))
    source.unlink()
    status, said = run()
    assert status == 1
    assert "orphan:  zeno/sing.pyc" in said


@pytest.mark.parametrize("mode", list(py_compile.PycInvalidationMode))
def test_a_planted_compiled_module_is_drift(gate, mode):
    """Python runs it instead of the source: it has the source's time and size, or says that nobody need compare."""
    copy, run = gate
    source = copy / "zeno" / "metrics.py"
    planted, honest = source.with_name("planted.py"), source.stat()
    text = source.read_text()
    planted.write_text(text.replace("Metrics", "Planted", 1).ljust(len(text))[: len(text)])
    os.utime(planted, ns=(honest.st_atime_ns, honest.st_mtime_ns))
    cached = importlib.util.cache_from_source(str(source))
    py_compile.compile(str(planted), cfile=cached, dfile=str(source), invalidation_mode=mode)
    planted.unlink()
    if mode is py_compile.PycInvalidationMode.CHECKED_HASH:
        compiled = Path(cached).read_bytes()
        Path(cached).write_bytes(compiled[:8] + importlib.util.source_hash(source.read_bytes()) + compiled[16:])
    status, said = run()
    assert status == 1
    assert f"planted: zeno/__pycache__/{Path(cached).name}" in said


@pytest.mark.parametrize("mode", list(py_compile.PycInvalidationMode))
def test_a_compiled_module_that_its_source_makes_is_no_drift(gate, mode):
    copy, run = gate
    for optimize in (0, 1, 2):
        py_compile.compile(str(copy / "zeno" / "metrics.py"), optimize=optimize, invalidation_mode=mode)
    assert run() == (0, "")


def test_a_compiled_module_of_another_python_is_drift(gate):
    copy, run = gate
    (copy / "zeno" / "__pycache__").mkdir()
    (copy / "zeno" / "__pycache__" / "metrics.cpython-399.pyc").write_bytes(b"unreadable here")
    status, said = run()
    assert status == 1
    assert "planted: zeno/__pycache__/metrics.cpython-399.pyc" in said


def test_anything_else_beside_compiled_modules_is_drift(gate):
    copy, run = gate
    (copy / "__pycache__").mkdir()
    (copy / "__pycache__" / "sing.so").write_bytes(b"")
    status, said = run()
    assert status == 1
    assert "orphan:  __pycache__/sing.so" in said


@pytest.mark.parametrize("name", ["zeno", "zeno/ops", "zeno/ops/grep.py", "zeno/__pycache__"])
def test_a_link_is_drift_though_it_leads_to_what_would_be_made(gate, tmp_path, name):
    copy, run = gate
    place, elsewhere = copy / name, tmp_path / "elsewhere"
    if place.exists():
        place.rename(elsewhere)
    else:
        elsewhere.mkdir()
    place.symlink_to(elsewhere)
    status, said = run()
    assert status == 1
    assert f"link:    {name}" in said


def test_a_fifo_is_drift(gate):
    copy, run = gate
    os.mkfifo(copy / "zeno" / "sing.py")
    status, said = run()
    assert status == 1
    assert "special: zeno/sing.py" in said


def test_a_linked_folder_of_models_is_drift(fresh, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(generate, "generate", lambda _schemas, out: shutil.copytree(fresh, out))
    (tmp_path / "generated").symlink_to(fresh)
    assert generate.main(["--check", "--out", str(tmp_path / "generated")]) == 1
    assert "link:    ." in capsys.readouterr().out


def test_files_that_git_ignores_are_drift(gate):
    copy, run = gate
    (copy / ".gitignore").write_text("*\n")
    (copy / "zeno" / "sing.log").write_text("")
    status, said = run()
    assert status == 1
    assert "orphan:  .gitignore" in said
    assert "orphan:  zeno/sing.log" in said
