"""Conversions of a dialect against their plain definitions."""

from decimal import ROUND_HALF_EVEN, Decimal

from hypothesis import given
from hypothesis import strategies as st

from normalizer.containers.conversions import Read, conversion
from normalizer.documents.lossless import Number, exact_value

NUMERALS = st.from_regex(r"-?(0|[1-9][0-9]{0,8})(\.[0-9]{1,14})?([eE][+-]?[0-9]{1,2})?", fullmatch=True)


def convert(value, **declared):
    made = conversion(declared, "/scores/overall")
    assert made is not None
    return made(Read(value, "/r"))


@given(text=NUMERALS, places=st.integers(0, 12))
def test_a_rounded_number_is_the_nearest_with_so_many_places_and_half_goes_to_even(text, places):
    read = convert(Number(text), places=places)
    exact = Decimal(text)
    if abs(exact) >= Decimal("1e12") or 0 < abs(exact) <= Decimal("1e-300"):
        assert read.value == text
        return
    value = exact_value(read.value)
    assert value == exact.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_EVEN)
    assert read.how == ("" if read.value == text else f"round {places}")


def test_a_number_beyond_all_scales_is_left_as_it_is():
    for text in ("1e9999999", "-1e9999999", "1e-9999999"):
        assert convert(Number(text), places=2).value == text


@given(text=NUMERALS, places=st.integers(0, 12))
def test_a_number_in_text_is_rounded_as_the_number_is(text, places):
    as_text = convert(text, number=["plain"], places=places)
    as_number = convert(Number(text), places=places)
    assert exact_value(as_text.value) == exact_value(as_number.value)
    assert as_text.how.startswith("number plain")


@given(value=st.booleans())
def test_booleans_are_0_and_1_where_declared(value):
    assert convert(value, booleans=True).value == str(int(value))


@given(
    words=st.dictionaries(st.text(min_size=1, max_size=3), st.sampled_from("ab"), min_size=1), text=st.text(max_size=3)
)
def test_a_word_is_what_the_dialect_says_and_any_other_text_stays(words, text):
    assert convert(text, words=words).value == words.get(text, text)


@given(labels=st.dictionaries(st.text(max_size=3), st.integers(-9, 9).map(str).map(Number), min_size=1), text=st.text())
def test_a_label_is_the_number_that_the_dialect_says_and_any_other_text_stays(labels, text):
    read = convert(text, labels=labels)
    assert read.value == labels.get(text, text)
    assert type(read.value) is (Number if text in labels else str)


@given(text=st.text(max_size=50))
def test_a_count_is_the_number_of_code_points(text):
    assert convert(text, count="characters").value == str(len(text))
