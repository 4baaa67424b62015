"""A query: which words count and how much, and what it names."""

from zeno.ranking.question import Term, read_query


def test_stop_words_do_not_count_and_forms_of_one_word_count_once():
    assert read_query("How are sessions and the session closed?").terms == {
        b"session": Term("sessions", 140),
        b"clos": Term("closed", 100),
    }


def test_parts_of_compound_names_and_backquoted_words_weigh_more():
    terms = read_query("close `store` after read_rows or `getRows`").terms
    assert {term.spelling: term.weight for term in terms.values()} == {
        "close": 100,
        "store": 200,
        "read": 200,
        "rows": 560,
        "get": 400,
    }


def test_the_first_line_of_a_report_and_what_it_repeats_weigh_more():
    terms = read_query("\n close fails \nclose it\nread, read, read and read").terms
    assert {term.spelling: term.weight for term in terms.values()} == {"close": 280, "fails": 200, "read": 180}
    assert read_query("close fails\n").terms[b"clos"].weight == 100


def test_sections_of_a_report_about_its_environment_are_not_read():
    report = """close fails
## Python version
3.11
**Steps**
call close
 ** OS **
rows.py
# Any version of it fails"""
    spellings = {term.spelling for term in read_query(report).terms.values()}
    assert spellings == {"close", "fails", "steps", "call", "version"}
    assert read_query("# Python version").terms.keys() == {b"python", b"version"}
    assert not read_query("close fails\n\n## Versions\n3.11").is_report


def test_a_label_with_text_behind_it_leaves_out_its_own_line():
    report = """close fails
 **Version:** 3.11 on my old machine
rows
** OS **: Linux
**Windows**
## Environment
**Python version**: 3.11
left
**Steps:** call
it"""
    spellings = {term.spelling for term in read_query(report).terms.values()}
    assert spellings == {"close", "fails", "rows", "windows", "steps", "call"}


def test_code_in_a_report_has_no_headings():
    report = """close fails
#include <version>
rows.py
```python
# os
call
```
# OS
Linux
```
# left out
```"""
    assert {term.spelling for term in read_query(report).terms.values()} >= {"rows", "call", "version"}
    assert read_query(report).terms.keys().isdisjoint({b"linux", b"left"})


def test_a_single_character_counts_only_where_there_is_nothing_else():
    assert list(read_query("g").terms) == [b"g"]
    assert list(read_query("g value").terms) == [b"valu"]


def test_a_query_of_one_identifier_names_it():
    assert read_query("the FooBar").only == b"FooBar"
    assert read_query("FooBar FooBar").only == b"FooBar"
    assert read_query("FooBar baz").only is None


def test_adjacent_words_are_also_read_as_one_name():
    question = read_query("rate limits of the client")
    assert {b"ratelimits", b"limitsclient"} == question.joined
    assert b"ratlimit" in question.joined_stems


def test_names_of_files_are_taken_with_the_directory_before_them():
    query = 'File "/usr/lib/app/db/Query.py", line 3, in close; see ./notes.md, not e.g. this'
    assert read_query(query).files >= {b"db/query.py", b"notes.md"}


def test_a_query_without_words_asks_for_nothing():
    assert read_query("?! how is it").terms == {}
