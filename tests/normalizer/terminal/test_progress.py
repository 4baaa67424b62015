"""The progress line, with a clock that stands still until it is told to go on."""

import io
import time

from normalizer.terminal.output import ProgressLine, Steps, format_progress, show_elapsed


class Screen(io.StringIO):
    def __init__(self, is_terminal: bool = True) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def line(is_terminal: bool = True) -> tuple[ProgressLine, Screen, Clock]:
    screen, clock = Screen(is_terminal), Clock()
    return ProgressLine(lambda: screen, clock), screen, clock


def test_quick_work_shows_nothing():
    progress, screen, clock = line()
    for done in range(100):
        progress("read", done, 100)
        clock.now += 0.009
    progress.clear()
    assert screen.getvalue() == ""


def test_after_a_second_it_says_how_far_it_is_and_how_long_the_rest_takes():
    progress, screen, clock = line()
    progress("read", 0, 100)
    clock.now += 4
    progress("read", 20, 100)
    assert screen.getvalue() == "\r\033[Kread: 20 of 100, about 16 s left"
    progress.clear()
    assert screen.getvalue().endswith("left\r\033[K")


def test_it_is_drawn_ten_times_a_second_at_most():
    progress, screen, clock = line()
    progress("read", 0, 1000)
    clock.now += 2
    for done in range(1000):
        progress("read", done, 1000)
        clock.now += 0.001
    assert screen.getvalue().count("\r") == 10


def test_where_nobody_looks_nothing_is_written():
    progress, screen, clock = line(is_terminal=False)
    progress("read", 0, 100)
    clock.now += 60
    progress("read", 20, 100)
    progress.clear()
    assert screen.getvalue() == ""


def test_steps_are_counted_and_a_prefix_stands_before_them():
    progress, screen, clock = line()
    progress.prefix = "step 2 of 3, report: "
    done = Steps("parts", 4, progress)
    clock.now += 3
    done()
    assert screen.getvalue() == "\r\033[Kstep 2 of 3, report: parts: 1 of 4, about 9 s left"


def test_without_a_total_only_the_count_is_told():
    assert format_progress(12, 0, 5.0) == "12"
    assert format_progress(0, 9, 5.0) == "0 of 9"
    assert format_progress(9, 9, 5.0) == "9 of 9"


def test_work_of_unknown_size_shows_how_long_it_has_gone_on_and_leaves_nothing():
    progress, screen, _ = line()
    with show_elapsed("count", line=progress, rest=0.01):
        until = time.monotonic() + 60
        while not screen.getvalue() and time.monotonic() < until:
            time.sleep(0.01)
    assert screen.getvalue().startswith("\r\033[Kcount: ")
    assert screen.getvalue().endswith("\r\033[K")


def test_work_of_unknown_size_shows_nothing_off_a_terminal_or_where_it_is_switched_off():
    for progress, screen, shown in ((*line(is_terminal=False)[:2], True), (*line()[:2], False)):
        with show_elapsed("count", line=progress, rest=0.001, shown=shown):
            time.sleep(0.02)
        assert screen.getvalue() == ""
