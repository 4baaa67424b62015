"""Splitting a row: one entry for each value that the pointer leads to, in the order of the row, and no other."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.containers.mapping import Mapping
from normalizer.containers.readers.rows import Row
from normalizer.documents.lossless import Number
from normalizer.errors import UnusableDocument

KEYS = st.sampled_from(["a", "b", "c/d", "e~f"])
LEAVES = st.integers(0, 9).map(lambda number: Number(str(number)))
TREES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=12
)


def lead(value: Any, steps: list[str], at: str = "") -> list[tuple[str, Any]]:
    """The plain definition of a split: pointers and values."""
    if not steps:
        return [(at, value)]
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if steps[0] == "**":
        found = lead(value, steps[1:], at)
        for key, inner in members:
            found += lead(inner, steps, f"{at}/{str(key).replace('~', '~0').replace('/', '~1')}")
        return found
    found = []
    for key, inner in members:
        if steps[0] in ("*", str(key)):
            written = str(key).replace("~", "~0").replace("/", "~1")
            found += lead(inner, steps[1:], f"{at}/{written}")
    if not found and steps == ["*"] and not isinstance(value, (dict, list)):
        return [(at, value)]
    return found


@given(
    row=st.fixed_dictionaries({"a": TREES}), pointer=st.sampled_from(["/a/*", "/a/*/*", "/a/*/*/*", "/**/b", "/a/**/*"])
)
def test_a_split_gives_what_its_pointer_leads_to(row, pointer):
    dialect = {
        "name": "d",
        "split": pointer,
        "fields": {"file": {"key": True}, "scores": {"s": {"of": "part", "at": ""}}},
    }
    entries = list(Mapping(dialect).entries(Row("/0", 1, "", b"", row), None))
    wanted = lead(row, pointer.split("/")[1:])
    made = [(entry.part, entry.value["scores"].get("s")) for entry in entries if entry is not None]
    if wanted:
        assert made == wanted
    else:
        assert [entry.problems[0].code for entry in entries if entry is not None] == ["judge_failed"]


@given(row=st.fixed_dictionaries({"a": TREES}))
def test_a_template_names_what_each_star_stands_for(row):
    dialect = {
        "name": "d",
        "split": "/a/*/*",
        "fields": {"file": {"template": "{star:1} {star:2} {key}"}, "scores": {"s": {"of": "part", "at": ""}}},
    }
    entries = [one for one in Mapping(dialect).entries(Row("/0", 1, "", b"", row), None) if one is not None]
    for entry in entries if lead(row, ["a", "*", "*"]) else []:
        keys = [key.replace("~1", "/").replace("~0", "~") for key in entry.part.split("/")[2:]]
        # A value that is its own only item has no key.
        assert entry.value.get("file") == (f"{keys[0]} {keys[1]} {keys[1]}" if len(keys) > 1 else None)


@pytest.mark.parametrize(("name", "meant"), [("factors.repeat", "; did you mean repeat?"), ("qqq", "")])
def test_a_key_that_is_no_name_says_which_names_there_are(name, meant):
    fields = {"file": {"at": "/id"}, "scores": {"s": {"at": "/s"}}, "factors": {"repeat": {"at": "/r"}}}
    with pytest.raises(UnusableDocument) as caught:
        Mapping({"name": "d", "fields": fields, "key": ["file", name]})
    assert str(caught.value).endswith(f"the names are file, generator_model, judge_model, repeat{meant}")
