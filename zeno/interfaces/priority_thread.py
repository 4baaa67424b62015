"""One thread that runs functions one after the other: urgent ones first, otherwise in the order they came."""

from collections import deque
from concurrent.futures import Future
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

# Number of urgent functions that may run in a row while another waits; then the other runs.
MAX_OVERTAKING = 32


class PriorityThread:
    """Runs functions in one thread, which starts with the first of them."""

    def __init__(self) -> None:
        self._urgent: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._others: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._overtaking = 0
        """How many urgent functions ran in a row while others waited."""
        self._changed = Condition()
        self._closed = False
        self._thread: Thread | None = None

    def submit(self, work: "Callable[[], T]", *, urgent: bool = False) -> "Future[T]":
        """Run a function behind those of its kind that came before it. Returns its future result.

        Urgent functions run before others, but only `MAX_OVERTAKING` of them before one that waits longest.
        """
        future: Future[T] = Future()
        with self._changed:
            if self._closed:
                raise RuntimeError("the thread is closed")
            (self._urgent if urgent else self._others).append((work, future))
            if self._thread is None:
                self._thread = Thread(target=self._run, name="zeno")
                self._thread.start()
            self._changed.notify()
        return future

    def close(self) -> None:
        """Cancel what waits, and return when the function under way has returned."""
        with self._changed:
            self._closed = True
            for waiting in (self._urgent, self._others):
                for _, future in waiting:
                    future.cancel()
                waiting.clear()
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not (self._urgent or self._others or self._closed):
                    self._changed.wait()
                if self._closed:
                    return
                work, future = self._next()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(work())
                except BaseException as error:
                    future.set_exception(error)
            # Results may be large, and the next function may be long in coming.
            del work, future

    def _next(self) -> "tuple[Callable[[], Any], Future[Any]]":
        """Remove and return the next function and its future. There must be one."""
        if self._urgent and (not self._others or self._overtaking < MAX_OVERTAKING):
            self._overtaking = self._overtaking + 1 if self._others else 0
            return self._urgent.popleft()
        self._overtaking = 0
        return self._others.popleft()
