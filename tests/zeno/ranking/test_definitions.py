"""Definitions: the nearer a name is to the query, the more it adds."""

from zeno.ranking.definitions import find_defined_share
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


def test_other_names_add_nothing():
    assert find_defined_share(read_query("cache"), [("cachet", False), ("~", False)]) == (0, "")
