"""Definitions: the nearer a name is to the query, the more it adds."""

from hypothesis import given
from hypothesis import strategies as st

from zeno.ranking.definitions import collect_keys, find_defined_share, name_key
from zeno.ranking.question import read_query
from zeno.ranking.rules import DEFINITION


def test_the_only_name_of_a_query_counts_most_at_the_top_level():
    question = read_query("Store")
    assert find_defined_share(question, [("Store", False)]) == (DEFINITION["only"], "Store")
    assert find_defined_share(question, [("Store", True)]) == (DEFINITION["only_inner"], "Store")


def test_names_of_several_words_count_as_they_are_written_or_joined():
    assert find_defined_share(read_query("why does read_rows fail"), [("read_rows", True)])[0] == DEFINITION["compound"]
    assert find_defined_share(read_query("why does read rows fail"), [("readRows", True)])[0] == DEFINITION["joined"]


def test_a_qualified_name_counts_by_its_last_part():
    assert find_defined_share(read_query("the area of shapes"), [("Shape::~area", False)])[0] == DEFINITION["word"]


def test_of_equal_names_the_first_by_letters_is_told_whatever_their_order():
    names = [("store", False), ("cache", False)]
    question = read_query("cache or store it")
    assert (
        find_defined_share(question, names)
        == find_defined_share(question, names[::-1])
        == (DEFINITION["word"], "cache")
    )


@given(st.lists(st.sampled_from(["Store", "read_rows", "readRows", "rows", "a::ROWS", "~", "x", "é"])))
def test_only_names_with_an_asked_key_add_to_a_score(names):
    for query in ("read rows", "Store", "x", "readRows é", "ROWS of `read_rows`"):
        question = read_query(query)
        keys = collect_keys(question)
        for name in names:
            if name_key(name) not in keys:
                assert find_defined_share(question, [(name, False)]) == (0, "")


def test_other_names_add_nothing():
    assert find_defined_share(read_query("cache"), [("cachet", False), ("~", False)]) == (0, "")
