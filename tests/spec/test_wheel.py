"""The wheel works without the repository, and claims no import name that is not ours."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from contract_spec.pages import ROOMS

from tests.support.wheel import wheel

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The wheel, unpacked."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel()) as archive:
        archive.extractall(folder)
    return folder


def run(installed: Path, *command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, *command], cwd=installed.parent, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_claims_five_import_names(installed):
    assert sorted(path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")) == [
        "contract_models",
        "contract_spec",
        "normalizer",
        "zeno",
        "zeno_normalizer",
    ]


def test_everything_is_imported_from_the_wheel_and_serves(installed, tmp_path):
    (tmp_path / "a.py").write_text("def f(): ...\n")
    for name in ("contract_models", "contract_spec", "normalizer", "zeno", "zeno_normalizer"):
        assert Path(run(installed, "-c", f"import {name}; print({name}.__file__)").strip()).is_relative_to(installed)
    answer = json.loads(run(installed, "-m", "zeno", "call", "extract_symbols", "path=a.py", "--root", str(tmp_path)))
    assert answer["result"]["symbols"] == [{"kind": "function", "name": "f", "line": 1, "end_line": 1}]
    assert json.loads(run(installed, "-m", "zeno", "schema", "grep"))["title"] == "Grep"
    (tmp_path / "trace.jsonl").touch()
    page = run(installed, "-m", "zeno", "trace", "view", str(tmp_path / "trace.jsonl"), "--out", "-")
    assert page.startswith("<!doctype html>")


def test_the_wheel_holds_every_schema_and_rule(installed):
    def files(folder: Path) -> set[str]:
        return {path.relative_to(folder).as_posix() for path in folder.rglob("*.json")}

    assert files(installed / "contract_spec") == files(ROOT / "spec")


def test_the_wheel_holds_every_page_that_a_help_text_names(installed):
    texts = [
        run(installed, "-m", name, "man") + run(installed, "-m", name, "--help") for name in ("zeno", "normalizer")
    ]
    assert not re.findall(r"[\w/-]+/[\w-]+\.md", " ".join(texts)), "a file of the repository is named in a help text"
    named = re.findall(r"(zeno|normalizer) docs ([a-z]+)\b", " ".join(" ".join(texts).split()))
    assert {page for _, page in named if page != "lists"} >= {"protocol", "interfaces", "investigation", "normalizer"}
    for program, page in set(named):
        assert run(installed, "-m", program, "docs", page).startswith(("# ", "<!-- Made by"))


def test_both_commands_list_and_print_every_page(installed):
    listed = run(installed, "-m", "zeno", "docs")
    assert listed == run(installed, "-m", "normalizer", "docs")
    names = [line.split()[0] for line in listed.splitlines() if line.startswith("  ")]
    files = [path for room in ROOMS for path in (ROOT / "docs" / room).glob("*.md")]
    pages = {path.read_text(encoding="utf-8") for path in files}
    printed = {run(installed, "-m", "normalizer", "docs", name) for name in names}
    assert pages < printed
    assert len(printed) == len(names)


def test_a_page_that_is_not_there_is_told_with_what_is():
    for program, told in (("zeno", "did you mean protocol?"), ("normalizer", "did you mean protocol?")):
        done = subprocess.run([sys.executable, "-m", program, "docs", "protocl"], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (2, "")
        assert told in done.stderr
