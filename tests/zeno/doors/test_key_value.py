"""Words that people type become arguments, by the schema of the operation."""

import pytest

from zeno.doors.key_value import NotAPair, arguments, first, known


def test_strings_stay_as_typed_and_other_values_are_json():
    assert arguments("grep", ["pattern=1", "max_hits=5", "regex=true"]) == {
        "pattern": "1", "max_hits": 5, "regex": True,
    }  # fmt: skip


def test_the_first_word_may_be_the_main_argument_alone():
    assert arguments("read_file", ["README.md", "end_line=3"]) == {"path": "README.md", "end_line": 3}
    assert arguments("grep", ["a=b"]) == {"pattern": "a=b"}
    assert arguments("stat", ["src"]) == {"path": "src"}
    assert first("describe") is None


def test_the_key_of_a_list_may_be_repeated_and_its_value_be_a_json_list():
    assert arguments("grep", ["x", "paths=a", "paths=b"])["paths"] == ["a", "b"]
    assert arguments("grep", ["x", 'paths=["a", "b"]', "paths=c"])["paths"] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["x", "y"], "'y' is not KEY=VALUE"),
        (["x", "max_hits=5", "max_hits=6"], "max_hits is given twice"),
        (["x", "max_hits=five"], "the value of max_hits is not JSON: 'five'"),
        (["x\udcff"], "is not UTF-8; only names of files may be other bytes"),
    ],
)
def test_a_word_that_is_no_argument_is_refused_with_what_would_be_one(words, sentence):
    with pytest.raises(NotAPair, match=sentence):
        arguments("grep", words)


def test_a_file_name_may_be_bytes_that_are_not_utf8():
    assert arguments("read_file", ["path=caf\udce9.txt"]) == {"path": "caf\0e9.txt"}


def test_an_unknown_operation_has_no_arguments():
    assert known("no_such_op") == {}
