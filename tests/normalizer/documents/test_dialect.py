"""Dialects: what is done can be undone, and nothing is ever overwritten."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normalizer.documents.lossless import dumps
from normalizer.documents.pointers import DialectStep, original, translate, undo
from normalizer.documents.settings import load
from normalizer.errors import UnusableDocument
from normalizer.screening.pipeline import normalize
from tests.support.bundles import bundle, entry

KEYS = st.sampled_from(["a", "b", "c/d", "e~f", ""])
TREES = st.recursive(
    st.integers(0, 9).map(str), lambda inner: st.dictionaries(KEYS, inner, max_size=4), max_leaves=10
).filter(lambda value: isinstance(value, dict))
POINTERS = st.lists(KEYS, min_size=1, max_size=3).map(
    lambda keys: "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys)
)
STEPS = st.lists(st.builds(DialectStep, POINTERS, POINTERS | st.none()), max_size=6).map(tuple)


def leaves(value, at=""):
    if not isinstance(value, dict):
        return [value]
    return [leaf for inner in value.values() for leaf in leaves(inner)]


@settings(max_examples=400)
@given(value=TREES, steps=STEPS)
def test_what_a_dialect_did_can_be_undone(value, steps):
    before = dumps(value)
    translated, done, aside, _ = translate(value, steps)
    assert dumps(value) == before  # the value given is not touched
    assert dumps(undo(translated, done, aside)) == before
    kept = leaves(translated) + [leaf for member in aside.values() for leaf in leaves(member)]
    assert sorted(kept) == sorted(leaves(value))


@settings(max_examples=200)
@given(value=TREES, steps=STEPS)
def test_a_step_is_done_or_a_conflict_or_finds_nothing(value, steps):
    translated = translate(value, steps)
    assert len(translated.done) + len(translated.conflicts) <= len(steps)


@pytest.mark.parametrize(
    ("steps", "pointer", "written"),
    [
        ([DialectStep("/file_name", "/file")], "/file", "/file_name"),
        ([DialectStep("/file_name", "/file")], "/files", "/files"),
        ([DialectStep("/s", "/scores"), DialectStep("/scores/total", "/total")], "/total", "/s/total"),
        ([DialectStep("/s", "/scores")], "/scores/A", "/s/A"),
    ],
)
def test_pointers_lead_back_to_what_was_written(steps, pointer, written):
    value = {"file_name": "x", "s": {"total": "1", "A": "2"}}
    assert original(pointer, translate(value, tuple(steps)).done) == written


@pytest.mark.parametrize("pointer", ["", "file", "/a~2", "/~"])
def test_what_is_no_pointer_is_refused(pointer):
    with pytest.raises(UnusableDocument, match="dialect"):
        load(dialect=json.dumps({"name": "d", "entry": [{"take": pointer}]}).encode())


@pytest.mark.parametrize("step", [{"take": "/phase"}, {"take": "/phase", "put": "/notes"}])
def test_no_dialect_hides_that_a_bundle_mixes_phases(step):
    active = load(dialect=json.dumps({"name": "d", "entry": [step]}).encode())
    outcome = normalize(json.dumps(bundle(entry("a", phase=1), entry("b", phase=2))).encode(), active)
    assert (outcome.valid_count, outcome.invalid_count) == (0, 2)
    assert all("phases_mixed" in line for line in outcome.invalid.splitlines())


@pytest.mark.parametrize("step", [{"take": "/phase"}, {"take": "/phase", "put": "/notes"}])
def test_no_dialect_hides_a_list_of_phases(step):
    in_the_bundle = found_in(bundle(phase=[1, 2]), ("phases_mixed",), dialect={"name": "d", "bundle": [step]})
    in_an_entry = found_in(bundle(entry(phase=[1, 2])), ("phases_mixed",), dialect={"name": "d", "entry": [step]})
    assert in_the_bundle == in_an_entry == {("phases_mixed", "/phase")}


@pytest.mark.parametrize(
    ("stated", "moves"),
    [
        ({"self_judged": True}, [{"take": "/self_judged"}]),
        ({"self_judged": True, "own": False}, [{"take": "/self_judged"}, {"take": "/own", "put": "/self_judged"}]),
        (
            {"judge_model": "a", "generator_model": "a", "judge": "b"},
            [{"take": "/judge_model"}, {"take": "/judge", "put": "/judge_model"}],
        ),
    ],
)
def test_no_dialect_makes_a_self_judged_run_look_like_another(stated, moves):
    codes = ("self_judging_unlabelled",)
    found = found_in(bundle(**stated), codes, dialect={"name": "d", "bundle": moves})
    assert {code for code, _ in found} == set(codes)
    labelled = {"manifest": {"self_judged": True, "files": [{"file": "a.pdf"}]}}
    assert found_in(bundle(**stated), codes, dialect={"name": "d", "bundle": moves[:1]}, **labelled) == set()


def test_a_label_may_be_moved_to_where_it_belongs():
    moves = [{"take": "/self_judged"}, {"take": "/own", "put": "/self_judged"}]
    document = bundle(judge_model="a", generator_model="a", self_judged="indeed", own=True)
    outcome = normalize(
        json.dumps(document).encode(), load(dialect=json.dumps({"name": "d", "bundle": moves}).encode())
    )
    assert (outcome.valid_count, outcome.invalid_count) == (1, 0)


LEVELS = st.sampled_from(["a", "b"])
STATED = st.fixed_dictionaries(
    {"phase": st.integers(0, 2), "bundle_meta": st.just({})},
    optional={
        "judge_model": LEVELS,
        "rubric": st.sampled_from(["prompt-drift-v1", "other"]),
        "factors": st.dictionaries(st.sampled_from(["x", "y/z"]), LEVELS),
    },
)
PLACES = ["/phase", "/judge_model", "/rubric", "/factors", "/factors/x", "/factors/y~1z", "/bundle_meta/m", "/other"]
MOVES = st.lists(
    st.fixed_dictionaries({"take": st.sampled_from(PLACES)}, optional={"put": st.sampled_from(PLACES)}), max_size=4
)


def found_in(document, codes, **documents):
    outcome = normalize(
        json.dumps(document).encode(), load(**{k: json.dumps(v).encode() for k, v in documents.items()})
    )
    return {
        (reason["code"], reason["pointer"])
        for line in outcome.invalid.splitlines()
        for reason in json.loads(line)["reasons"]
        if reason["code"] in codes
    }


@settings(max_examples=300)
@given(stated=STATED, known=STATED, moves=MOVES)
def test_no_dialect_hides_that_a_bundle_contradicts_its_manifest_or_names_another_rubric(stated, known, moves):
    manifest = {key: value for key, value in known.items() if key not in ("bundle_meta", "rubric")}
    given = {"manifest": {**manifest, "files": [{"file": "a.pdf"}]}}
    codes = ("manifest_contradiction", "rubric_mismatch")
    plain = found_in(bundle(**stated), codes, **given)
    assert plain <= found_in(bundle(**stated), codes, **given, dialect={"name": "d", "bundle": moves})


def test_a_dialect_may_take_the_list_of_entries_from_a_place_that_is_called_phase():
    document = bundle(entry("a"))
    document["phase"] = document.pop("per_file_scores")
    moves = [{"take": "/phase", "put": "/per_file_scores"}, {"take": "/step", "put": "/phase"}]
    active = load(dialect=json.dumps({"name": "d", "bundle": moves}).encode())
    outcome = normalize(json.dumps({**document, "step": 2}).encode(), active)
    assert "phases_mixed" not in outcome.invalid


def test_a_field_called_phase_that_is_no_phase_may_be_set_aside():
    active = load(dialect=json.dumps({"name": "d", "entry": [{"take": "/phase"}]}).encode())
    outcome = normalize(json.dumps(bundle(entry("a", phase="scoring"), entry("b", phase=1))).encode(), active)
    assert (outcome.valid_count, outcome.invalid_count) == (2, 0)
