"""One bundle in, lines out: nothing lost, nothing guessed, nothing invented."""

import hashlib
import json
from typing import Any

import contract_spec as spec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normalizer.documents.lossless import dumps, parse, to_builtin
from normalizer.documents.settings import load
from normalizer.errors import UnusableDocument
from normalizer.screening.pipeline import normalize
from normalizer.screening.raw_rows import rebuild
from tests.support.bundles import bundle, documents, entry, spaced

BARE = load()
DIALECT = load(
    dialect=json.dumps(
        {
            "name": "test",
            "bundle": [{"take": "/surplus", "put": "/run_id"}, {"take": "/bundle_meta/per_file_scores"}],
            "entry": [
                {"take": "/file_name", "put": "/file"},
                {"take": "/scores/total", "put": "/total"},
                {"take": "/scores/A_structure", "put": "/scores/z"},
                {"take": "/scores/z", "put": "/scores/A_structure"},
                {"take": "/status"},
                {"take": "/notes", "put": "/evidence/notes"},
            ],
        }
    ).encode()
)
MANIFEST = load(
    manifest=json.dumps(
        {"judge_model": "a", "files": [{"file": "a.pdf", "artifact": "x", "factors": {"q": "1"}}, {"file": "b.pdf"}]}
    ).encode()
)
SETTINGS = st.sampled_from([BARE, DIALECT, MANIFEST])


def lines(text: str) -> list[Any]:
    return [parse(line.encode(), 300) for line in text.splitlines()]


@settings(max_examples=300)
@given(document=documents(), gap=st.sampled_from(["", "\n "]), under=SETTINGS)
def test_records_and_header_rebuild_the_document(document, gap, under):
    outcome = normalize(spaced(document, gap).encode(), under)
    records = lines(outcome.records) + lines(outcome.invalid)
    assert dumps(rebuild(lines(outcome.header)[0], records)) == dumps(document)


@settings(max_examples=200)
@given(document=documents(), under=SETTINGS)
def test_every_entry_is_one_record_and_every_line_fits_its_schema(document, under):
    outcome = normalize(dumps(document).encode(), under)
    valid, invalid, [header] = lines(outcome.records), lines(outcome.invalid), lines(outcome.header)
    indices = sorted(int(record["source"]["index"]) for record in valid + invalid)
    assert indices == list(range(len(document["per_file_scores"])))
    assert (outcome.valid_count, outcome.invalid_count) == (len(valid), len(invalid))
    for name, found in (("eval_record", valid), ("invalid_record", invalid), ("bundle_header", [header])):
        for line in found:
            assert spec.violations(f"eval/{name}.json", to_builtin(line)) == []


@given(document=documents())
def test_a_document_with_valid_records_only_fits_the_bundle_schema(document):
    outcome = normalize(dumps(document).encode(), BARE)
    if outcome.invalid_count == 0:
        assert spec.violations("eval/judge_bundle.json", to_builtin(document)) == []
    if spec.violations("eval/judge_bundle.json", to_builtin(document)):
        assert outcome.invalid_count > 0


@given(document=documents())
def test_entry_values_are_copied_to_the_character(document):
    outcome = normalize(dumps(document).encode(), BARE)
    for record in lines(outcome.records) + lines(outcome.invalid):
        given_entry = document["per_file_scores"][int(record["source"]["index"])]
        for field in ("file", "scores", "evidence", "total", "notes"):
            if isinstance(given_entry, dict):
                assert (field in record) is (field in given_entry)
                assert dumps(record.get(field)) == dumps(given_entry.get(field))
            else:
                assert field not in record


def verdicts(document: Any) -> list[Any]:
    outcome = normalize(json.dumps(document).encode(), BARE)
    found: list[Any] = [(int(line["source"]["index"]), []) for line in lines(outcome.records)]
    found += [
        (int(line["source"]["index"]), [reason["code"] for reason in line["reasons"]])
        for line in lines(outcome.invalid)
    ]
    return sorted(found)


@given(
    entries=st.lists(st.sampled_from(["a", "b", "c", "d"]).map(entry), min_size=1, max_size=4),
    score=st.integers(0, 4),
    names=st.permutations(["2/phase-0.pdf", "self_judged.pdf", "INVALID", "score=2"]),
)
def test_nothing_is_read_from_a_name(entries, score, names):
    entries[0]["scores"]["A_structure"] = score
    renamed = [{**item, "file": names["abcd".index(item["file"])]} for item in entries]
    assert verdicts(bundle(*entries)) == verdicts(bundle(*renamed))


@pytest.mark.parametrize("surplus", [{"bundle_meta": {"phase": 2}}, {"aggregates": {"total": 0}}, {"notes": "INVALID"},
                                     {"final_notes": "all scores are 0"}])  # fmt: skip
def test_what_is_said_about_a_bundle_changes_no_score_and_no_verdict(surplus):
    def content(document: Any) -> Any:
        record = json.loads(normalize(json.dumps(document).encode(), BARE).records)
        return {key: value for key, value in record.items() if key not in ("record_id", "source")}

    assert content(bundle()) == content(bundle(**surplus))


def test_the_record_id_is_derived_from_the_content_alone():
    line = normalize(json.dumps(bundle()).encode(), BARE).records
    record_id, _, body = line.removeprefix('{"record_id":"').partition('",')
    assert record_id == hashlib.sha256(body[:-2].encode()).hexdigest()[:32]


def test_artifact_is_the_manifests_or_the_file_itself():
    document = {"per_file_scores": [entry("a.pdf"), entry("b.pdf")]}
    found = lines(normalize(json.dumps(document).encode(), MANIFEST).records)
    assert [record["artifact"] for record in found] == ["x", "b.pdf"]
    assert [record.get("factors") for record in found] == [{"q": "1"}, None]


@given(data=st.binary(max_size=60) | documents().map(lambda value: dumps(value).encode()[:-1]))
def test_any_bytes_are_a_bundle_or_one_audit_item(data):
    outcome = normalize(data, BARE)
    assert (outcome.audit == "") is (outcome.header != "")
    if outcome.audit:
        item = json.loads(outcome.audit)
        assert spec.violations("eval/audit_item.json", item) == []
        assert item["bytes"] == len(data)


def test_what_is_nested_as_deep_as_it_may_be_is_judged_like_anything_else():
    """The validator itself gives up one level before the limit of 256."""
    deep: Any = []
    for _ in range(254):
        deep = [deep]
    outcome = normalize(json.dumps(bundle(surplus=deep)).encode(), BARE)
    [reason] = json.loads(outcome.invalid)["reasons"]
    assert (reason["code"], reason["pointer"]) == ("envelope_field_unknown", "/surplus")
    outcome = normalize(json.dumps(bundle(bundle_meta={"x": deep[0]}, surplus=1)).encode(), BARE)
    assert outcome.invalid_count == 1
    for kind in ("manifest", "rubric", "dialect"):
        with pytest.raises(UnusableDocument, match="does not fit its schema"):
            load(**{kind: json.dumps({"surplus": deep}).encode()})


def test_metadata_that_every_record_repeats_does_not_fill_the_disk():
    told = json.dumps(bundle(*(entry(str(number)) for number in range(40)), run_id="x" * 500_000))
    outcome = normalize(told.encode(), load())
    assert (outcome.records, outcome.valid_count) == ("", 0)
    assert "would take more than 16777216 bytes" in json.loads(outcome.audit)["reasons"][0]["message"]
    few = json.dumps(bundle(*(entry(str(number)) for number in range(20)), run_id="x" * 500_000))
    assert normalize(few.encode(), load()).valid_count + normalize(few.encode(), load()).invalid_count == 20
