"""Reasons are sorted by the taxonomy, then by pointer; equal ones count once."""

import json

import contract_spec as spec
from hypothesis import given
from hypothesis import strategies as st

from normalizer.screening.reasons import Reason, first_per_pointer, reasons_json, sort

CODES = spec.schema("eval/reason.json")["$defs"]["code"]["enum"]


@given(st.lists(st.builds(Reason, st.sampled_from(CODES), st.sampled_from(["", "/a", "/b"]), st.just("m")), max_size=8))
def test_the_order_depends_on_nothing_but_the_reasons(reasons):
    found = sort(reasons)
    assert found == sort(list(reversed(reasons)))
    assert set(found) == set(reasons)
    assert len(found) == len(set(reasons))
    ranks = [(CODES.index(reason.code), reason.pointer) for reason in found]
    assert ranks == sorted(ranks)


def test_a_wrong_type_comes_before_its_consequences():
    found = spec.violations("eval/reason.json", {"code": 7, "pointer": "", "message": ""})
    kept = first_per_pointer(found)
    assert len({violation.pointer for violation in kept}) == len(kept)
    assert [violation.keyword for violation in kept if violation.pointer == "/code"] == ["type"]


def test_reasons_are_written_as_a_json_list():
    written = json.loads(reasons_json([Reason(CODES[0], "/a", "why")]))
    assert written == [{"code": CODES[0], "pointer": "/a", "message": "why"}]
