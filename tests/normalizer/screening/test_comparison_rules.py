"""What is remembered about comparisons gives the same result as asking the schema and comparing documents."""

import contract_spec as spec
from hypothesis import given, settings
from hypothesis import strategies as st

from normalizer.documents.lossless import Number, dumps, exact_value, members, to_builtin
from normalizer.screening import comparison_rules as rules

TEXT = st.sampled_from(["", "a", "b", "x", "'", '"', "\\", "('a', 'b')", "None", "unknown", "ab", "draw", "é", "\x00"])
NUMBER = st.sampled_from(["0", "0.0", "1", "1.5", "2", "-1"]).map(Number)
ANY = (
    TEXT
    | NUMBER
    | st.none()
    | st.booleans()
    | st.lists(TEXT, max_size=2)
    | st.dictionaries(TEXT, TEXT | NUMBER, max_size=2)
)
NAMES = ("item", "a", "b", "judge", "criterion", "notes")
ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(NAMES, TEXT | ANY),
        "verdict": st.sampled_from(["a", "b", "draw", "both_bad", "c"]) | ANY,
        "order": st.sampled_from(["ab", "ba", "unknown", "ac"]) | ANY,
        "verdict_about": st.sampled_from(["answers", "positions"]) | ANY,
        "levels": st.dictionaries(TEXT, TEXT, max_size=2) | ANY,
        "repeat": NUMBER | ANY,
        "length": ANY,
        "other": ANY,
    },
)
ENVELOPE = {"baseline": "base"}


@settings(max_examples=500)
@given(st.lists(ENTRIES, min_size=2, max_size=6))
def test_an_entry_of_a_known_kind_is_what_the_schema_says(entries):
    for entry in entries:
        told = rules._find_shape_reasons(entry)
        assert bool(told) == bool(
            spec.violations("eval/comparison_bundle.json#/$defs/comparison_entry", to_builtin(entry))
        )


def simple_identity(entry):
    """The comparison that an entry claims to be, as a document."""
    a, b = entry.get("a"), entry.get("b", "base")
    order = entry.get("order", "unknown")
    shown = [a, b] if order == "ab" else [b, a] if order == "ba" else ["unknown", a, b]
    repeat = entry.get("repeat", Number("0"))
    number = str(exact_value(repeat)) if type(repeat) is Number else dumps(repeat)
    return dumps([shown, number, *(entry.get(key) for key in ("item", "criterion", "judge"))])


@settings(max_examples=500)
@given(ENTRIES, ENTRIES)
def test_entries_are_one_comparison_where_their_documents_are(one, other):
    same = rules.identity(ENVELOPE, one) == rules.identity(ENVELOPE, other)
    assert same == (simple_identity(one) == simple_identity(other))


@given(st.dictionaries(TEXT, ANY | st.dictionaries(TEXT, ANY, max_size=2), max_size=4))
def test_members_are_written_as_dumps_writes_them(value):
    assert members(value) == dumps(value)[1:-1]
