"""A large file tells how far it is read; a small one, or one that no one watches, is an ordinary file."""

import pytest

from normalizer.batch import intake
from normalizer.batch.intake import open_watched
from normalizer.terminal.output import format_progress


def test_every_byte_of_a_large_file_is_told_and_read(tmp_path, monkeypatch):
    monkeypatch.setattr(intake, "LARGE", 1000)
    monkeypatch.setattr(intake, "_WATCHED_BLOCK", 64)
    data = bytes(range(256)) * 8
    (tmp_path / "f").write_bytes(data)
    told: list[tuple[str, int, int]] = []
    with open_watched(tmp_path / "f", len(data), lambda *said: told.append(said)) as stream:
        assert b"".join(stream) == data
    places = [done for _, done, _ in told]
    assert places == sorted(places)
    assert {places[-1], *(of for _, _, of in told)} == {len(data)}


@pytest.mark.parametrize("size", [0, 999])
def test_small_files_tell_nothing(tmp_path, size):
    (tmp_path / "f").write_bytes(b"x" * size)
    with open_watched(tmp_path / "f", size, lambda *_: pytest.fail("told")) as stream:
        assert stream.read() == b"x" * size


def test_bytes_are_told_in_megabytes():
    assert format_progress(21_000_000, 33_000_000, 7, "MB") == "21 of 33 MB, about 4 s left"
