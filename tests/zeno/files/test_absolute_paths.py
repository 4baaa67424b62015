"""Absolute paths lead under the root by its name, by its real name, or through links outside."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zeno.files.absolute_paths import AbsolutePaths


@contextmanager
def opened(root: Path, name: Path | None = None) -> Iterator[AbsolutePaths]:
    descriptor = os.open(root, os.O_RDONLY)
    try:
        yield AbsolutePaths(descriptor, str(name or root))
    finally:
        os.close(descriptor)


def below(paths: AbsolutePaths, path: Path) -> list[bytes] | None:
    found = paths.below(os.fsencode(path))
    return None if found is None else [step for step in found if step]


def test_a_path_that_begins_with_the_roots_name_is_below_it(tmp_path):
    (tmp_path / "root").mkdir()
    with opened(tmp_path / "root") as paths:
        assert below(paths, tmp_path / "root" / "a" / "b") == [b"a", b"b"]
        assert below(paths, tmp_path / "root") == []
        assert below(paths, tmp_path / "rootless" / "a") is None
        assert below(paths, tmp_path) is None


def test_a_link_outside_that_leads_to_the_root_leads_below_it(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "alias").symlink_to("root")
    with opened(tmp_path / "root") as paths:
        assert below(paths, tmp_path / "alias" / "a") == [b"a"]
        assert paths.by_name(os.fsencode(tmp_path / "alias" / "a")) is None


def test_a_path_with_dots_outside_the_root_leads_nowhere_whether_or_not_it_exists(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "there").mkdir()
    with opened(tmp_path / "root") as paths:
        for name in ("there", "gone"):
            assert paths.below(os.fsencode(tmp_path) + f"/{name}/../root/a".encode()) is None


def test_a_root_that_was_moved_is_still_reached_by_its_name(tmp_path):
    (tmp_path / "root").mkdir()
    with opened(tmp_path / "root") as paths:
        (tmp_path / "root").rename(tmp_path / "elsewhere")
        assert below(paths, tmp_path / "root" / "a") == [b"a"]
        assert below(paths, tmp_path / "elsewhere" / "a") == [b"a"]


def test_a_directory_above_the_root_is_recognized_by_name(tmp_path):
    (tmp_path / "root").mkdir()
    with opened(tmp_path / "root") as paths:
        assert paths.is_below(os.fsencode(tmp_path))
        assert not paths.is_below(os.fsencode(tmp_path / "other"))
