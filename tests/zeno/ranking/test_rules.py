"""The constants: data that make sense together."""

from zeno.ranking import rules
from zeno.ranking.words import split_run


def test_stop_words_are_sorted_single_words():
    words = sorted(rules.STOP_WORDS)
    assert all(split_run(word) == [word] for word in words)


def test_a_definition_counts_the_more_the_surer_it_is():
    ordered = ["only", "only_inner", "compound", "joined", "word", "word_inner"]
    amounts = [rules.DEFINITION[name] for name in ordered]
    assert amounts == sorted(amounts, reverse=True)
