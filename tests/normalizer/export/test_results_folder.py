"""A folder of results holds what builds wrote, and they write nowhere else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.errors import CannotRun
from normalizer.export.results_folder import LIST, ResultsFolder, require_result_name


@pytest.fixture
def made(tmp_path):
    folder = tmp_path / "made"
    (folder / "tables").mkdir(parents=True)
    (folder / "tables" / "main.md").write_text("| a |\n")
    return folder


@given(st.text(st.sampled_from("a.~1 :/\\\u200c\x07"), max_size=6))
def test_a_name_that_is_allowed_has_only_plain_steps(name):
    try:
        require_result_name(name)
    except CannotRun:
        return
    assert name
    for step in name.split("/"):
        assert step.strip(". ") == step != ""
        assert not set(step) & set(":\\\u200c\x07")
        assert "~1" not in step


def test_the_list_says_what_was_written(tmp_path, made):
    ResultsFolder(tmp_path / "out").take(made)
    assert list(json.loads((tmp_path / "out" / LIST).read_text())["files"]) == ["tables/main.md"]
    assert (tmp_path / "out" / "tables" / "main.md").read_text() == "| a |\n"


def test_equal_bytes_that_the_list_does_not_have_are_taken_into_it(tmp_path, made):
    """A build that was cut between a file and the list is completed by the next one."""
    ResultsFolder(tmp_path / "out").take(made)
    (tmp_path / "out" / LIST).write_text('{"files": {}}')
    ResultsFolder(tmp_path / "out").take(made)
    assert list(json.loads((tmp_path / "out" / LIST).read_text())["files"]) == ["tables/main.md"]


@pytest.mark.parametrize("text", ["", "[]", '{"files": {"a": "b"}}', "{"])
def test_a_list_that_is_none_is_refused(tmp_path, text):
    (tmp_path / LIST).write_text(text)
    with pytest.raises(CannotRun, match="is not the list of a build"):
        ResultsFolder(tmp_path)


def test_a_list_that_is_a_link_is_refused(tmp_path):
    (tmp_path / LIST).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CannotRun, match="is a link"):
        ResultsFolder(tmp_path)


def test_a_folder_of_other_files_is_refused_and_an_empty_one_is_not(tmp_path, made):
    ResultsFolder(tmp_path / "new")
    with pytest.raises(CannotRun, match="no build wrote"):
        ResultsFolder(made)
