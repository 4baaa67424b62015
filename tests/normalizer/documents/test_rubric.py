"""Scales allow what they say, by value and not by spelling, and know what it is worth."""

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import contract_spec as spec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.documents.lossless import Number
from normalizer.documents.settings import BUILT_IN_RUBRIC, load
from normalizer.errors import UnusableDocument
from tests.support.bundles import DIMENSIONS, NUMBERS

SCALES: dict[str, dict[str, Any]] = {
    "integers": {"kind": "integers", "minimum": -2, "maximum": 5},
    "decimals": {"kind": "decimals", "minimum": 0, "maximum": 1.5, "places": 2},
    "range": {"kind": "range", "minimum": -1e2, "maximum": 100},
    "values": {"kind": "values", "values": [0, 0.5, 1e1]},
    "labels": {"kind": "labels", "labels": {"pass": 1, "fail": 0, "1": 3}},
}
RUBRIC = load(
    rubric=json.dumps({"name": "r", "dimensions": {key: {"scale": scale} for key, scale in SCALES.items()}}).encode()
).rubric


def allowed(kind: str, value: Fraction) -> bool:
    """The simple model: exact fractions."""
    scale = SCALES[kind]
    if kind == "values":
        return value in [Fraction(item) for item in scale["values"]]
    places = {"integers": 0, "decimals": 2, "range": 12}[kind]
    within = Fraction(scale["minimum"]) <= value <= Fraction(scale["maximum"])
    return within and (value * 10**places).denominator == 1


@given(
    kind=st.sampled_from(["integers", "decimals", "range", "values"]), number=NUMBERS.filter(lambda n: "9" * 9 not in n)
)
def test_a_number_is_allowed_by_its_value(kind, number):
    worth = RUBRIC.dimensions[kind].scale.worth(number)
    assert (worth is not None) is allowed(kind, Fraction(number))
    if worth is not None:
        assert Fraction(worth) == Fraction(number)


@pytest.mark.parametrize("kind", sorted(SCALES))
@pytest.mark.parametrize("spelling", ["1e99999999999999999999", "-1e999", "1e-999", "0." + "0" * 900 + "1"])
def test_absurd_numbers_are_refused_quickly(kind, spelling):
    assert RUBRIC.dimensions[kind].scale.worth(Number(spelling)) is None


def test_labels_are_strings_and_numbers_are_not():
    labels, integers = RUBRIC.dimensions["labels"].scale, RUBRIC.dimensions["integers"].scale
    assert [labels.worth(score) for score in ("pass", "fail", "1", Number("1"), "Pass", True)] == [
        Decimal(1), Decimal(0), Decimal(3), None, None, None,
    ]  # fmt: skip
    assert [integers.worth(score) for score in (Number("1"), "1", True, None)] == [Decimal(1), None, None, None]


@given(kind=st.sampled_from(sorted(SCALES)))
def test_what_is_known_by_its_spelling_is_worth_the_same_the_long_way(kind):
    scale = RUBRIC.dimensions[kind].scale
    for spelling, worth in scale.spellings.items():
        assert scale.worth(spelling if kind == "labels" else Number(spelling)) == worth


def test_bounds_are_the_sums_of_the_ends():
    assert RUBRIC.bounds() == (Decimal(-102), Decimal("119.5"))
    assert load().rubric.bounds() == (Decimal(0), Decimal(10))


def test_the_built_in_rubric_is_the_one_of_the_protocol():
    document = spec.resource(BUILT_IN_RUBRIC)
    assert spec.violations("eval/rubric.json", document) == []
    assert tuple(document["dimensions"]) == DIMENSIONS
    for dimension in load().rubric.dimensions.values():
        assert sorted(dimension.scale.spellings) == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        ({"kind": "integers", "minimum": 3, "maximum": 1}, "above maximum"),
        ({"kind": "decimals", "minimum": 0.1, "maximum": 0.9, "places": 0}, "no score can be it"),
        ({"kind": "decimals", "minimum": 0, "maximum": 1.005, "places": 2}, "maximum 1.005 has more than 2 decimal"),
        ({"kind": "values", "values": [1, 1.0]}, "listed twice"),
        ({"kind": "values", "values": [0.1234567890123]}, "12 decimal places"),
        ({"kind": "stars"}, "schema"),
        ({"kind": "integers", "minimum": 0, "maximum": 1e15}, "schema"),
    ],
)
def test_a_rubric_that_contradicts_itself_is_refused(scale, message):
    with pytest.raises(UnusableDocument, match=message):
        load(rubric=json.dumps({"name": "r", "dimensions": {"x": {"scale": scale}}}).encode())


def test_a_level_that_is_no_score_is_found():
    document = {"name": "r", "dimensions": {"x": {"scale": SCALES["integers"], "levels": {"7": "too much", "1": "ok"}}}}
    with pytest.raises(UnusableDocument, match="'7' is not a score"):
        load(rubric=json.dumps(document).encode())


@pytest.mark.parametrize("number", ["1e-99999999999999999999", "0e99999999999999999999"])
@pytest.mark.parametrize(
    "scale",
    [
        '{"kind": "range", "minimum": NUMBER, "maximum": 1}',
        '{"kind": "decimals", "minimum": -1, "maximum": NUMBER, "places": 2}',
        '{"kind": "values", "values": [NUMBER, 1]}',
        '{"kind": "labels", "labels": {"no": NUMBER}}',
    ],
)
def test_a_scale_with_a_number_beyond_all_arithmetic_is_refused(scale, number):
    document = f'{{"name": "r", "dimensions": {{"d": {{"scale": {scale}}}}}}}'.replace("NUMBER", number)
    with pytest.raises(UnusableDocument, match="exponent"):
        load(rubric=document.encode())


@pytest.mark.parametrize("level", ["NaN", "sNaN", "Infinity", "1_0", " 1", "01", "one"])
def test_a_level_that_is_no_number_is_no_score(level):
    dimension = {"scale": {"kind": "range", "minimum": 0, "maximum": 100}, "levels": {level: "what it means"}}
    with pytest.raises(UnusableDocument, match="is not a score of its scale"):
        load(rubric=json.dumps({"name": "r", "dimensions": {"d": dimension}}).encode())
