"""The fuzzers themselves: targets hold for what they begin with, and what breaks a promise is found and shrunk."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.lacking import needs
from tools.fuzz import run
from tools.fuzz.engine import MODULES, NAMES, target_of
from tools.fuzz.target import Target

WITHOUT_GIT = [name for name in NAMES if name != "gitignore"]


def test_every_target_is_listed_once():
    assert len(NAMES) == len(set(NAMES))
    for module, names in MODULES.items():
        found = __import__(f"tools.fuzz.{module}", fromlist=["TARGETS"]).TARGETS
        assert sorted(found) == sorted(names)


@pytest.mark.parametrize("name", [*WITHOUT_GIT, pytest.param("gitignore", marks=needs("git", "git"))])
def test_a_target_holds_for_what_it_begins_with(name):
    target = target_of(name)
    for data in (b"", *target.seeds, *target.words):
        target.check(data)


def test_targets_side_by_side_are_all_told(capfd):
    assert run.main(["--minutes", "0.01", "--jobs", "2", "--target", "strict", "--target", "bundle"]) == 0
    told = [line.partition(" ")[0] for line in capfd.readouterr().out.splitlines() if " inputs in " in line]
    assert told == ["strict:", "bundle:"]


@given(st.binary(max_size=60), st.binary(min_size=1, max_size=3))
def test_a_finding_is_shrunk_to_what_matters(around, needle):
    assert run.shrink(around + needle + around, lambda data: needle in data) == needle


@pytest.mark.parametrize("engine", ["atheris", "hypothesis"])
def test_a_broken_promise_is_found_and_told(tmp_path, monkeypatch, capfd, engine):
    if engine == "atheris":
        pytest.importorskip("atheris", reason="needs the group fuzz")
    # The engine runs in a process of its own: there a module of this name comes before the one installed.
    planted = tmp_path / "code"
    planted.mkdir()
    (planted / "sitecustomize.py").write_text(BROKEN + (NO_ATHERIS if engine == "hypothesis" else ""))
    monkeypatch.setenv("PYTHONPATH", str(planted))
    # Shrinking happens here, with the same broken promise.
    broken = Target(lambda data: _refuse(data), (), (), "a case in tests")
    monkeypatch.setattr(run, "target_of", lambda _name: broken)
    assert run.fuzz("strict", 60, 1, tmp_path / "out") == 1
    said = capfd.readouterr().out
    assert "shrunk to b'NaN'" in said
    assert "a lasting test of it: a case in tests" in said
    assert [path.read_bytes() for path in (tmp_path / "out").glob("finding-*")] == [b"NaN"]


def _refuse(data: bytes) -> None:
    assert b"NaN" not in data


BROKEN = """
import json, sys
class Broken:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "tools.fuzz.documents":
            import tools.fuzz.engine
            from tools.fuzz.target import Target
            def check(data):
                assert b"NaN" not in data
            module = type(sys)("tools.fuzz.documents")
            module.TARGETS = {"strict": Target(check, (b"x",), (b"NaN",), "a case in tests")}
            sys.modules[name] = module
            from importlib.machinery import ModuleSpec
            class Loader:
                create_module = staticmethod(lambda spec: module)
                exec_module = staticmethod(lambda module: None)
            return ModuleSpec(name, Loader())
sys.meta_path.insert(0, Broken)
"""
NO_ATHERIS = "sys.modules['atheris'] = None\n"
