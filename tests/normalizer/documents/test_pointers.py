"""JSON pointers: escaping, reading, and copies that leave the value given as it was."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from normalizer.documents.pointers import copy_along, escape, insert_member, parent_of, steps_of


@given(keys=st.lists(st.text(alphabet="~/01a", max_size=5), max_size=4))
def test_escaped_keys_are_read_back(keys):
    assert steps_of("".join(f"/{escape(key)}" for key in keys)) == keys


def test_the_parent_is_the_object_that_holds_or_would_hold_the_last_key():
    document = {"a": {"b": 1}, "list": [{"b": 1}]}
    assert parent_of(document, "/a/b") == ({"b": 1}, "b")
    assert parent_of(document, "/a/new") == ({"b": 1}, "new")
    assert parent_of(document, "/gone/b") == (None, "b")
    assert parent_of(document, "/list/0/b") == (None, "b")


def test_a_copy_is_fresh_along_the_pointer_and_shared_elsewhere():
    document: dict[str, Any] = {"a": {"b": {"c": 1}}, "other": {"d": 2}}
    root, inner, last = copy_along(document, "/a/b/c")
    inner[last] = 9
    assert root["a"]["b"]["c"] == 9
    assert document["a"]["b"]["c"] == 1
    assert root["other"] is document["other"]


def test_a_member_is_inserted_at_its_place():
    assert list(insert_member({"a": 1, "c": 3}, 1, "b", 2)) == ["a", "b", "c"]
