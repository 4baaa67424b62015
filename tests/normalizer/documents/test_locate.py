"""Lines of a raw bundle: where a pointer points, compared with marks put into the text."""

import json

from hypothesis import given
from hypothesis import strategies as st

from normalizer.documents.locate import place
from tests.support.bundles import TEXT

TREES = st.recursive(
    st.integers(0, 9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def marked(value, pointer, marks, row):
    """The value as JSON with one token a line; notes down the line where each value begins and ends."""
    first = len(row)
    if isinstance(value, dict):
        row.append("{")
        for number, (key, inner) in enumerate(value.items()):
            at = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            row.append(f"{json.dumps(key)}:")
            start = len(row)
            marked(inner, at, marks, row)
            marks[at] = (start, marks[at][1])  # a member begins with its key
            row[-1] += "," if number < len(value) - 1 else ""
        row.append("}")
    elif isinstance(value, list):
        row.append("[")
        for number, inner in enumerate(value):
            marked(inner, f"{pointer}/{number}", marks, row)
            row[-1] += "," if number < len(value) - 1 else ""
        row.append("]")
    else:
        row.append(json.dumps(value))
    marks[pointer] = (first + 1, len(row))


@given(value=TREES)
def test_a_pointer_leads_to_the_lines_of_its_value(value):
    marks: dict[str, tuple[int, int]] = {}
    rows: list[str] = []
    marked(value, "", marks, rows)
    for pointer, (first, last) in marks.items():
        assert place("\n".join(rows), pointer) == (first, last, True)


@given(value=TREES)
def test_what_is_not_there_is_looked_for_in_what_would_hold_it(value):
    marks: dict[str, tuple[int, int]] = {}
    rows: list[str] = []
    marked(value, "", marks, rows)
    for pointer, (first, last) in marks.items():
        assert place("\n".join(rows), f"{pointer}/no such key") == (first, last, False)
