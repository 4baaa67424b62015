"""The docs are true: what they name exists, what they show is what comes out."""

import hashlib
import json
import re
from pathlib import Path

import contract_spec as spec
import pytest

from normalizer.cli import COMMANDS, main
from normalizer.documents.settings import load

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "normalizer.md").read_text(encoding="utf-8")
CLAUSES = (ROOT / "docs" / "clauses.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", GUIDE, re.DOTALL)


def test_every_command_is_described():
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    assert [name for name in COMMANDS if f"| `{name}" not in pages and f"normalizer {name}" not in pages] == []


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


def test_the_first_example_is_what_comes_out(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shown = BLOCKS[0][1]
    text = shown.partition("$ cat bundle.json\n")[2].partition("$ normalizer")[0]
    (tmp_path / "bundle.json").write_text(text)
    assert main(["normalize", "bundle.json", "--out", "ledger"]) == 1
    record_id = json.loads((tmp_path / "ledger" / "invalid.jsonl").read_text())["record_id"]
    assert main(["explain", str(tmp_path / "ledger"), record_id[:8]]) == 0
    caught = capsys.readouterr()
    said = {line for line in (caught.out + caught.err).splitlines() if line}
    expected = [line for line in shown.partition("--out ledger\n")[2].splitlines() if line and not line.startswith("$")]
    assert [line for line in expected if line not in said and line.strip() not in ("1", "...")] == []


@pytest.mark.parametrize("text", [text for kind, text in BLOCKS if kind == "json"])
def test_documents_in_the_docs_are_accepted(text):
    kinds = {"files": "manifest", "dimensions": "rubric", "entry": "dialect"}
    [kind] = [kind for key, kind in kinds.items() if key in json.loads(text)]
    load(**{kind: text.encode()})


def test_the_example_is_told_with_its_real_ids():
    told = (ROOT / "docs" / "example-study" / "README.md").read_text(encoding="utf-8")
    hashes = re.findall(r"\b[0-9a-f]{64}\b", told)
    real = {
        hashlib.sha256(path.read_bytes()).hexdigest() for path in ROOT.glob("docs/example-study/runs/*/bundle.json")
    }
    assert hashes
    assert set(hashes) <= real


def test_what_the_page_on_numbers_shows_is_what_comes_out(tmp_path, monkeypatch, capsys):
    page = (ROOT / "docs" / "aggregation.md").read_text(encoding="utf-8")
    for run in sorted((ROOT / "docs" / "example-study" / "runs").iterdir()):
        options = [f"--{kind}={run / kind}.json" for kind in ("manifest", "dialect") if (run / f"{kind}.json").exists()]
        main(["normalize", str(run / "bundle.json"), "--out", str(tmp_path / "ledger"), *options])
    monkeypatch.chdir(tmp_path)
    shown = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    commands = [part for block in shown for part in block.split("$ normalizer ")[1:]]
    assert len(commands) == 4
    for command, _, expected in (part.partition("\n") for part in commands):
        capsys.readouterr()
        main(command.split())
        caught = capsys.readouterr()
        said = [" ".join(line.split()) for line in (caught.out + caught.err).splitlines()]
        for line in filter(None, expected.splitlines()):
            start, _, end = " ".join(line.split()).partition(" ...")
            assert any(s.startswith(start.removesuffix("...")) and s.endswith(end.strip()) for s in said), line
