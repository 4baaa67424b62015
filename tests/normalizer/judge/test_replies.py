"""A reply is used as it is, or it is not used: strict JSON of an entry's shape, and nothing is repaired."""

import json

import pytest

from normalizer.documents.lossless import dumps
from normalizer.judge.run_folder import read_reply
from tests.support.judging import GOOD


@pytest.mark.parametrize(
    ("reply", "problem"),
    {
        "a code fence": (f"```json\n{GOOD}\n```", "not strict JSON"),
        "a sentence before": (f"Here you are: {GOOD}", "not strict JSON"),
        "two objects": (GOOD + GOOD, "not strict JSON"),
        "a trailing comma": ('{"scores": {"A": 1,}}', "not strict JSON"),
        "a key twice": ('{"scores": {"A": 1, "A": 2}}', "stands twice"),
        "not a number": ('{"scores": {"A": NaN}}', "not strict JSON"),
        "a byte order mark": ("\ufeff" + GOOD, "byte order mark"),
        "half a surrogate pair": ('{"scores": {"A": 1}, "notes": "\\ud800"}', "surrogate"),
        "nothing": ("", "it is empty"),
        "white space": (" \n", "it is empty"),
        "a list": (f"[{GOOD}]", "must be an object"),
        "no scores": ('{"notes": "fine"}', "reply.scores is missing"),
        "empty scores": ('{"scores": {}}', "reply.scores must not be empty"),
        "a score that is no score": ('{"scores": {"A": [1]}}', "reply.scores.A must be"),
        "wrong keys": ('{"score": {"A": 1}}', "reply.score"),
        "a file of its own": ('{"file": "q01.pdf", "scores": {"A": 1}}', "reply.file is not known here"),
        "a whole bundle": ('{"per_file_scores": []}', "reply.per_file_scores"),
        "evidence as a list": ('{"scores": {"A": 1}, "evidence": ["x"]}', "reply.evidence must be an object"),
        "as deep as JSON may be": (
            f'{{"scores": {{"A": 1}}, "x": {"[" * 255}{"]" * 255}}}',
            "reply.x is not known here",
        ),
        "a total in words": ('{"scores": {"A": 1}, "total": "1"}', "reply.total must be a number"),
    }.values(),
    ids=lambda value: value[:30],
)
def test_a_reply_of_another_shape_cannot_be_used_and_says_why(reply, problem):
    members, told = read_reply(reply.encode())
    assert members is None
    assert told is not None
    assert problem in told


def test_a_reply_that_is_not_utf8_cannot_be_used():
    assert read_reply(b'{"scores": {"A": 1}, "notes": "\xff"}').members is None


def test_a_reply_beyond_the_limit_cannot_be_used_even_if_it_looks_whole():
    assert read_reply(GOOD.encode(), truncated=True).problem == "it is longer than a reply may be"


@pytest.mark.parametrize("number", ["1", "1.0", "1e0", "-0", "123456789012345678901234567890", "0.10", "1E+2", "1e400"])
def test_numbers_keep_their_spelling(number):
    members = read_reply(f' {{"scores": {{"A": {number}}}, "total": {number}}}\n'.encode()).members
    assert dumps(members) == f'{{"scores":{{"A":{number}}},"total":{number}}}'


def test_scores_outside_the_scale_are_the_judge_s_answer():
    assert json.loads(dumps(read_reply(b'{"scores": {"A_structure": 99, "Z": "high"}}').members)) == {
        "scores": {"A_structure": 99, "Z": "high"}
    }
