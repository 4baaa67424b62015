"""The docs are true: what they name exists, what they show is what comes out."""

import hashlib
import json
import re
from pathlib import Path

import contract_spec as spec
import pytest

from normalizer.cli import COMMANDS
from normalizer.documents.settings import load

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "reference" / "normalizer.md").read_text(encoding="utf-8")
CLAUSES = (ROOT / "docs" / "reference" / "clauses.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", GUIDE, re.DOTALL)


def test_every_command_is_described():
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    assert [name for name in COMMANDS if f"\n### {name}\n" not in pages and f"normalizer {name}" not in pages] == []


def test_the_table_of_clauses_names_every_reason_code():
    codes = spec.schema("eval/reason.json")["$defs"]["code"]["enum"]
    assert [code for code in codes if f"`{code}`" not in CLAUSES] == []


def test_what_the_table_of_clauses_names_exists():
    rooms = [ROOT / folder for folder in ("normalizer", "tests/normalizer", "tests/whole")]
    files = [path for room in rooms for path in room.rglob("*.py")]
    tests = "".join(path.read_text(encoding="utf-8") for path in files if path.name.startswith("test_"))
    names = re.findall(r"\btest_[a-z0-9_]+\b(?!\.py)", CLAUSES)
    assert [name for name in names if f"def {name}(" not in tests] == []
    vectors = re.findall(r"`((?:valid|invalid)/\w+)`", CLAUSES)
    assert [name for name in vectors if not (ROOT / "tests/conformance/normalizer" / name).is_dir()] == []
    assert [
        module for module in re.findall(r"`(\w+\.py)(?:`|::)", CLAUSES) if module not in {path.name for path in files}
    ] == []


@pytest.mark.parametrize("text", [text for kind, text in BLOCKS if kind == "json"])
def test_documents_in_the_docs_are_accepted(text):
    kinds = {"files": "manifest", "dimensions": "rubric", "entry": "dialect"}
    [kind] = [kind for key, kind in kinds.items() if key in json.loads(text)]
    load(**{kind: text.encode()})


def test_the_example_is_told_with_its_real_ids():
    told = (ROOT / "docs" / "tutorials" / "study.md").read_text(encoding="utf-8")
    hashes = re.findall(r"\b[0-9a-f]{64}\b", told)
    real = {
        hashlib.sha256(path.read_bytes()).hexdigest() for path in ROOT.glob("docs/example-study/runs/*/bundle.json")
    }
    assert hashes
    assert set(hashes) <= real
