"""FIELD=VALUE becomes run metadata, typed as the schema wants it; anything else is refused with what would be right."""

import pytest

from normalizer.commands.read.normalize import metadata
from normalizer.documents.lossless import Number
from normalizer.errors import CannotRun


def test_values_are_texts_but_for_the_phase_and_the_label():
    assert metadata(("judge_model=7", "phase=1", "self_judged=true", "factors.topic=a=b")) == {
        "judge_model": "7", "phase": Number("1"), "self_judged": True, "factors": {"topic": "a=b"},
    }  # fmt: skip


def test_what_is_no_phase_or_label_stays_text_for_the_schema_to_refuse():
    assert metadata(("phase=01", "self_judged=yes")) == {"phase": "01", "self_judged": "yes"}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (("judge_model",), "--set judge_model: write FIELD=VALUE"),
        (("judge_modle=x",), "a run has no such field; did you mean judge_model"),
        (("factors=x",), "a run has no such field"),
        (("run_id=a", "run_id=b"), "--set run_id is given twice"),
        (("factors.t=a", "factors.t=b"), "--set factors.t is given twice"),
    ],
)
def test_what_cannot_be_stated_is_refused(given, sentence):
    with pytest.raises(CannotRun) as refused:
        metadata(given)
    assert sentence in str(refused.value)
