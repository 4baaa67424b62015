"""Scores: whole numbers, equal to those of the plain ranker."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tests.support.plain_ranker import PlainRanker
from zeno.ranking.definitions import find_best_name, share_names
from zeno.ranking.places import PlaceTable
from zeno.ranking.question import read_query
from zeno.ranking.ranker import Occurrences, TextWords, best, rarity, round_score, score_files
from zeno.ranking.words import count_words, strength

WORDS = ("cache", "caches", "Cache", "store", "cacheStore", "read_rows", "rows", "the", "rarely", "x", "é", "9")
TEXT = st.lists(
    st.sampled_from(
        [*WORDS, "\n", "`", ".", "\n ## version", "\n**", "\n**os:** ", "**", "\n```", "\n#version", "\n# os"]
    ),
    max_size=12,
).map(" ".join)
STEP = st.sampled_from(["cache", "store", "CacheStore", "tests", "docs", "rows", "test_rows", "a"])
PATH = st.builds(
    lambda steps, extension: "/".join(steps) + extension,
    st.lists(STEP, min_size=1, max_size=3),
    st.sampled_from([".py", ".md", "", ".Go"]),
)
NAMES = st.lists(
    st.tuples(st.sampled_from(["cache", "cacheStore", "rows", "~Cache", "a::rows"]), st.booleans()), max_size=3
)


def rank(texts, definitions, query):
    paths = sorted(path for path, text in texts.items() if text)
    question = read_query(query)
    counts = [count_words(texts[path].encode()) for path in paths]
    found = {}
    for word in question.terms:
        files = [file for file, words in enumerate(counts) if word in words]
        found[word] = Occurrences(
            files, [strength(counts[file][word], len(texts[paths[file]].encode())) for file in files]
        )
    ranking = score_files(question, PlaceTable(paths), TextWords(bytearray([1] * len(paths)), found, {}))
    scores = ranking.scores
    shares = {file: share_names(question, definitions.get(paths[file], [])) for file in best(scores, paths, 200)}
    definers = Counter(name for own in shares.values() for name in own)
    for file, own in shares.items():
        if own:
            scores[file] = scores[file] * (100 + find_best_name(question, own, definers)[0]) // 100
    terms = [(term.spelling, ranking.frequencies[word]) for word, term in question.terms.items()]
    return [(paths[file], round_score(scores[file]) / 10_000) for file in best(scores, paths, 1000)], terms


@given(st.dictionaries(PATH, TEXT, max_size=6), st.dictionaries(PATH, NAMES, max_size=6), TEXT)
def test_files_terms_and_scores_are_those_of_the_plain_ranker(texts, definitions, query):
    assert rank(texts, definitions, query) == PlainRanker(texts, definitions).rank(query)


def test_a_file_that_the_query_mentions_ranks_first():
    texts = {"a/query.py": "close\n", "b/query.py": "close close\n"}
    assert rank(texts, {}, "close fails")[0][0][0] == "b/query.py"
    assert rank(texts, {}, 'close fails in "lib/a/query.py"')[0][0][0] == "a/query.py"


def test_equal_scores_are_sorted_by_path():
    texts = {"b.py": "close\n", "a.py": "close\n", "c.py": "open\n"}
    assert [path for path, _ in rank(texts, {}, "close")[0]] == ["a.py", "b.py"]


def test_a_rarer_word_counts_more():
    assert rarity(30_000, 1) > rarity(30_000, 2) > rarity(30_000, 29_000) >= 0
    assert rarity(1, 1) == 288
