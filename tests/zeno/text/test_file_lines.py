"""Lines: whole files, windows into streams and tails from the end all tell the same story."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from zeno.errors import ResponseTooLarge
from zeno.meter import Meter
from zeno.options import Options
from zeno.text.file_lines import Window, is_binary, last_lines, lines_of

DATA = st.lists(
    st.sampled_from(
        [b"\n", b"\r\n", b"\r", b"a", "é".encode(), b"\xff", b"\xe2\x82", b"\xef\xbb\xbf", b"\x0c", "\u2028".encode()]
    ),
    max_size=24,
).map(b"".join)


def model(data: bytes) -> list[str]:
    """Walk over the bytes one by one."""
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    lines, current = [], bytearray()
    for byte in data:
        if byte == 10:
            if current.endswith(b"\r"):
                del current[-1]
            lines.append(bytes(current))
            current.clear()
        else:
            current.append(byte)
    if current:
        lines.append(bytes(current))
    return [line.decode("utf-8", "replace") for line in lines]


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


@given(data=DATA)
@example(data=b"\xef\xbb\xbf")
@example(data=b"a\r")
@example(data=b"\r\n")
def test_lines_end_at_line_feeds_only(data):
    assert lines_of(data) == model(data)


@given(data=DATA, size=st.integers(1, 7), first=st.integers(1, 12), span=st.integers(0, 12))
def test_a_window_shows_the_asked_lines_however_the_stream_is_cut(data, size, first, span):
    window = Window(first, first + span - 1, lambda _: None)
    window.feed(cut(data, size))
    assert window.total == len(model(data))
    assert window.lines == model(data)[first - 1 : first - 1 + span]


@given(data=DATA, size=st.integers(1, 7), count=st.integers(1, 12))
def test_the_tail_read_backwards_is_the_end_of_the_whole(data, size, count):
    backwards = []
    end = len(data)
    while end > 0:
        backwards.append(data[max(0, end - size) : end])
        end -= size
    assert last_lines(backwards, count, lambda _: None) == model(data)[-count:]


def test_a_nul_counts_as_binary_only_in_the_first_8192_bytes():
    assert is_binary(b"a" * 8191 + b"\0")
    assert not is_binary(b"a" * 8192 + b"\0")


def test_a_line_too_long_for_the_answer_stops_the_reading():
    seen = 0

    def chunks():
        nonlocal seen
        for _ in range(1000):
            seen += 1
            yield b"x" * 1000

    with pytest.raises(ResponseTooLarge):
        Window(1, 1, Meter(options=Options(max_response_bytes=5000)).charge_text).feed(chunks())
    assert seen == 6
