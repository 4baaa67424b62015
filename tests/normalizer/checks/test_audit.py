"""Audit counts what is there, and notices whatever was changed by hand."""

import csv
import io
import json
import re
from pathlib import Path

import contract_spec as spec
import pytest

from normalizer.cli import main
from tests.support.bundles import bundle, entry
from tests.support.labelling import bundle_of, labelled, truth


@pytest.fixture
def ledger(tmp_path):
    documents = [
        bundle(entry("a"), entry("b"), entry("b")),
        bundle(entry("a"), judge_model="writer-small", self_judged=True),
        {"per_file_scores": [entry("a")], "bundle_meta": {"long": 10**30}},
        [],
    ]
    for number, document in enumerate(documents):
        (tmp_path / f"{number}.json").write_text(json.dumps(document))
    assert main(["normalize", *(str(tmp_path / f"{n}.json") for n in range(4)), "--out", str(tmp_path / "l")]) == 1
    return tmp_path / "l"


def test_everything_is_counted(ledger, capsys):
    capsys.readouterr()
    assert main(["audit", str(ledger), "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert spec.violations("eval/audit_report.json", report) == []
    assert report["counts"] == {"bundles": 3, "audited": 1, "entries": 5, "valid": 3, "invalid": 2}
    assert report["eligibility"] == {"eligible": 1, "diagnostic": 1, "self_judged": 1}
    assert [(row["code"], row["records"], row["bundles"]) for row in report["reasons"]] == [
        ("not_an_object", 0, 1),
        ("file_duplicated", 2, 0),
    ]
    assert [tuple(row.values())[:4] for row in report["judges"]] == [
        ("judge-large", 1, 2, 0.666667),
        ("writer-small", 1, 0, 0),
        (None, 1, 0, 0),
    ]
    assert [(row["phase"], row["valid"], row["invalid"]) for row in report["phases"]] == [(0, 1, 0), (1, 2, 2)]


def test_without_verification_nothing_is_called_verified(ledger, capsys):
    capsys.readouterr()
    assert main(["audit", str(ledger), "--no-verify", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert spec.violations("eval/audit_report.json", report) == []
    assert report["verified"] == {"bundles": 0, "not_verifiable": [], "not_compared": 4}
    assert main(["audit", str(ledger), "--no-verify"]) == 0
    assert "verified: no bundle was normalized again and compared (--no-verify)\n" in capsys.readouterr().out


def test_without_verification_a_changed_byte_is_still_noticed(ledger, capsys):
    lines = (ledger / "records.jsonl").read_bytes()
    changed = re.sub(rb'"A_structure":(\d)', lambda score: b'"A_structure":%d' % (int(score[1]) ^ 1), lines, count=1)
    assert changed != lines
    (ledger / "records.jsonl").write_bytes(changed)
    assert main(["audit", str(ledger), "--no-verify"]) == 1
    assert "records.jsonl" in capsys.readouterr().err


def test_without_verification_there_is_no_work_to_share(ledger, capsys):
    assert main(["audit", str(ledger), "--no-verify", "--jobs", "2"]) == 2
    assert "without --jobs" in capsys.readouterr().err


def test_the_formats_say_the_same(ledger, capsys):
    capsys.readouterr()
    main(["audit", str(ledger), "--format", "csv"])
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows[0] == ["table", "name", "column", "count"]
    assert ["reasons", "file_duplicated", "records", "2"] in rows
    assert ["judges", "(none)", "valid", "1"] in rows
    main(["audit", str(ledger)])
    text = capsys.readouterr().out
    assert "entries: 5 = 3 valid + 2 invalid\n" in text
    assert "1 eligible, 1 diagnostic (phase 0), 1 self-judged" in text


def drop_a_line(ledger: Path) -> None:
    lines = (ledger / "records.jsonl").read_bytes().splitlines(keepends=True)
    (ledger / "records.jsonl").write_bytes(b"".join(lines[1:]))


def change_a_score(ledger: Path) -> None:
    text = (ledger / "records.jsonl").read_text()
    (ledger / "records.jsonl").write_text(text.replace('"A_structure":1', '"A_structure":2', 1))


def change_a_reasoned_record(ledger: Path) -> None:
    text = (ledger / "invalid.jsonl").read_text()
    (ledger / "invalid.jsonl").write_text(text.replace('"A_structure":1', '"A_structure":2', 1))


def move_an_invalid_record(ledger: Path) -> None:
    lines = (ledger / "invalid.jsonl").read_bytes().splitlines(keepends=True)
    (ledger / "invalid.jsonl").write_bytes(lines[0])


def drop_a_header(ledger: Path) -> None:
    lines = (ledger / "headers.jsonl").read_bytes().splitlines(keepends=True)
    (ledger / "headers.jsonl").write_bytes(b"".join(lines[:-1]))


def drop_a_raw_bundle(ledger: Path) -> None:
    min((ledger / "bundles").glob("*/*")).unlink()


def change_a_raw_bundle(ledger: Path) -> None:
    min((ledger / "bundles").glob("*/*")).write_bytes(b"{}")


def add_a_raw_bundle(ledger: Path) -> None:
    (ledger / "bundles" / "00").mkdir(exist_ok=True)
    (ledger / "bundles" / "00" / f"{'0' * 64}.json").write_bytes(b"{}")


def turn_the_order(ledger: Path) -> None:
    lines = (ledger / "headers.jsonl").read_bytes().splitlines(keepends=True)
    (ledger / "headers.jsonl").write_bytes(b"".join(reversed(lines)))


@pytest.mark.parametrize(
    "tamper",
    [drop_a_line, change_a_score, change_a_reasoned_record, move_an_invalid_record, drop_a_header, drop_a_raw_bundle,
     change_a_raw_bundle, add_a_raw_bundle, turn_the_order],
    ids=lambda tamper: tamper.__name__,
)  # fmt: skip
def test_tampering_is_noticed(tamper, ledger, capsys):
    tamper(ledger)
    assert main(["audit", str(ledger)]) == 1
    assert "conservation does not hold" in capsys.readouterr().err


def _edit(path, change):
    path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("records.jsonl", lambda data: data[:-30]),
        ("records.jsonl", lambda data: data + b"nonsense\n"),
        ("records.jsonl", lambda data: data + b"\n"),
        ("records.jsonl", lambda data: data + b"\xff\n"),
        ("invalid.jsonl", lambda data: data.replace(b',"reasons":[', b',"because":[')),
        ("invalid.jsonl", lambda data: data + data.splitlines(keepends=True)[-1][:200] + b"\n"),
        ("headers.jsonl", lambda data: data + b"{}\n"),
        ("headers.jsonl", lambda data: data + b"[]\n"),
        ("headers.jsonl", lambda data: data.replace(b'"settings"', b'"sittings"')),
        ("audit.jsonl", lambda data: data + b"7\n"),
    ],
)
def test_a_line_that_is_not_ours_is_a_problem_and_no_traceback(ledger, capsys, name, change):
    _edit(ledger / name, change)
    capsys.readouterr()
    assert main(["audit", str(ledger)]) == 1
    assert "conservation does not hold: " in capsys.readouterr().err


def test_an_entry_with_two_records_and_another_with_none_do_not_balance(ledger, capsys):
    first, second = (ledger / "invalid.jsonl").read_bytes().splitlines(keepends=True)
    (ledger / "invalid.jsonl").write_bytes(second + second)
    capsys.readouterr()
    assert main(["audit", str(ledger)]) == 1
    assert "conservation does not hold: " in capsys.readouterr().err
    (ledger / "invalid.jsonl").write_bytes(second + first)
    assert main(["audit", str(ledger)]) == 1


def test_a_record_that_is_valid_and_invalid_at_once_does_not_balance(ledger, capsys):
    # The bundle has the entries a (valid), b and b (invalid): a stands in for one b.
    [sha] = {
        json.loads(line)["source"]["bundle_sha256"] for line in (ledger / "invalid.jsonl").read_text().splitlines()
    }
    [line] = [line for line in (ledger / "records.jsonl").read_bytes().splitlines() if sha.encode() in line]
    _, second = (ledger / "invalid.jsonl").read_bytes().splitlines(keepends=True)
    reasons = second[second.rindex(b',"reasons":[') :]
    (ledger / "invalid.jsonl").write_bytes(line[:-1] + reasons + second)
    capsys.readouterr()
    assert main(["audit", str(ledger)]) == 1
    assert "conservation does not hold: " in capsys.readouterr().err


@pytest.mark.parametrize("folder", ["bundles", "settings"])
def test_a_folder_that_is_gone_is_a_problem(ledger, capsys, folder):
    (ledger / folder).rename(ledger.parent / "elsewhere")
    capsys.readouterr()
    assert main(["audit", str(ledger)]) == 1
    assert "conservation does not hold: " in capsys.readouterr().err


@pytest.mark.parametrize("name", ["::error::forged", "##[error]forged"])
def test_no_name_begins_a_line_of_the_report_as_a_command_of_a_log(tmp_path, capsys, name):
    ledger = labelled(tmp_path, "l", bundle_of(truth(3, 1), name, generator_model=name))
    capsys.readouterr()
    assert main(["audit", str(ledger)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(name in line for line in lines) == 2
    assert not [line for line in lines if line.lstrip().startswith(("::", "##["))]
