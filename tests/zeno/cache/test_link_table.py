"""Links are followed again where something changed on their way, and only there."""

import os

import pytest

from zeno.cache.link_table import LinkTable
from zeno.files.tree import Tree

LINKS = 50


@pytest.fixture
def linked(root):
    (root / "real" / "deep").mkdir(parents=True)
    for number in range(LINKS):
        (root / f"link{number:02}").symlink_to(f"real/deep/{number}")
    with Tree(str(root)) as tree:
        table = LinkTable(tree)
        for number in range(LINKS):
            table.add(f"link{number:02}")
        assert table.follow([], every=False) == set()
        yield root, table


def count_lookups(table, monkeypatch):
    found: list[str] = []
    real = table._tree.link_target

    def look(path):
        found.append(path)
        return real(path)

    monkeypatch.setattr(table._tree, "link_target", look)
    return found


def test_a_new_name_has_only_those_links_followed_that_lead_through_it(linked, monkeypatch):
    root, table = linked
    followed = count_lookups(table, monkeypatch)
    (root / "real" / "deep" / "7").touch()
    assert table.follow(["real/deep/7", "elsewhere", "real/deep/other"], every=False) == {"link07"}
    assert followed == ["link07"]
    assert table.get("link07").target.path == "real/deep/7"


def test_a_change_of_a_directory_concerns_all_links_through_it(linked, monkeypatch):
    root, table = linked
    (root / "real" / "deep" / "7").touch()
    table.follow(["real/deep/7"], every=False)
    os.rename(root / "real", root / "gone")
    followed = count_lookups(table, monkeypatch)
    assert table.follow(["real/"], every=False) == {"link07"}
    assert len(followed) == LINKS
    os.rename(root / "gone", root / "real")
    assert table.follow(["real/"], every=False) == {"link07"}


def test_a_link_whose_way_is_outside_is_always_followed(root, tmp_path, monkeypatch):
    (tmp_path / "way").symlink_to(root)
    (root / "a").touch()
    (root / "link").symlink_to(tmp_path / "way" / "a")
    with Tree(str(root)) as tree:
        table = LinkTable(tree)
        table.add("link")
        assert table.follow([], every=False) == {"link"}
        (tmp_path / "way").unlink()
        assert table.follow([], every=False) == {"link"}
        link = table.get("link")
        assert link is not None
        assert link.target.path is None


def test_a_link_that_was_removed_is_forgotten(linked, monkeypatch):
    _, table = linked
    table.remove(table.get("link07"))
    followed = count_lookups(table, monkeypatch)
    table.follow(["real/deep/7"], every=False)
    assert followed == []
    assert table.get("link07") is None
