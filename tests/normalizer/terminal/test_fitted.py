"""Tables on a terminal: no line is longer than it is wide, numbers stay whole, and what is missing is told."""

import re
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from normalizer.tables import formats
from normalizer.tables.formats import Cell, Table, display_width
from normalizer.terminal.fitted import CUT, cut, fit_table

WORDS = st.text(alphabet="abc é中\N{COMBINING ACUTE ACCENT}", max_size=40)
NUMBERS = st.one_of(st.none(), st.integers(-9999, 9999), st.decimals(-99, 99, places=3))


@st.composite
def tables(draw):
    kinds = draw(st.lists(st.sampled_from([WORDS, NUMBERS]), min_size=1, max_size=9))
    rows = draw(st.lists(st.tuples(*kinds).map(list), max_size=5))
    heads = [f"column {number}" for number, _ in enumerate(kinds)]
    return Table(heads, rows, draw(st.lists(st.text(alphabet="a b", max_size=200), max_size=2)))


def plain(text: str) -> str:
    return re.sub("\033\\[[0-9]+m", "", text)


@given(table=tables(), width=st.integers(20, 200))
def test_no_line_is_wider_than_the_terminal(table, width):
    for line in plain(fit_table(table, width, colour=True)).splitlines():
        assert display_width(line) <= width


@given(table=tables())
def test_with_room_for_all_it_is_the_text_of_a_pipe(table):
    assert plain(fit_table(table, None, colour=True)) == formats.text(table)
    assert fit_table(table, None, colour=False) == formats.text(table)


@given(table=tables(), width=st.integers(30, 120))
def test_what_is_not_shown_is_told_and_only_that(table, width):
    shown, whole = fit_table(table, width, colour=False), formats.text(table)
    body, _, _ = shown.partition("\n\n")
    is_whole = body == whole.partition("\n\n")[0]
    assert ("--wide shows all" in " ".join(shown.split())) is not is_whole
    if CUT in body:
        assert not is_whole


def test_texts_give_way_before_columns_and_numbers_stay_whole():
    rows: list[list[Cell]] = [
        ["a name that is far too long for this terminal", Decimal("12.345678"), "another long text, cut too", 7]
    ]
    line = fit_table(Table(["model", "mean", "why", "n"], rows, []), 60, colour=False).splitlines()[1]
    assert display_width(line) == 60
    assert line.count(CUT) == 2
    assert line.startswith("a name th")
    assert "  12.345678  another " in line
    assert line.endswith("  7")


def test_an_interval_is_two_numbers_and_stays_whole():
    rows: list[list[Cell]] = [["writer-alder", "2.146898 to 14.853102", 9, 1], ["writer-birch", "NA", 6, 2]]
    for width in range(36, 60):
        text = fit_table(Table(["model", "95 % interval", "points", "n"], rows, []), width, colour=False)
        assert CUT not in text.splitlines()[1].removeprefix("writer-alder")


def test_columns_that_do_not_fit_are_left_out_from_the_right():
    table = Table([f"number_{n}" for n in range(9)], [[1234567 for _ in range(9)]], [])
    lines = fit_table(table, 40, colour=False).splitlines()
    assert lines[0].split() == ["number_0", "number_1", "number_2", "number_3"]
    assert "without 5 more columns" in " ".join(lines)


def test_the_columns_that_answer_the_question_are_left_out_last():
    columns = ["generator_model", "n", "records", "judges", "total", "95 % interval", "sd", "at max", "flags"]
    row: list[Cell] = ["writer-alder", 12, 18, 2, Decimal("9.042"), "6.622 to 9.528", Decimal("0.838"), 4]
    table = Table(columns, [[*row, "different_artifacts different_judges partial"]], [])
    heads = {width: fit_table(table, width, colour=False).splitlines()[0] for width in (80, 60, 44)}
    assert re.split("  +", heads[80]) == ["generator_model", "n", "records", "total", "95 % interval", "flags"]
    assert re.split("  +", heads[60]) == ["generator_model", "total", "95 % interval", "flags"]
    assert re.split("  +", heads[44]) == ["generator_model", "total", "flags"]


def test_colour_says_no_more_than_the_words():
    table = Table(["cell", "verdict"], [["a", "mismatch"], ["b", "match"], [None, "rounding_tie"]], ["A note."])
    text = fit_table(table, 80, colour=True)
    assert "\033[31mmismatch\033[0m" in text
    assert "\033[32mmatch\033[0m" in text
    assert plain(text) == formats.text(table)


@given(text=st.text(st.sampled_from("ab -界é\u0301"), max_size=60), width=st.integers(2, 30))
def test_notes_with_wide_characters_fit(text, width):
    notes = fit_table(Table(["n"], [[1]], [text]), width, colour=False).split("\n")[3:]
    assert all(display_width(line) <= max(width, 20) for line in notes)
    whole = "".join("".join(notes).partition("Shown ")[0].split())
    assert whole == "".join(text.split())


@given(text=st.text(st.sampled_from("ab界é\u0301"), max_size=30), width=st.integers(1, 30))
def test_the_longest_beginning_that_fits_is_shown(text, width):
    shown = cut(text, width)
    if display_width(text) <= width:
        assert shown == text
    else:
        best = max((text[:n] for n in range(len(text)) if display_width(text[:n]) < width), key=len)
        assert shown == best + CUT


def test_a_cell_of_a_megabyte_is_cut_in_one_pass():
    assert cut("x" * 1_000_000, 80) == "x" * 79 + CUT


def test_flags_stay_when_other_columns_go():
    table = Table(["name", "one", "two", "three", "flags"], [["a", 1, 2, 3, "only_self_judged"]], [])
    shown = fit_table(table, 34, colour=False)
    assert shown.splitlines()[0].split() == ["name", "one", "two", "flags"]
    assert "only_self_judged" in shown
    assert "without 1 more column" in " ".join(shown.split())
