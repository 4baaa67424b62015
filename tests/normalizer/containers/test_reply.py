"""JSON in a judge's reply: unwrapped only as the dialect allows, and otherwise named with the declaration it needs."""

import pytest

from normalizer.containers.reply import read
from normalizer.documents.lossless import Number

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
