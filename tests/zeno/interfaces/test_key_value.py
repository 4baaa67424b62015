"""Words that people type become arguments, by the schema of the operation."""

import pytest

from zeno.interfaces.key_value import NotAPair, arguments, arguments_of, first, read_on, suggest_operation


def test_strings_stay_as_typed_and_other_values_are_json():
    assert arguments("grep", ["pattern=1", "max_hits=5", "regex=true"]) == {
        "pattern": "1", "max_hits": 5, "regex": True,
    }  # fmt: skip


def test_the_first_word_may_be_the_main_argument_alone():
    assert arguments("read_file", ["README.md", "end_line=3"]) == {"path": "README.md", "end_line": 3}
    assert arguments("grep", ["a=b"]) == {"pattern": "a=b"}
    assert arguments("stat", ["src"]) == {"path": "src"}
    assert first("describe") is None


def test_further_words_are_paths_where_an_operation_takes_any():
    assert arguments("grep", ["x", "src", "max_hits=5", "docs"]) == {
        "pattern": "x",
        "paths": ["src", "docs"],
        "max_hits": 5,
    }
    assert arguments("stat", ["a", "b", "caf\udce9"]) == {"path": "a", "paths": ["b", "caf\0e9"]}
    # A misspelt key is no path: the server names it.
    assert arguments("grep", ["x", "max_hit=5"]) == {"pattern": "x", "max_hit": "5"}


def test_text_reads_on_where_no_end_was_given():
    assert read_on("read_file", {"path": "a", "start_line": 3})["end_line"] > 10**9
    assert read_on("read_file", {"path": "a", "end_line": 3}) == {"path": "a", "end_line": 3}
    assert read_on("peek", {"path": "a"}) == {"path": "a"}
    assert read_on("read_file", ["a"]) == ["a"]


def test_the_key_of_a_list_may_be_repeated_and_its_value_be_a_json_list():
    assert arguments("grep", ["x", "paths=a", "paths=b"])["paths"] == ["a", "b"]
    assert arguments("grep", ["x", 'paths=["a", "b"]', "paths=c"])["paths"] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["x", "max_hits=5", "max_hits=6"], "max_hits is given twice"),
        (["x", "max_hits=five"], "max_hits takes a whole number, and 'five' is not"),
        (["pattrn=x"], "grep has no pattrn; did you mean pattern=..."),
        (["x\udcff"], "is not UTF-8; only names of files may be other bytes"),
    ],
)
def test_a_word_that_is_no_argument_is_refused_with_what_would_be_one(words, sentence):
    with pytest.raises(NotAPair, match=sentence):
        arguments("grep", words)


def test_a_word_too_many_is_refused_with_the_arguments_there_are():
    with pytest.raises(
        NotAPair, match="'y' is not KEY=VALUE; extract_symbols takes path, name, kinds, max_symbols, cursor"
    ):
        arguments("extract_symbols", ["x", "y"])


def test_a_file_name_may_be_bytes_that_are_not_utf8():
    assert arguments("read_file", ["path=caf\udce9.txt"]) == {"path": "caf\0e9.txt"}


def test_an_unknown_operation_has_no_arguments():
    assert arguments_of("no_such_op") == {}


@pytest.mark.parametrize(
    ("op", "meant"),
    [
        ("ls", "list_files"),
        ("cat", "read_file"),
        ("listfiles", "list_files"),
        ("read-file", "read_file"),
        ("Grep", "grep"),
    ],
)
def test_an_operation_that_was_probably_meant_is_suggested(op, meant):
    assert suggest_operation(op) == f"; did you mean {meant}?"


def test_all_operations_are_named_where_none_is_like_it():
    assert suggest_operation("xyzzy").startswith("; there are describe, ")
