"""JSON in a judge's reply: unwrapped only as the dialect allows, and otherwise named with the declaration it needs."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.containers.reply import read
from normalizer.documents.lossless import Number, to_builtin
from tests.support.strategies import JSON

FENCED = '```json\n{"a": 1.0}\n```'
IN_PROSE = 'My verdict: {"a": 1.0}. Done.'


def test_plain_json_needs_no_declaration_and_keeps_the_spelling_of_numbers():
    assert read('{"a": 1.0}', []).value == {"a": Number("1.0")}


@pytest.mark.parametrize(("text", "how"), [(FENCED, "fence"), (IN_PROSE, "prose")])
def test_what_stands_around_json_is_removed_only_if_that_is_declared(text, how):
    found = read(text, [how])
    assert (found.value, found.how) == ({"a": Number("1.0")}, how)
    refused = read(text, [])
    assert (refused.value, refused.declaration) == (None, how)


@pytest.mark.parametrize(
    "text",
    [
        "no verdict",
        'first {"a": 1}, then {"b": 2}',
        '{"a": 1} {"a": 1}',
        '{"a": 1, "a": 2}',
        'x {"a": NaN}',
        "{" * 2000,
    ],
)
def test_no_object_or_more_than_one_is_no_value(text):
    found = read(text, ["fence", "prose"])
    assert found.value is None
    assert found.problem


def test_two_fences_are_not_unwrapped_as_one():
    assert read(f"{FENCED}\n{FENCED}", ["fence"]).value is None


PROSE = st.text(st.characters(exclude_characters="{}`", exclude_categories=["Cs"]), max_size=20)
OBJECTS = st.dictionaries(st.text(max_size=3), JSON, max_size=3)


@given(value=OBJECTS, before=PROSE, after=PROSE)
def test_the_one_object_of_a_text_is_what_stands_between_its_prose(value, before, after):
    written = json.dumps(value)
    found = read(before + written + after, ["prose"])
    assert found.problem == ""
    assert to_builtin(found.value) == to_builtin(read(written, []).value)


@given(value=OBJECTS, at=st.integers(0, 200), brace=st.sampled_from("{}"))
def test_a_brace_too_many_anywhere_outside_of_strings_makes_a_reply_unreadable(value, at, brace):
    written = json.dumps(value)
    broken = written[:at] + brace + written[at:]
    try:
        whole = json.loads(broken)
    except ValueError:
        assert read(broken, ["prose"]).value is None
    else:
        assert to_builtin(read(broken, ["prose"]).value) == to_builtin(read(json.dumps(whole), []).value)
