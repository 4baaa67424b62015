"""Bundles made up for tests: right, nearly right and strange, with numbers in every spelling."""

from typing import Any

from hypothesis import strategies as st

from normalizer.documents.lossless import Number, dumps

DIMENSIONS = ("A_structure", "B_snapshot_constraint", "C_actionability", "D_completeness", "E_drift_failure")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
DIGITS = st.text("0123456789", min_size=1, max_size=30)
NUMBERS = st.builds(
    lambda sign, whole, fraction, exponent: Number(f"{sign}{whole.lstrip('0') or '0'}{fraction}{exponent}"),
    st.sampled_from(["", "-"]),
    DIGITS,
    st.one_of(st.just(""), DIGITS.map(lambda digits: f".{digits}")),
    st.sampled_from(["", "", "e0", "E5", "e-7", "e+400", "E-999", "e99999999999999999999"]),
)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
SCORES = st.fixed_dictionaries({key: st.sampled_from("012").map(Number) for key in DIMENSIONS})
FILES = st.sampled_from(["a.pdf", "b.pdf", "../c d.pdf", "\u00e9", "e\u0301"]) | TEXT


def shuffled(members: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.permutations(list(members.items())).map(dict)


SOUND_ENTRIES = st.fixed_dictionaries(
    {"file": FILES, "scores": SCORES.flatmap(shuffled)},
    optional={"evidence": st.dictionaries(st.sampled_from(DIMENSIONS), TEXT), "total": NUMBERS, "notes": TEXT},
).flatmap(shuffled)
ODD_ENTRIES = st.dictionaries(
    st.sampled_from(["file", "scores", "evidence", "total", "notes", "status", "file_name", "record_id", "source"]),
    VALUES,
    max_size=6,
)
ENTRIES = st.one_of(SOUND_ENTRIES, SOUND_ENTRIES, ODD_ENTRIES, VALUES)
ENVELOPES = st.dictionaries(
    st.sampled_from(["run_id", "judge_model", "generator_model", "phase", "self_judged", "factors", "bundle_meta",
                     "aggregates", "notes", "final_notes", "rubric", "surplus"]),
    st.one_of(VALUES, st.sampled_from(["a", "b"]), st.sampled_from("012").map(Number)),
    max_size=5,
)  # fmt: skip


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Bundles as values: an envelope with a list of entries somewhere in it."""
    members = list(draw(ENVELOPES).items())
    members.insert(
        draw(st.integers(0, len(members))), ("per_file_scores", draw(st.lists(ENTRIES, min_size=1, max_size=4)))
    )
    return dict(members)


def spaced(value: Any, gap: str) -> str:
    """The value as JSON with that white space wherever some may stand."""
    if isinstance(value, dict):
        inner = f"{gap},{gap}".join(f"{dumps(key)}{gap}:{gap}{spaced(item, gap)}" for key, item in value.items())
        return f"{{{gap}{inner}{gap}}}"
    if isinstance(value, list):
        return f"[{gap}{f'{gap},{gap}'.join(spaced(item, gap) for item in value)}{gap}]"
    return dumps(value)


def entry(file: str = "a.pdf", **more: Any) -> dict[str, Any]:
    """A sound entry with ordinary numbers."""
    return {"file": file, "scores": dict.fromkeys(DIMENSIONS, 1), **more}


def bundle(*entries: Any, **more: Any) -> dict[str, Any]:
    """A sound bundle of phase 1 with ordinary numbers."""
    known = {"protocol_version": "p-1", "judge_model": "judge-large", "generator_model": "writer-small", "phase": 1}
    return {**known, **more, "per_file_scores": list(entries) or [entry()]}
