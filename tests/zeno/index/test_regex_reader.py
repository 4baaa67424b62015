"""The parser of patterns against RE2: what it says of a pattern holds for every line that RE2 matches."""

from itertools import product

import pytest

from zeno.errors import InvalidPattern
from zeno.index.regex_reader import NotUnderstood, expression
from zeno.search.query import Plan
from zeno.text.regex import searcher

ATOMS = ["fo", "^fo", r"\Afo", "fo$", r"fo\z", "[fo]", "(fo)", r"\Qfo\E", "f|o", "f*"]
FLAGS = ["(?i)", "(?-i)", "(?s)", "(?i)(?-s)", "(?U)", "(?m)", "(?-m)", "(?m-i)", r"\Q\E", "(?:)", "(?i:)", ""]
REPETITIONS = ["", "?", "*", "+", "{2}", "{0}", "{1,}", "*?", "{2}{2}", "{,2}", "{x}"]
LINES = [b"", b"f", b"o", b"fo", b"foo", b"fO", b"FOO", b"fofo", b"foo!", b"fo{x}!", b"fo{,2}", b"!", b"ff", b"foO!oo"]


@pytest.mark.parametrize("repetition", REPETITIONS)
@pytest.mark.parametrize("flags", FLAGS)
def test_no_line_that_re2_matches_is_ruled_out_where_flags_stand_before_a_repetition(flags: str, repetition: str):
    tried = 0
    for atom, rest, case_sensitive in product(ATOMS, ["", "!", "oo"], [True, False]):
        pattern = f"{atom}{flags}{repetition}{rest}"
        try:
            matches = searcher(pattern, "pattern", case_sensitive=case_sensitive)
        except InvalidPattern:
            continue
        tried += 1
        plan = Plan(pattern, regex=True, case_sensitive=case_sensitive)
        for line in filter(matches, LINES):
            for scan in (plan.scan, plan.scan_of([line]), plan.sift):
                # The line has others around it.
                text = b"x\n" + line + b"\nx\n"
                assert scan is None or scan(text, 2, len(text))[0] in range(2, 3 + len(line)), (pattern, line)
    # RE2 takes no repetition of a repetition, unless a group of flags stands between them.
    assert tried or repetition == "{2}{2}"


def test_a_repetition_behind_flags_is_left_to_re2():
    with pytest.raises(NotUnderstood):
        expression("fo(?i){2}", case_sensitive=True)


def test_the_ends_of_a_text_become_those_of_lines_outside_of_quoted_text():
    assert expression(r"\Afo\z|\\A|\Q\A", case_sensitive=True).lines == r"^fo$|\\A|\Q\A"
