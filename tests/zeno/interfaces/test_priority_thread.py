"""One thread: urgent functions first, others in order, and an end that leaves nothing behind."""

from concurrent.futures import CancelledError
from functools import partial
from threading import Event, current_thread

import pytest

from zeno.interfaces.priority_thread import MAX_OVERTAKING, PriorityThread


class Held:
    """A function that says that it has begun, and ends when it is let go."""

    def __init__(self) -> None:
        self.began, self.go = Event(), Event()
        self.ended = False

    def __call__(self) -> None:
        self.began.set()
        self.go.wait()
        self.ended = True


@pytest.fixture
def thread():
    made = PriorityThread()
    yield made
    made.close()


def test_urgent_functions_run_first_and_each_kind_in_order(thread):
    held = Held()
    done: list[int] = []
    first = thread.submit(held)
    held.began.wait()
    kinds = [False, True, False, True]
    futures = [thread.submit(partial(done.append, n), urgent=urgent) for n, urgent in enumerate(kinds)]
    held.go.set()
    for future in [first, *futures]:
        future.result()
    assert done == [1, 3, 0, 2]


def test_urgent_functions_without_end_do_not_keep_others_waiting(thread):
    held = Held()
    done = Event()
    overtaken = 0

    def urgent() -> None:
        nonlocal overtaken
        if not done.is_set() and overtaken < 1000:
            overtaken += 1
            thread.submit(urgent, urgent=True)

    thread.submit(held)
    held.began.wait()
    waiting = [thread.submit(done.set), thread.submit(done.is_set)]
    thread.submit(urgent, urgent=True)
    held.go.set()
    assert [future.result() for future in waiting] == [None, True]
    assert overtaken <= MAX_OVERTAKING


def test_results_and_errors_are_handed_back(thread):
    assert thread.submit(lambda: 7).result() == 7
    with pytest.raises(ZeroDivisionError):
        thread.submit(lambda: 1 // 0).result()
    assert thread.submit(lambda: current_thread().name).result() == "zeno"


def test_a_cancelled_function_does_not_run(thread):
    held = Held()
    done: list[int] = []
    thread.submit(held)
    held.began.wait()
    waiting = thread.submit(partial(done.append, 1))
    assert waiting.cancel()
    held.go.set()
    thread.submit(lambda: None).result()
    assert done == []


def test_the_end_waits_for_the_function_under_way_and_cancels_the_others():
    thread = PriorityThread()
    held = Held()
    done: list[int] = []
    under_way = thread.submit(held)
    held.began.wait()
    # It is still under way when the end begins, and lets go of it after the others are cancelled.
    waiting = thread.submit(partial(done.append, 1))
    waiting.add_done_callback(lambda _: held.go.set())
    thread.close()
    assert held.ended
    assert under_way.done()
    assert done == []
    with pytest.raises(CancelledError):
        waiting.result()
    with pytest.raises(RuntimeError):
        thread.submit(lambda: None)
