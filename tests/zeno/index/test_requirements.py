"""Where a scan for a pattern can begin: its tails."""

import pytest

from zeno.index.regex_reader import expression
from zeno.search.query import Plan


def tails(pattern):
    return [(tail.literal, tail.pattern) for tail in expression(pattern, case_sensitive=True).tails]


def test_one_byte_begins_a_tail_if_enough_bytes_after_it_are_restricted():
    assert tails(r"\w+\s+=\s+\w\.\d") == [(b"=", r"=\s+\w\.\d")]
    assert tails(r"^\w+\s*=\s") == []


@pytest.mark.parametrize(
    ("pattern", "literal", "tail"),
    [
        (r"\b[a-z]{4}[_]{1}[a-z]{7}", b"_", "_[a-z]{7}"),
        (r"\d(a[.])b{2}\d+", b"a.bb", r"a\.bb\d+"),
        (r"\dé[$]\d", "é$".encode(), r"é\$\d"),
        # The repetition goes on behind the literal, so the atom stays as it was written.
        (r"\dab+\d", b"ab", r"ab+\d"),
    ],
)
def test_a_literal_is_spelled_as_one(pattern, literal, tail):
    assert tails(pattern)[0] == (literal, tail)


def test_the_byte_that_stands_least_often_in_the_text_is_chosen():
    plan = Plan(r"^\s*\w+\s+=\s+\"\w+\.\w+\.\w+\s+\w+\.\w+\"", regex=True, case_sensitive=True)
    line = b'        x.y(a, "b", "c"), z.y\n'
    scan = plan.scan_of([line * 4000])
    assert scan is not None
    # A scan that begins at `=` also finds what lacks the name before it.
    assert scan(b'= "a.b.c d.e"\n', 0, 14) == (0, 13)
