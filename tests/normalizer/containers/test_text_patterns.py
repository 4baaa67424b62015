"""Values in free text, found by a pattern: the one that stands there, or none."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.containers.conversions import MISSING, Read, extractor, failure_finder
from normalizer.errors import UnusableDocument

TEXTS = st.lists(st.sampled_from(["[[A]]", "[[B]]", "[[C]]", "[A]", "\n", " so ", "é"]), max_size=6).map("".join)


@given(text=TEXTS)
def test_the_value_is_the_only_one_that_the_pattern_finds(text):
    read = extractor(r"\[\[(A|B|C)\]\]", "/x")(Read(text, "/t"))
    found = set(re.findall(r"\[\[(A|B|C)\]\]", text))
    if len(found) > 1:
        assert "is found with" in read.failed
    else:
        assert read.value == (found.pop() if found else MISSING)
        assert read.how == ("pattern" if read.value is not MISSING else "")


@given(text=TEXTS)
def test_the_ends_in_a_pattern_are_those_of_the_text_and_not_of_a_line(text):
    read = extractor("^(.)", "/x")(Read(text, "/t"))
    assert read.value == (text[0] if text and text[0] != "\n" else MISSING)


def test_what_is_no_text_stays_as_it_is():
    assert extractor("(a)", "/x")(Read(None, "/t")).value is None


@pytest.mark.parametrize("pattern", ["(", "a(?=b)(c)", "no group", "(a)(b)", "((a{1000}){1000}){1000}"])
def test_a_pattern_that_cannot_be_used_is_refused_by_name(pattern):
    with pytest.raises(UnusableDocument, match="the dialect's /fields/file"):
        extractor(pattern, "/fields/file")


def test_a_text_is_a_failure_if_one_of_the_patterns_is_found_in_it():
    find = failure_finder(["^ERROR", "timeout"], "/x")
    assert [bool(find(value)) for value in ("ERROR 3", "no ERROR", "a timeout", None)] == [True, False, True, False]
