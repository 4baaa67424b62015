"""Colours mark what an answer says of files, and never change a character of it."""

import re

from hypothesis import given
from hypothesis import strategies as st

from zeno.interfaces.colour import DIM, END, NUMBER, PATH, is_coloured, paint


def test_paths_numbers_and_the_last_line_have_colours():
    text = "src/a.py\n12\tdef f():\n> 13\t    12\n--\n[1 hit in 1 file; complete]"
    assert paint(text).split("\n") == [
        f"{PATH}src/a.py{END}",
        f"{NUMBER}12{END}\tdef f():",
        f"{NUMBER}> 13{END}\t    12",
        "--",
        f"{DIM}[1 hit in 1 file; complete]{END}",
    ]


@given(st.text(alphabet="a1[\t\n >-", max_size=60))
def test_without_the_colours_it_is_the_same_text(text):
    assert re.sub(r"\x1b\[\d+m", "", paint(text)) == text


def test_output_that_is_no_terminal_has_no_colours(capsys):
    assert not is_coloured()
