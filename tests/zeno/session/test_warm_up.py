"""Background work is done in idle moments, and after answers as long as they took."""

import time

import pytest

from zeno.session import warm_up
from zeno.session.warm_up import WarmUp


class Pile:
    """Work that takes no time: so many pieces of it."""

    def __init__(self, pieces: int) -> None:
        self.left = pieces

    @property
    def has_pending_work(self) -> bool:
        return self.left > 0

    def idle(self) -> bool:
        self.left -= self.has_pending_work
        return self.has_pending_work


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes on by a millisecond whenever it is read."""
    now = iter(range(1_000_000))
    monkeypatch.setattr(time, "monotonic", lambda: next(now) / 1000)


@pytest.mark.usefixtures("clock")
def test_steps_run_once_and_in_order_before_the_work():
    done: list[str] = []
    pile = Pile(2)
    work = WarmUp([lambda: done.append("first"), lambda: done.append("second")], pile)
    while work.run():
        pass
    assert done == ["first", "second"]
    assert not pile.has_pending_work
    assert not work.run()


@pytest.mark.usefixtures("clock")
def test_after_an_answer_the_work_goes_on_as_long_as_the_answer_took():
    pile = Pile(1000)
    work = WarmUp([], pile)
    work.catch_up()
    assert pile.left == 1000
    work.owed += 0.1
    work.catch_up()
    assert 890 <= pile.left <= 905
    work.catch_up()
    assert 890 <= pile.left <= 905


@pytest.mark.usefixtures("clock")
def test_however_long_an_answer_took_the_next_one_waits_no_longer_than_a_slice_may_be():
    pile = Pile(10_000)
    work = WarmUp([], pile)
    work.owed += 60
    work.owed += 60
    work.catch_up()
    assert 10_000 - pile.left <= warm_up.MAX_SLICE * 1000 + 1


@pytest.mark.usefixtures("clock")
def test_where_nothing_is_behind_nothing_is_done():
    pile = Pile(0)
    pile.idle = lambda: pytest.fail("asked for work")  # type: ignore[method-assign]
    work = WarmUp([], pile)
    work.owed += 1
    work.catch_up()


@pytest.mark.parametrize("as_step", [True, False])
def test_work_whose_import_fails_for_want_of_a_descriptor_is_done_in_a_later_idle_moment(as_step):
    resource = pytest.importorskip("resource", reason="limits of open files are a thing of Unix")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    done: list[str] = []

    def load() -> bool:
        if not done and resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 3:
            raise ImportError("a library cannot be opened")
        done.append("loaded")
        return False

    class Loads(Pile):
        def idle(self) -> bool:
            return load()

    work = WarmUp([load], Pile(0)) if as_step else WarmUp([], Loads(1))
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, before[1]))
    try:
        assert not work.run()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert not done
    work.run()
    assert done == ["loaded"]


def test_an_error_that_is_no_shortage_is_not_hidden():
    def fail() -> None:
        raise ImportError("a module is missing")

    with pytest.raises(ImportError):
        WarmUp([fail], Pile(0)).run()
