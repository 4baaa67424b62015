"""stat: what the system says, in the order asked."""

import os

import pytest


def test_items_come_in_the_order_asked_path_first(root, ask):
    for name in "abc":
        (root / name).write_text(name)
    items = ask("stat", path="c", paths=["a", "b", "a"])["result"]["items"]
    assert [item["path"] for item in items] == ["c", "a", "b", "a"]


def test_size_and_time_are_what_the_system_says(root, ask):
    (root / "f").write_bytes(b"12345")
    os.utime(root / "f", ns=(0, 1_767_550_290_500_000_000))
    (item,) = ask("stat", path="f")["result"]["items"]
    assert item == {
        "path": "f",
        "exists": True,
        "size": 5,
        "mtime": 1767550290.5,
        "mtime_iso": "2026-01-04T18:11:30Z",
        "is_file": True,
        "is_dir": False,
    }


@pytest.mark.parametrize(
    ("seconds", "iso"),
    [
        (-1, "1969-12-31T23:59:59Z"),
        (0, "1970-01-01T00:00:00Z"),
        (-62167219201, "-0001-12-31T23:59:59Z"),
        (4102444800, "2100-01-01T00:00:00Z"),
        (253402300800, "10000-01-01T00:00:00Z"),
    ],
)
def test_every_time_has_a_date(seconds, iso):
    from zeno.ops.stat import _iso

    assert _iso(seconds) == iso


def test_what_does_not_exist_is_an_item_with_the_reason(root, ask):
    (root / "gone").symlink_to("d/../nowhere")
    (root / "d").mkdir()
    items = ask("stat", paths=["missing", "gone", "d/./x/", "."])["result"]["items"]
    assert [(item["path"], item["exists"]) for item in items] == [
        ("missing", False), ("nowhere", False), ("d/x", False), (".", True),
    ]  # fmt: skip
    assert all(set(item) == {"path", "exists", "is_file", "is_dir", "error"} for item in items[:3])


def test_one_path_outside_refuses_the_whole_request(root, ask):
    (root / "a").write_text("a")
    assert ask("stat", paths=["a", "../x"])["error"]["code"] == "path_outside_root"


@pytest.mark.parametrize("args", [{}, {"paths": []}, {"path": ""}, {"path": None}, {"paths": ["a", ""]}])
def test_nothing_to_look_at_is_refused(ask, args):
    assert ask("stat", **args)["error"]["code"] == "invalid_args"


def test_a_request_for_nothing_is_told_what_to_give(ask):
    assert ask("stat")["error"]["message"] == "args must have path or paths"
