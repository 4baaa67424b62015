"""Passages: the window whose terms weigh the most, compared with trying all windows."""

from hypothesis import given
from hypothesis import strategies as st

from zeno.ranking.passage import best_window, find_passage, find_terms
from zeno.ranking.rules import PASSAGE_LINES, SHOWN_LINES

WEIGHTS = {b"a": 5, b"b": 3, b"c": 1}


@given(st.lists(st.text("abc", max_size=3), max_size=40), st.integers(1, 6))
def test_the_window_is_the_best_of_all(rows, length):
    found = [(index, {letter.encode() for letter in row}) for index, row in enumerate(rows) if row]
    if not found:
        return

    def worth(at):
        inside = [words for index, words in found[at:] if index < found[at][0] + length]
        return sum(WEIGHTS[word] for word in set().union(*inside)), len(inside)

    assert worth(best_window(found, WEIGHTS, length)) == max(map(worth, range(len(found))))


def test_a_definition_of_the_query_begins_the_passage():
    text = b"a b\n\ndef a(): ...\n    b\nx\n"
    assert find_passage(text, WEIGHTS, [2]) == (2, 3, [2, 3], {b"a", b"b"})


def test_a_text_without_terms_shows_its_first_lines():
    assert find_passage(b"\nx\n" + b"y\n" * 20, WEIGHTS) == (0, PASSAGE_LINES - 1, [1, 2, 3], set())
    assert find_passage(b"\nx\n", WEIGHTS) == (0, 1, [1], set())


def test_the_lines_with_the_most_terms_are_shown_in_order():
    shown = find_passage(b"c\nb\na\na b\n", WEIGHTS).shown
    assert shown == [1, 2, 3]
    assert len(shown) == SHOWN_LINES


def test_terms_on_a_line_are_found_by_their_stems():
    weights = {b"cach": 1, b"row": 1, b"y": 1}
    assert find_terms(b"x\ncachedRows(x)\n", weights) == [(1, {b"cach", b"row"})]
