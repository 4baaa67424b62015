"""The vectors of the normalizer, through the library and through the command line."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import contract_spec as spec
import pytest

from normalizer.cli import main
from normalizer.documents.lossless import dumps, parse, to_builtin
from normalizer.documents.settings import load
from normalizer.ledger.line_format import FILES
from normalizer.ledger.reader import reading
from normalizer.screening.pipeline import normalize

VECTORS = Path(__file__).parent / "normalizer"
CASES = sorted(path.parent for path in VECTORS.glob("*/*/expected.json"))
DOCUMENTS = ("rubric", "manifest", "dialect")


def expected(case: Path) -> Any:
    return json.loads((case / "expected.json").read_bytes())


def raw(case: Path) -> bytes:
    data = (case / "bundle.json").read_bytes()
    return data.ljust(expected(case).get("pad_to", 0))


def is_of_comparisons(data: bytes) -> bool:
    """Whether a vector's bundle is of comparisons: one ledger holds one kind."""
    return b'"per_comparison"' in data and b'"per_file_scores"' not in data


def told(reasons: list[dict[str, str]]) -> list[list[str]]:
    """Reasons are compared by code and pointer: their prose is not part of the contract."""
    return [[reason["code"], reason["pointer"]] for reason in reasons]


def judged(records: str, invalid: str, header: str, audit: str) -> Any:
    return {
        "valid": len(records.splitlines()),
        "invalid": [
            {"index": line["source"]["index"], "reasons": told(line["reasons"])}
            for line in map(json.loads, invalid.splitlines())
        ],
        "audit": [reason for line in audit.splitlines() for reason in told(json.loads(line)["reasons"])],
        "unblamed": [reason for line in header.splitlines() for reason in told(json.loads(line)["reasons"])],
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_our_normalizer_agrees_in_this_process(case):
    documents = {name: (case / f"{name}.json").read_bytes() for name in DOCUMENTS if (case / f"{name}.json").exists()}
    outcome = normalize(raw(case), load(**documents))
    wanted = expected(case)
    verdict = judged(outcome.records, outcome.invalid, outcome.header, outcome.audit)
    assert verdict == {key: wanted[key] for key in verdict}
    assert outcome.flawed is (wanted["status"] == 1)
    if (case / "records.jsonl").exists():
        assert outcome.records == (case / "records.jsonl").read_text(encoding="ascii")


def command_line(case: Path, bundle: Path, ledger: Path) -> list[str]:
    options = [f"--{name}={case / name}.json" for name in DOCUMENTS if (case / f"{name}.json").exists()]
    return ["normalize", str(bundle), "--out", str(ledger), *options]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_our_normalizer_agrees_on_the_command_line(case, tmp_path):
    bundle, ledger = tmp_path / "bundle.json", tmp_path / "ledger"
    bundle.write_bytes(raw(case))
    wanted = expected(case)
    assert main(command_line(case, bundle, ledger)) == wanted["status"]
    verdict = judged(*((ledger / f"{name}.jsonl").read_text(encoding="ascii") for name in FILES))
    assert verdict == {key: wanted[key] for key in verdict}
    assert [path.read_bytes() == raw(case) for path in (ledger / "bundles").glob("*/*")] == [True]


@pytest.mark.parametrize("compared", [False, True], ids=["single scores", "comparisons"])
def test_one_run_over_many_bundles_says_of_each_what_a_run_over_it_alone_says(tmp_path, compared):
    alone = [case for case in CASES if not any((case / f"{name}.json").exists() for name in DOCUMENTS)]
    alone = [case for case in alone if compared is is_of_comparisons(raw(case))]
    wanted = {}
    for case in alone:
        data = raw(case)
        (tmp_path / f"{case.name}.json").write_bytes(data)
        wanted[hashlib.sha256(data).hexdigest()] = expected(case)
    ledger = tmp_path / "ledger"
    command = [sys.executable, "-m", "normalizer", "normalize", str(tmp_path), "--out", str(ledger), "--jobs", "2"]
    assert subprocess.run(command).returncode == 1
    with reading(ledger) as opened:
        for sha256, expectation in wanted.items():
            lines = {name: b"".join(opened.lines_of(name, sha256)).decode("ascii") for name in FILES}
            verdict = judged(*(lines[name] for name in FILES))
            assert verdict == {key: expectation[key] for key in verdict}, expectation["description"]


def test_every_reason_code_has_a_vector_that_yields_exactly_it():
    exactly = set()
    for case in CASES:
        wanted = expected(case)
        lists = [record["reasons"] for record in wanted["invalid"]] + [wanted["audit"], wanted["unblamed"]]
        exactly |= {reasons[0][0] for reasons in lists if len(reasons) == 1 and case.name.startswith(reasons[0][0])}
    assert exactly == set(spec.schema("eval/reason.json")["$defs"]["code"]["enum"])


def test_the_folder_is_the_verdict():
    for case in CASES:
        wanted = expected(case)
        flawless = not (wanted["invalid"] or wanted["audit"] or wanted["unblamed"])
        assert flawless is (case.parent.name == "valid"), case.name
        assert (wanted["status"] == 0) is flawless, case.name


def test_vectors_of_valid_bundles_say_what_the_records_are_to_the_byte():
    for case in sorted((VECTORS / "valid").iterdir()):
        for line in (case / "records.jsonl").read_bytes().splitlines():
            assert dumps(parse(line, 300)).encode() == line
            kind = "comparison_record" if b'"kind":"comparison"' in line else "eval_record"
            assert spec.violations(f"eval/{kind}.json", to_builtin(parse(line, 300))) == []
