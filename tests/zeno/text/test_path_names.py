"""Names: every byte string that a file can be called is printed in one way that leads back to it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from zeno.errors import InvalidArgs
from zeno.text.path_names import decode_name, raw

NAMES = st.lists(st.sampled_from([b"a", b"\xff", b"\xc3", b"\xa9", b"\xed\xa0\x80", "é".encode(), b"0", b"f"])).map(
    b"".join
)


@given(name=NAMES)
@example(name=b"\xffc3")
def test_a_printed_name_leads_back_to_its_bytes(name):
    assert raw(decode_name(name), "path") == name


@given(first=NAMES, second=NAMES)
def test_no_two_names_are_printed_alike(first, second):
    assert (decode_name(first) == decode_name(second)) is (first == second)


def test_an_invalid_byte_is_a_nul_and_two_lower_case_digits():
    assert decode_name(b"caf\xe9.txt") == "caf\0e9.txt"


@pytest.mark.parametrize("path", ["a\0b", "\0", "\0FF", "\0" + "7f", "\0c3\0a9", "a\0e"])
def test_any_other_nul_is_refused_with_the_field(path):
    with pytest.raises(InvalidArgs, match=r"args\.path"):
        raw(path, "args.path")
