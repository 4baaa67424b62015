"""Definitions: the nearer a name is to the query, the more it adds."""

from hypothesis import given
from hypothesis import strategies as st

from zeno.ranking.definitions import (
    FEW_RUNS,
    collect_keys,
    collect_runs,
    find_best_name,
    may_have,
    name_key,
    share_names,
)
from zeno.ranking.question import read_query
from zeno.ranking.rules import DEFINITION


def find_defined_share(question, names, **definers):
    """Return what the best of some names adds, and that name, where so many files define each."""
    shares = share_names(question, names)
    return find_best_name(question, shares, {name: definers.get(name, 1) for name in shares}) if shares else (0, "")


def test_in_a_report_a_name_counts_the_less_the_more_files_define_it():
    names = [("save", False), ("read_rows", False)]
    report = read_query("save fails\nread_rows does not")
    assert find_defined_share(report, names, read_rows=4) == (DEFINITION["compound"] // 2, "read_rows")
    assert find_defined_share(report, names, read_rows=9) == (DEFINITION["word"], "save")
    assert find_defined_share(read_query("save or read_rows"), names, read_rows=9)[1] == "read_rows"


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
        keys = collect_keys(collect_runs(question))
        for name in names:
            if name_key(name) not in keys:
                assert find_defined_share(question, [(name, False)]) == (0, "")


@given(st.sampled_from(["Store", "read_rows", "readRows", "a::ROWS", "__x", "é"]), st.text("a_ \n"), st.text("a_ \n"))
def test_a_text_with_a_name_that_counts_may_define_it(name, before, after):
    for query in ("read rows", "Store", "x", "readRows é", "ROWS of `read_rows`"):
        question = read_query(query)
        if find_defined_share(question, [(name, False)])[0]:
            assert may_have(f"{before}{name}{after}".encode(), collect_runs(question))


def test_a_text_without_any_of_the_names_defines_none():
    assert not may_have(b"def read_row(): pass\n", collect_runs(read_query("readRows")))
    # So many names are not looked for.
    assert may_have(b"", [b"x%d" % number for number in range(FEW_RUNS + 1)])


def test_other_names_add_nothing():
    assert find_defined_share(read_query("cache"), [("cachet", False), ("~", False)]) == (0, "")
