"""The table of words: what it finds is what counting the texts gives, also after some of them are forgotten."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeno.ranking.word_table import WordTable, encode_words
from zeno.ranking.words import count_words, strength

TEXT = st.lists(st.sampled_from([b"cache", b"caches", b"readRows", b"x", b"\xc3\xa9", b"\n", b"-"]), max_size=8).map(
    b" ".join
)


def find(table, word):
    files: list[int] = []
    strengths: list[int] = []
    table.find(word, list(range(table.count)), files, strengths)
    return dict(zip(files, strengths, strict=True))


@given(st.lists(TEXT, max_size=6, unique=True), st.sets(st.integers(0, 5)))
def test_a_table_finds_what_counting_gives_until_it_is_forgotten(texts, forgotten):
    table = WordTable(1 << 20)
    numbers = dict(enumerate(texts))
    for number, text in numbers.items():
        assert table.add(sha256(text).digest(), encode_words(text)) == number
    for _ in table.forget_others([number for number in numbers if number not in forgotten]):
        pass
    live = {number: text for number, text in numbers.items() if number not in forgotten}
    words = {word for text in texts for word in count_words(text)}
    for word in words:
        assert find(table, word) == {
            number: strength(counts[word], len(text))
            for number, text in live.items()
            if word in (counts := count_words(text))
        }
    assert {number: table.number_of(sha256(text).digest()) for number, text in numbers.items()} == {
        number: number if number in live else None for number in numbers
    }
    assert (table.size == 0) == (not live)


def test_a_full_table_takes_no_more():
    table = WordTable(1)
    assert table.add(b"1", encode_words(b"a b")) == 0
    assert table.full
    assert table.add(b"2", encode_words(b"a c")) is None
    assert find(table, b"c") == {}


@pytest.mark.parametrize("data", [b"", b"x", b"-1\n", b"1\n", b"2\n\0\0\0\0a", b"2\n\0\0\0\0a\na", b"1\n\xff\xffa"])
def test_bytes_that_are_no_words_are_refused(data):
    table = WordTable(1 << 20)
    assert table.add(b"1", data) is None
    assert len(table) == 0
