"""Several patterns as one expression, against each of them by itself."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeno.errors import InvalidPattern
from zeno.text import pattern_list
from zeno.text.pattern_list import combine
from zeno.text.regex import searcher

LITERALS = ["a", "b.", "a|b", "(", "\\", "é", "[a", "^a", "A", "\\Qa", "a b", "$"]
EXPRESSIONS = [
    "a",
    "^a",
    "a$",
    "a|b",
    "(?i)a",
    r"\Qa|",
    r"\Qa\E|b",
    r"\\Qa",
    "",
    "[ab]+c",
    r"\bé",
    "(a)(b)",
    "a{2}",
    "(?P<x>a)",
    "(?P<x>b)",
]
TEXTS = st.text(alphabet="abcAé|()[\\.Q ", max_size=8)


@given(st.booleans(), st.booleans(), st.data(), TEXTS)
def test_lines_and_indexes_are_those_of_the_patterns_one_by_one(regex, case_sensitive, data, text):
    patterns = data.draw(st.lists(st.sampled_from(EXPRESSIONS if regex else LITERALS), min_size=2, max_size=5))
    combined = combine(patterns, "args.patterns", regex=regex, case_sensitive=case_sensitive)
    line = text.encode()
    alone = [searcher(one, "", case_sensitive=case_sensitive, literal=not regex)(line) for one in patterns]
    assert combined.find_indexes(line) == [index for index, found in enumerate(alone) if found]
    assert searcher(combined.pattern, "", case_sensitive=case_sensitive)(line) == any(alone)


@pytest.mark.parametrize(
    ("patterns", "field"),
    [
        (["a", "("], r"args\.patterns\[1\]"),
        (["a)|(b", "a"], r"args\.patterns\[0\]"),
    ],
)
def test_a_pattern_that_is_refused_is_named(patterns, field):
    with pytest.raises(InvalidPattern, match=field):
        combine(patterns, "args.patterns", regex=True, case_sensitive=True)


def test_the_example_is_true():
    assert doctest.testmod(pattern_list).failed == 0
