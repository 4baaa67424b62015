"""Words: identifiers split at their humps, without usual endings, the same as in the plain ranker."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tests.support import plain_ranker
from zeno.ranking.words import count_words, split_run, stem, strength

TEXT = st.text(alphabet=st.sampled_from("abcdeginsyxABCZ019_ .\né中"), max_size=60)


def test_an_identifier_is_split_at_its_humps_and_digits():
    assert split_run(b"HTTPServer_error2x") == [b"http", b"server", b"error", b"2", b"x"]
    assert split_run(b"ABCdef") == [b"ab", b"cdef"]


def test_long_numbers_are_no_words():
    assert split_run(b"v123456_1") == [b"v", b"1"]


def test_forms_of_a_word_have_one_stem_which_begins_it():
    assert {stem(word) for word in (b"cache", b"caches", b"cached", b"caching")} == {b"cach"}
    assert {stem(word) for word in (b"category", b"categories")} == {b"categor"}
    assert {stem(word) for word in (b"log", b"logs", b"logged", b"logging")} == {b"log"}
    assert [stem(word) for word in (b"status", b"class", b"this", b"bed")] == [b"status", b"class", b"this", b"bed"]


@given(st.text(alphabet="abcdeginsxyrth", max_size=12))
def test_a_stem_begins_its_word(word):
    assert word.encode().startswith(stem(word.encode()))


@given(TEXT)
def test_words_are_counted_as_the_plain_ranker_counts_them(text):
    assert count_words(text.encode()) == {
        word.encode(): times for word, times in Counter(plain_ranker.stems(text)).items()
    }


@given(st.integers(1, 10**6), st.integers(1, 10**9))
def test_strength_grows_with_the_number_of_times_and_falls_with_the_size(times, size):
    assert 0 <= strength(times, size) <= strength(times + 1, size) <= 350
    assert strength(times, size) >= strength(times, size + 1000)


def test_runs_too_long_for_a_name_are_not_counted():
    assert count_words(b"x" * 65 + b" y") == {b"y": 1}
