"""The process that parses: same facts as here, and its end costs one text."""

import os
import signal

import pytest

from zeno.code.extract import extract
from zeno.code.facts import decode
from zeno.code.helper import Crashed, Helper


def _nothing() -> None:
    pass


@pytest.fixture
def helper():
    helper = Helper()
    yield helper
    helper.close()


def test_it_answers_text_after_text(helper):
    for name, text in (("a.py", b"def f(): pass\n"), ("a.go", b"package a\n"), ("a.unknown", b"x\n"), ("b.py", b"")):
        helper.send(name, text)
        assert decode(helper.receive(_nothing).facts) == extract(name, text)


def test_a_killed_process_is_told(helper):
    os.kill(helper.process_id, signal.SIGKILL)
    os.waitid(os.P_PID, helper.process_id, os.WEXITED | os.WNOWAIT)
    helper.send("a.py", b"x" * 100_000)
    with pytest.raises(Crashed):
        helper.receive(_nothing)


def test_waiting_ends_when_the_check_raises(helper):
    def check() -> None:
        raise TimeoutError

    helper.send("a.py", b"x=1\n" * 400_000)
    with pytest.raises(TimeoutError):
        helper.receive(check)
