"""Screening against a simpler model of the same rules, written from the protocol's text and not from the code."""

import json
from collections import Counter
from fractions import Fraction
from typing import Any

import contract_spec as spec
from hypothesis import given, settings
from hypothesis import strategies as st

from normalizer.documents.lossless import to_builtin
from normalizer.documents.settings import load
from normalizer.screening.entry_rules import _is_plain
from normalizer.screening.pipeline import normalize
from tests.support.bundles import DIMENSIONS, ENTRIES, SOUND_ENTRIES

NAMES = st.sampled_from(["m1", "m2"])
ENTRY = st.fixed_dictionaries(
    {
        "file": st.sampled_from(["a", "b", "c", "d", "e"]),
        "scores": st.dictionaries(
            st.sampled_from([*DIMENSIONS, *DIMENSIONS, "extra"]),
            st.sampled_from([0, 1, 2, 1.0, 3, 0.5, "1"]),
            min_size=1,
        )
        | st.just(dict.fromkeys(DIMENSIONS, 1)),
    },
    optional={
        "evidence": st.just(dict.fromkeys(DIMENSIONS, "q"))
        | st.dictionaries(st.sampled_from([*DIMENSIONS, "extra"]), st.sampled_from(["q", "", " "])),
        "total": st.sampled_from([5, 5.0, 4, 0.5]),
    },
)
META = st.fixed_dictionaries(
    {},
    optional={"phase": st.integers(0, 2), "judge_model": NAMES, "generator_model": NAMES, "self_judged": st.booleans(),
              "protocol_version": st.just("p")},
)  # fmt: skip
LISTED = [{"file": "a"}, {"file": "b", "generator_model": "m2", "self_judged": True}, {"file": "z"}]


def model(document: dict[str, Any], manifest: dict[str, Any] | None) -> list[set[str]]:
    """The codes of each entry, without pointers, order and bundle-wide contradictions."""
    run = {**(manifest or {}), **{key: value for key, value in document.items() if key != "per_file_scores"}}
    files = {item["file"]: item for item in (manifest or {}).get("files", [])}
    phase = run.get("phase", 0)
    names = Counter(item["file"] for item in document["per_file_scores"])
    found = []
    for item in document["per_file_scores"]:
        own = {**run, **files.get(item["file"], {})}
        codes = set()
        if phase > 0:
            codes |= {
                f"{key}_missing" for key in ("protocol_version", "judge_model", "generator_model") if key not in own
            }
            if manifest and item["file"] not in files:
                codes.add("file_not_in_manifest")
        if names[item["file"]] > 1:
            codes.add("file_duplicated")
        if "judge_model" in own and own["judge_model"] == own.get("generator_model") and not own.get("self_judged"):
            codes.add("self_judging_unlabelled")
        scores, evidence = item["scores"], item.get("evidence", {})
        if set(DIMENSIONS) - set(scores):
            codes.add("dimension_missing")
        if set(scores) - set(DIMENSIONS):
            codes.add("dimension_unknown")
        if set(evidence) - set(DIMENSIONS):
            codes.add("evidence_unknown")
        on_scale = [value for key, value in scores.items() if key in DIMENSIONS and value in (0, 1, 2)]
        if len(on_scale) < len([key for key in scores if key in DIMENSIONS]):
            codes.add("score_not_allowed")
        if phase == 2:
            if any(not evidence.get(key, "").strip() for key in DIMENSIONS):
                codes.add("evidence_missing")
            total = sum(Fraction(value) for value in on_scale)
            if "total" in item and "score_not_allowed" not in codes and Fraction(item["total"]) != total:
                codes.add("total_mismatch")
        found.append(codes)
    return found


@settings(max_examples=400)
@given(meta=META, entries=st.lists(ENTRY, min_size=1, max_size=4), listed=st.booleans())
def test_verdicts_are_those_of_the_simple_model(meta, entries, listed):
    # What a manifest also says would contradict: that has tests of its own.
    if listed:
        meta = {key: value for key, value in meta.items() if key not in ("generator_model", "self_judged")}
    manifest = {"files": LISTED} if listed else None
    document = {**meta, "per_file_scores": entries}
    under = load(manifest=json.dumps(manifest).encode() if manifest else None)
    outcome = normalize(json.dumps(document).encode(), under)
    seen: dict[int, set[str]] = {json.loads(line)["source"]["index"]: set() for line in outcome.records.splitlines()}
    for line in map(json.loads, outcome.invalid.splitlines()):
        seen[line["source"]["index"]] = {reason["code"] for reason in line["reasons"]}
    assert [seen[index] for index in range(len(entries))] == model(document, manifest)
    missing = {"a", "b", "z"} - {item["file"] for item in entries} if listed else set()
    unblamed = [reason["code"] for reason in json.loads(outcome.header)["reasons"]]
    assert unblamed.count("file_without_entry") == len(missing)


def test_reasons_come_in_the_order_of_the_taxonomy_and_of_their_pointers():
    document = {"x": 1, "phase": 2, "per_file_scores": [{"scores": {"q": 1, "A_structure": 9}, "z": 1, "y": 1}]}
    [line] = normalize(json.dumps(document).encode(), load()).invalid.splitlines()
    reasons = [(reason["code"], reason["pointer"]) for reason in json.loads(line)["reasons"]]
    taxonomy = spec.schema("eval/reason.json")["$defs"]["code"]["enum"]
    assert reasons == sorted(reasons, key=lambda reason: (taxonomy.index(reason[0]), reason[1]))
    assert len(reasons) == len(set(reasons)) > 10


def test_relaxations_of_phase_0_lift_only_what_they_name():
    document = {"per_file_scores": [{"file": "a", "scores": {"A_structure": 9}}]}
    relaxed = {"relaxations": [{"statement": "s", "constraint": "rubric_keys"}], "files": [{"file": "a"}]}
    outcome = normalize(json.dumps(document).encode(), load(manifest=json.dumps(relaxed).encode()))
    assert [reason["code"] for reason in json.loads(outcome.invalid)["reasons"]] == ["score_not_allowed"]


@settings(max_examples=300)
@given(value=ENTRIES)
def test_the_quick_way_never_lets_a_misshapen_entry_pass(value):
    if _is_plain(value):
        assert spec.violations("eval/judge_bundle.json#/$defs/entry", to_builtin(value)) == []


@given(value=SOUND_ENTRIES)
def test_the_quick_way_knows_most_sound_entries(value):
    assert _is_plain(value) is (value["file"] != "")
