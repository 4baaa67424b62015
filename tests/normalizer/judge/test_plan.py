"""What a run is before anyone is asked: the metadata of its bundle, and everything that is refused in time."""

import json

import pytest

from normalizer.documents import protocol
from normalizer.documents.settings import load
from normalizer.errors import CannotRun
from normalizer.judge.plan import plan

FILES = [{"file": "a.pdf"}, {"file": "b.pdf"}]


def planned(model=None, files=FILES, **stated):
    return plan(load(None, json.dumps({"files": files, **stated}).encode()), model)


def test_the_bundle_records_version_phase_judge_label_and_prompt():
    made = planned(run_id="r", phase=2, judge_model="judge-x", generator_model="writer-y", factors={"f": "g"})
    assert made.metadata == {
        "run_id": "r",
        "protocol_version": protocol.version(),
        "judge_prompt_version": f"prompt-{made.prompt.sha256[:16]}",
        "judge_prompt_sha256": made.prompt.sha256,
        "judge_model": "judge-x",
        "generator_model": "writer-y",
        "phase": "2",
        "self_judged": False,
        "rubric": "prompt-drift-v1",
        "factors": {"f": "g"},
    }


def test_what_the_manifest_states_is_recorded_as_it_is():
    made = planned(
        created_at="in spring", eval_id="e", judge_prompt_version="jp-3", protocol_version=protocol.version()
    )
    assert {key: made.metadata[key] for key in ("created_at", "eval_id", "judge_prompt_version", "phase")} == {
        "created_at": "in spring",
        "eval_id": "e",
        "judge_prompt_version": "jp-3",
        "phase": "0",
    }
    assert "self_judged" not in made.metadata  # who wrote the files is not known


@pytest.mark.parametrize("phase", [1, 2])
def test_relaxations_belong_to_phase_0(phase):
    stated = {"judge_model": "j-model", "generator_model": "w-model", "relaxations": [{"statement": "Be brief."}]}
    with pytest.raises(CannotRun, match=f"relaxations, which phase {phase} does not have"):
        planned(phase=phase, **stated)
    assert "- Be brief." in planned(phase=0, **stated).prompt.rules


def test_an_empty_list_of_relaxations_relaxes_nothing():
    assert planned(phase=1, judge_model="j", generator_model="w", relaxations=[]).manifest.relaxations == ()


@pytest.mark.parametrize(
    ("stated", "model", "sentence"),
    [
        ({"phase": 1, "generator_model": "w"}, None, "give judge_model in the manifest, or --model NAME"),
        ({"phase": 1, "judge_model": "j"}, None, '"a.pdf" has none'),
        ({"judge_model": "j"}, "k", '--model says "k"'),
        ({"protocol_version": "eval-0"}, None, "this program follows"),
        ({"judge_model": "j", "generator_model": "j", "self_judged": False}, None, "label it true"),
    ],
)
def test_a_run_whose_bundle_would_be_untrue_is_refused(stated, model, sentence):
    with pytest.raises(CannotRun, match=sentence):
        planned(model, **stated)


def test_the_judge_may_be_named_apart():
    assert planned("k").metadata["judge_model"] == "k"


def test_self_judging_is_labelled():
    assert planned(judge_model="m", generator_model="m").metadata["self_judged"] is True
    assert planned(judge_model="m", generator_model="n").metadata["self_judged"] is False
    assert planned(judge_model="m", generator_model="n", self_judged=True).metadata["self_judged"] is True


def test_self_judging_beside_others_needs_labels_of_the_files():
    mixed = [{"file": "a", "generator_model": "m"}, {"file": "b", "generator_model": "n"}]
    with pytest.raises(CannotRun, match="label its files"):
        planned(judge_model="m", files=mixed)
    labelled = [{**mixed[0], "self_judged": True}, mixed[1]]
    metadata = planned(judge_model="m", files=labelled).metadata
    assert "self_judged" not in metadata
    assert "generator_model" not in metadata
