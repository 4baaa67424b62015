"""The progress line of a run: counts, and the time left by what this run has done."""

import io

import pytest

from normalizer.judge.calling.progress import CallProgress, duration


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_answers_of_earlier_runs_do_not_enter_the_estimate():
    now = [0.0]
    progress = CallProgress(10, 6, Terminal(), clock=lambda: now[0])
    assert progress.line() == "6 of 10 judged"
    now[0] = 30.0
    progress.step(usable=True)
    assert progress.line() == "7 of 10 judged, about 90 s left"
    progress.step(usable=False)
    assert progress.line() == "8 of 10 judged, 1 without a usable reply, about 30 s left"


def test_off_a_terminal_only_lines_that_stay_are_printed():
    stream = io.StringIO()
    progress = CallProgress(2, 0, stream)
    progress.step(usable=True)
    progress.say("note")
    progress.close()
    assert stream.getvalue() == "note\n"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (99, "99 s"), (100, "2 min"), (5399, "90 min"), (5400, "1 h 30 min"), (7195, "2 h 0 min")],
)
def test_a_duration_has_no_sixty_minutes(seconds, words):
    assert duration(seconds) == words
