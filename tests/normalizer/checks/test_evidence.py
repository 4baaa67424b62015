"""Quoted evidence is looked up in the evaluated files; what is found changes no score and no validity."""

import hashlib
import json
import re
import shutil

import contract_spec as spec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normalizer.checks.artifact_text import NoText, fold_text, text_of
from normalizer.checks.evidence import find_quote
from normalizer.cli import main
from tests.support.bundles import bundle, entry
from tests.support.study import ARTIFACTS, normalized

TEXT = (
    "First, label every shelf.\n\nThe notice says \u201cWe have moved\u201d; the \ufb01le is\u00a0closed. Last line.\n"
)


@pytest.mark.parametrize(
    ("quote", "verdict"),
    {
        "to the character": ("label every shelf", "exact"),
        "over a line's end": ("every shelf.\n\nThe notice", "exact"),
        "another white space": ("every shelf. The notice", "folded"),
        "straight quotes": ('says "We have moved"', "folded"),
        "other quotes": ("says \u00abWe have moved\u00bb", "folded"),
        "a ligature": ("the file is closed", "folded"),
        "in marks of its own": ('"label every shelf"', "folded"),
        "parts in order": ("First, label ... closed", "elided"),
        "an ellipsis in brackets": ("First, label [\u2026] Last line", "elided"),
        "an ellipsis at the end": ("label every\u2026", "elided"),
        "parts out of order": ("Last line ... First, label", None),
        "parts that overlap": ("label every ... every shelf", None),
        "another case": ("LABEL EVERY SHELF", None),
        "another word": ("label each shelf", None),
        "nothing but an ellipsis": ("...", None),
    }.values(),
)
def test_the_strictest_way_that_holds_is_told(quote, verdict):
    assert find_quote(quote, text_of(TEXT.encode(), "a.txt")) == verdict


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.data())
@settings(max_examples=60)
def test_every_piece_of_a_text_is_found_in_it(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    piece = text[start : data.draw(st.integers(start + 1, len(text)))]
    read = text_of(b" " + text.encode(), "a.txt")
    assert find_quote(piece, read) == "exact"
    assert fold_text(fold_text(text)) == fold_text(text)


def test_markdown_may_be_quoted_as_it_is_rendered():
    source = b"# Plan\n\n1. Carry the **power tools** first, see [the list](list.md) and `sign_it`.\n"
    for quote in ("Carry the power tools first, see the list and sign_it.", "Plan"):
        assert find_quote(quote, text_of(source, "plan.md")) in ("exact", "folded")
    assert find_quote("Carry the power tools first", text_of(source, "plan.txt")) is None


@given(st.text("*_`~a ", max_size=14))
@settings(max_examples=300)
def test_marks_are_taken_off_as_one_pattern_says_it(line):
    plain = re.sub(r"(\*{1,3}|_{1,3}|~~|`{1,3})(?=\S)(.+?)(?<=\S)\1", r"\2", f"x{line}")
    assert fold_text(plain) in text_of(f"x{line}".encode(), "a.md").readings


def test_nothing_but_marks_takes_no_longer_than_other_texts():
    """Where each mark would look for its end again, or each for every other, these would take hours."""
    for marks in ("`a " * 100_000, "*a " * 100_000, "[" * 100_000, "[a](" * 10_000, "***" * 100_000):
        assert text_of(marks.encode(), "a.md").readings
    for quote in ('"' * 50_000 + "x", "\u201c" * 50_000 + "x\u201d" * 50_000, '"a" ' * 50_000, "... " * 50_000 + "x"):
        assert find_quote(quote, text_of(TEXT.encode(), "a.txt")) is None


def test_a_pdf_may_break_lines_and_words():
    content = (ARTIFACTS / "writer-alder" / "q3-baseline-long.pdf").read_bytes()
    read = text_of(content, "x.pdf")
    assert find_quote("A stand is yours for ninety minutes, and then it passes on.", read) in ("exact", "folded")
    assert find_quote("A stand is yours for eighty minutes", read) is None


@pytest.mark.parametrize("content", [b"\xff\xfe", b"%PDF-1.7\ngarbage", b"%PDF-1.4\n" + b"[" * 5000])
def test_what_has_no_text_is_told_as_such(content):
    with pytest.raises(NoText):
        text_of(content, "a.txt")


@pytest.fixture
def small(tmp_path):
    """A ledger of two files, and the files."""
    files = tmp_path / "files"
    (files / "deep").mkdir(parents=True)
    (files / "a.md").write_text("Alpha says this.\n")
    (files / "deep" / "b.txt").write_text("Beta says that.\n")
    hashes = {name: hashlib.sha256((files / name).read_bytes()).hexdigest() for name in ("a.md", "deep/b.txt")}
    manifest = {
        "judge_model": "j", "generator_model": "g", "protocol_version": "p", "phase": 1,
        "files": [
            {"file": "one", "artifact": "A", "path": "a.md", "sha256": hashes["a.md"]},
            {"file": "two", "artifact": "B", "path": "deep/b.txt", "sha256": hashes["deep/b.txt"]},
        ],
    }  # fmt: skip
    evidence = {"A_structure": "Alpha says", "B_snapshot_constraint": "Beta says that.", "C_actionability": "Gamma"}
    raw = {"per_file_scores": [entry("one", evidence=evidence), entry("two", evidence={"A_structure": " \u2026 "})]}
    (tmp_path / "bundle.json").write_text(json.dumps(raw))
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    ledger = tmp_path / "ledger"
    flags = ["--manifest", str(tmp_path / "manifest.json"), "--out", str(ledger)]
    assert main(["normalize", str(tmp_path / "bundle.json"), *flags]) == 0
    return ledger, files


def verified(capsys, ledger, files):
    capsys.readouterr()
    status = main(["audit", str(ledger), "--artifacts", str(files), "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert spec.violations("eval/evidence_report.json", report) == []
    return status, report


def test_each_quotation_gets_its_verdict_and_the_ledger_stays(small, capsys):
    ledger, files = small
    before = {path.name: path.read_bytes() for path in ledger.glob("*.jsonl")}
    status, report = verified(capsys, ledger, files)
    assert status == 1
    verdicts = [(one["artifact"], one["dimension"][0], one["verdict"], one["found_in"]) for one in report["findings"]]
    assert verdicts == [
        ("A", "A", "exact", []), ("A", "B", "other_artifact", [{"artifact": "B", "how": "exact"}]),
        ("A", "C", "absent", []), ("B", "A", "empty", []),
    ]  # fmt: skip
    assert {path.name: path.read_bytes() for path in ledger.glob("*.jsonl")} == before


def test_a_changed_file_is_not_looked_into(small, capsys):
    ledger, files = small
    (files / "a.md").write_text("Alpha says this. And more.\n")
    (files / "deep" / "b.txt").unlink()
    _, report = verified(capsys, ledger, files)
    assert [(file["artifact"], file["state"]) for file in report["artifacts"]] == [("A", "mismatch"), ("B", "missing")]
    assert [one["why"] for one in report["findings"]] == ["mismatch", "mismatch", "mismatch", None]


def test_links_out_of_the_folder_are_not_followed(small, tmp_path, capsys):
    ledger, files = small
    shutil.move(files / "a.md", tmp_path / "secret.md")
    (files / "a.md").symlink_to(tmp_path / "secret.md")
    _, report = verified(capsys, ledger, files)
    assert report["artifacts"][0]["state"] == "missing"


def test_without_a_manifest_the_file_is_where_the_record_says(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("here it is")
    made = bundle(entry("a.txt", evidence={"A_structure": "it is"}), entry("b.txt", evidence={"A_structure": "x"}))
    (tmp_path / "bundle.json").write_text(json.dumps(made))
    assert main(["normalize", str(tmp_path / "bundle.json"), "--out", str(tmp_path / "ledger")]) == 0
    _, report = verified(capsys, tmp_path / "ledger", tmp_path)
    assert [(one["verdict"], one["why"]) for one in report["findings"]] == [("exact", None), ("not_checked", "missing")]
    assert [file["state"] for file in report["artifacts"]] == ["unhashed", "missing"]


def test_the_study_is_verified_in_all_formats(tmp_path, capsys):
    ledger = normalized(tmp_path / "ledger")
    _, report = verified(capsys, ledger, ARTIFACTS)
    assert report["counts"] == {
        "exact": 340, "folded": 10, "elided": 1, "other_artifact": 0, "absent": 2, "empty": 1, "not_checked": 5,
    }  # fmt: skip
    # Counted again from the raw quotations and files: whatever is in a Markdown file to the letter is exact.
    for one in report["findings"]:
        [path] = {file["path"] for file in report["artifacts"] if file["artifact"] == one["artifact"]} or {None}
        if path is not None and path.endswith(".md") and one["quote"].strip():
            plainly = one["quote"] in (ARTIFACTS / path).read_text(encoding="utf-8")
            assert plainly == (one["verdict"] == "exact"), one
    for form in ("text", "csv", "md"):
        assert main(["audit", str(ledger), "--artifacts", str(ARTIFACTS), "--format", form]) == 1
        assert "WATER THE SEEDLINGS" in capsys.readouterr().out


def test_a_folder_that_is_none_is_refused(tmp_path, capsys):
    ledger = normalized(tmp_path / "ledger")
    assert main(["audit", str(ledger), "--artifacts", str(tmp_path / "none")]) == 2
    assert "is not a folder" in capsys.readouterr().err
