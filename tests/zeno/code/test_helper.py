"""The process that parses: same facts as here, and its end costs one text."""

import os
import signal

import pytest

from tests.support.facts import read_facts
from zeno.code.extract import extract
from zeno.code.helper import Crashed, Helper
from zeno.code.kept_facts import KeptFacts


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
        assert read_facts(KeptFacts(helper.receive(_nothing).facts)) == extract(name, text)


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_copy_closes_no_descriptor_that_got_the_number_of_a_pipe(helper):
    """A copy closes the pipes that it inherits, and opens files of its own."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.dup2(os.open(os.devnull, os.O_RDONLY), helper.descriptor)
            helper.close()
            os.fstat(helper.descriptor)
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    helper.send("a.py", b"def f(): pass\n")
    assert helper.receive(_nothing).facts
