"""Splitting a row: one entry for each value that the pointer leads to, in the order of the row, and no other."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from normalizer.containers.mapping import Mapping
from normalizer.containers.readers.rows import Row
from normalizer.documents.lossless import Number

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
