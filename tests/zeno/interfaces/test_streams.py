"""Streams of request lines: which one is ended when there are too many."""

import pytest
from starlette.exceptions import HTTPException

from zeno.interfaces.http.streams import Streams


def test_the_longest_silent_stream_of_the_address_with_most_is_ended() -> None:
    now = [0.0]
    ended: list[str] = []
    streams = Streams(3, lambda: now[0])
    with (
        streams.register("other", lambda: ended.append("other")),
        streams.register("crowd", lambda: ended.append("first")) as first,
        streams.register("crowd", lambda: ended.append("second")),
    ):
        now[0] = 1.0
        with streams.answer(first):
            pass
        with streams.register("new", lambda: ended.append("new")):
            assert ended == ["second"]


def test_a_stream_whose_line_is_being_answered_is_left_alone() -> None:
    ended: list[str] = []
    streams = Streams(1)
    with streams.register("a", lambda: ended.append("a")) as stream:
        with streams.answer(stream), pytest.raises(HTTPException), streams.register("b", lambda: None):
            pass
        with streams.register("b", lambda: None):
            assert ended == ["a"]


def test_a_stream_that_has_ended_takes_no_room() -> None:
    streams = Streams(1)
    for _ in range(3):
        with streams.register("a", lambda: pytest.fail("it was ended")):
            pass


def test_streams_that_are_closed_end_when_their_line_is_answered() -> None:
    ended: list[str] = []
    streams = Streams()
    with (
        streams.register("a", lambda: ended.append("silent")),
        streams.register("a", lambda: ended.append("busy")) as busy,
    ):
        with streams.answer(busy):
            streams.close()
            assert ended == ["silent"]
        assert ended == ["silent", "busy"]
        with streams.register("a", lambda: ended.append("late")):
            assert ended == ["silent", "busy", "late"]
