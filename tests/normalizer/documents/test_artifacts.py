"""Evaluated files are read below one folder only, and must be those that the manifest means."""

import hashlib
import os

import pytest

from normalizer.documents.artifacts import content, read
from normalizer.errors import CannotRun


def test_a_file_is_found_by_its_path_or_its_name(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.md").write_bytes(b"text")
    assert read(tmp_path, {"file": "a.md", "path": "sub/a.md"}) == b"text"
    assert read(tmp_path, {"file": "sub/a.md"}) == b"text"


def test_a_file_with_another_hash_is_refused(tmp_path):
    (tmp_path / "a.md").write_bytes(b"text")
    right = hashlib.sha256(b"text").hexdigest()
    assert read(tmp_path, {"file": "a.md", "sha256": right}) == b"text"
    with pytest.raises(CannotRun, match="is not the file the manifest means"):
        read(tmp_path, {"file": "a.md", "sha256": "0" * 64})


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret", "sub/../../secret", "a\0b"])
def test_a_path_that_does_not_stay_below_the_folder_is_refused(tmp_path, name):
    with pytest.raises(CannotRun, match="does not stay below the artifacts folder"):
        content(tmp_path, name)


def test_a_link_that_leads_out_is_refused_and_one_that_stays_in_is_read(tmp_path):
    (tmp_path / "secret").write_text("no")
    folder = tmp_path / "artifacts"
    folder.mkdir()
    (folder / "a").write_text("yes")
    (folder / "in").symlink_to("a")
    (folder / "out").symlink_to("../secret")
    assert content(folder, "in") == b"yes"
    with pytest.raises(CannotRun, match="leads out of the artifacts folder through a link"):
        content(folder, "out")


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CannotRun, match="is not a regular file"):
        content(tmp_path, "pipe")
    with pytest.raises(CannotRun, match="is --artifacts the right folder"):
        content(tmp_path, "gone")
