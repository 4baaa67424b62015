"""Numbers in cells, in the forms in which people publish them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.checks.published_tables.cells import readings

INTERVALS = """
5.1 to 6.3 | 5.1, 6.3 | 5.1,6.3 | [5.1, 6.3] | (5.1; 6.3) | [5.1;6.3] | 5.1\u20136.3 | 5.1 \u2013 6.3
5.1-6.3 | 5.1 - 6.3 | 5.1--6.3 | 5.1\u20146.3 | 5.1...6.3 | 5.1\u20266.3 | [5.1 to 6.3] | 95 % CI 5.1 to 6.3
95% CI: [5.1, 6.3] | CI = 5.1-6.3
"""
COMMA_INTERVALS = """
5,1 to 6,3 | [5,1; 6,3] | [5,1, 6,3] | [5,1,6,3] | 5,1\u20136,3 | 5,1-6,3 | 5,1 - 6,3 | 5,1 bis 6,3 | 5,1 \xe0 6,3
(5,1--6,3) | 95 % KI 5,1 bis 6,3 | IC 5,1 \xe0 6,3
"""
SPREADS = {
    None: "6.08 \xb1 0.37 | 6.08 +/- 0.37 | 6.08 (0.37) | 6.08 (\xb10.37) | 6.08 [0.37] | 6.08(37) | 6.08_{0.37}",
    "sd": "6.08 SD 0.37 | 6.08, SD 0.37 | 6.08; SD = 0.37 | 6.08 (SD 0.37) | 6.08 (SD = 0.37) | 6.08 (S.D. 0.37)",
    "se": "6.08 \xb1 0.37 (SE) | 6.08 (SEM: 0.37)",
    "interval": "6.08 \xb1 0.37 (95 % CI)",
}
MEANS = {
    (False, None): "6.08 (5.71 to 6.45) | 6.08 [5.71, 6.45] | 6.08^{+0.37}_{-0.37}",
    (False, "interval"): "6.08 (95% CI 5.71\u20136.45) | 6.08 [95 % CI: 5.71, 6.45]",
    (True, None): "6,08 (5,71; 6,45) | 6,08 [5,71\u20136,45] | 6,08^{+0,37}_{-0,37}",
    (True, "interval"): "6,08 (95 % KI 5,71 bis 6,45)",
}
NUMBERS = [
    (".63", "0.63", False),
    ("-.63", "-0.63", False),
    (",63", "0.63", True),
    ("1.234,5", "1234.5", True),
    ("1 234,5", "1234.5", True),
    ("1,234.5", "1234.5", False),
    ("6.08*", "6.08", False),
    ("6.08\u2020", "6.08", False),
    ("6.08^{a}", "6.08", False),
    ("6.08\xb9", "6.08", False),
    ("$6.08$", "6.08", False),
    ("60.8 %", "0.608", False),
]


def cells(text):
    return [cell.strip() for line in text.strip().splitlines() for cell in line.split(" | ")]


def read(cell, count=1, comma=False):
    return [
        (
            [str(number) for number in reading.numbers],
            None if reading.spread is None else [str(number) for number in reading.spread],
            reading.kind,
        )
        for reading in readings(cell, count, decimal_comma=comma)
    ]


@pytest.mark.parametrize("cell", cells(INTERVALS))
def test_an_interval_is_read(cell):
    assert (["5.1", "6.3"], None, "interval" if "CI" in cell else None) in read(cell, 2)


@pytest.mark.parametrize("cell", cells(COMMA_INTERVALS))
def test_an_interval_with_decimal_commas_is_read(cell):
    found = (["5.1", "6.3"], None, "interval" if "KI" in cell or "IC" in cell else None)
    assert found in read(cell, 2, comma=True)
    assert found not in read(cell, 2, comma=False)


def test_ends_may_be_negative_and_in_percent():
    assert (["-0.5", "0.2"], None, None) in read("\u22120.5 to 0.2", 2)
    assert (["-0.5", "-0.2"], None, None) in read("-0.5--0.2", 2)
    assert (["0.51", "0.63"], None, None) in read("51 % to 63 %", 2)
    assert (["0.51", "0.63"], None, None) in read("51\u201363 %", 2)
    assert (["0.515", "0.632"], None, None) in read("51,5 bis 63,2 %", 2, comma=True)


@pytest.mark.parametrize(("cell", "kind"), [(cell, kind) for kind, text in SPREADS.items() for cell in cells(text)])
def test_a_mean_with_one_spread_is_read_and_its_name_kept(cell, kind):
    assert (["6.08"], ["0.37"], kind) in read(cell)


@pytest.mark.parametrize(("cell", "how"), [(cell, how) for how, text in MEANS.items() for cell in cells(text)])
def test_a_mean_with_its_interval_is_read(cell, how):
    comma, kind = how
    assert (["6.08"], ["5.71", "6.45"], kind) in read(cell, comma=comma)


@pytest.mark.parametrize(("cell", "number", "comma"), NUMBERS)
def test_a_number_is_read_without_leading_zero_with_marks_and_with_separators(cell, number, comma):
    assert number in [str(reading.numbers[0]) for reading in readings(cell, 1, decimal_comma=comma)]


def test_thousands_are_read_in_every_usual_way():
    for text in ("1,234.5", "1 234.5", "1'234.5", "1\u202f234.5"):
        assert [found.numbers for found in readings(text, 1, decimal_comma=False)] == [[Decimal("1234.5")]]
    assert {found.numbers[0] for found in readings("1,234", 1, decimal_comma=True)} == {1234, Decimal("1.234")}
    assert readings("about 5", 1, decimal_comma=False) == []


def test_a_percent_sign_behind_the_spread_is_for_both():
    for cell in ("60.8 \xb1 3.7 %", "60.8 % \xb1 3.7 %", "(60.8 \xb1 3.7) %", "60.8 (3.7) %"):
        assert (["0.608"], ["0.037"], None) in read(cell), cell


@pytest.mark.parametrize("cell", ["", "about 9", "6.08 vs 7", "1.2.3", "--", "CI", "5.1 to", "(,)", "6.08 (5 of 7)"])
def test_anything_else_is_not_a_number(cell):
    assert read(cell) == []
    assert read(cell, 2) == []


@given(
    st.text(alphabet="0123456789.,-+()[]{}^_ %\xb1\u2013abSDCIto;", max_size=24), st.sampled_from([1, 2]), st.booleans()
)
def test_whatever_a_cell_holds_every_reading_has_finite_numbers(cell, count, comma):
    for reading in readings(cell, count, decimal_comma=comma):
        assert len(reading.numbers) == count
        for number in [*reading.numbers, *(reading.spread or [])]:
            assert isinstance(number, Decimal)
            assert number.is_finite()


def test_a_cell_longer_than_any_number_states_none():
    assert readings("1" + "\u00a0" * 190 + "2", 2, decimal_comma=True) == []
    assert readings("1" * 200, 1, decimal_comma=False)
    assert readings("1" + "\u00a0" * 100_000 + "x", 2, decimal_comma=True) == []
