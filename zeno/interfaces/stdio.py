"""JSON lines on standard input and output: one answer a line, in order, until input ends or a signal asks to stop."""

import os
import select
import signal
from collections.abc import Iterable, Iterator

from zeno.session import wire
from zeno.session.server import Server
from zeno.text.line_splitter import LineSplitter

# Idle seconds before background work starts. A client that asks one request after another must not wait for that work,
# and a server that sleeps right after an answer lets its reader run on the same core.
PAUSE = 0.001
# Seconds between two looks at changes of the tree while there are no requests.
REST = 0.02


def serve(server: Server, source: int, sink: int) -> None:
    """Answer the lines of one descriptor on another. Returns at the end of input, after a signal, on a closed pipe."""
    with _Stop() as stop:
        for line in _lines(source, server, stop):
            if wire.is_blank(line):
                continue
            try:
                _write(sink, server.answer(line, lambda: has_left(sink)))
            except BrokenPipeError:
                return
            if stop.asked:
                return
            server.catch_up()


def has_left(sink: int) -> bool:
    """Whether the client has closed its end: no answer can reach it."""
    poll = select.poll()
    poll.register(sink, 0)  # asks only for what is always told: errors
    return bool(poll.poll(0))


class _Stop:
    """Makes SIGTERM and SIGINT readable from a descriptor; a second signal ends the process as usual."""

    def __enter__(self) -> "_Stop":
        self.asked = False
        self.wakeup, self._signalled = os.pipe()
        for end in (self.wakeup, self._signalled):
            os.set_blocking(end, False)
        self._before = {number: signal.signal(number, self._ask) for number in (signal.SIGTERM, signal.SIGINT)}
        self._fd_before = signal.set_wakeup_fd(self._signalled)
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(self._fd_before)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self.wakeup)
        os.close(self._signalled)

    def is_asked(self) -> bool:
        """Whether one of the two arrived, once something can be read: signals that others handle arrive there too."""
        self.asked |= not {signal.SIGTERM, signal.SIGINT}.isdisjoint(os.read(self.wakeup, 1 << 12))
        return self.asked

    def _ask(self, number: int, _frame: object) -> None:
        self.asked = True
        signal.signal(number, signal.SIG_DFL)


def _lines(source: int, server: Server, stop: _Stop) -> Iterator[bytes]:
    """Yield the lines of a descriptor without line ends. A line over the limit is cut to one byte more."""
    lines = LineSplitter(server.max_request_bytes)
    while True:
        asked = (source, stop.wakeup)
        ready = _wait(asked, PAUSE)
        while not ready:
            if server.idle():
                ready = _wait(asked, 0)
                continue
            ready = _wait(asked, REST)
            if not ready:
                # Changes are applied as they come, so that no queue overflows while there are no requests.
                ready = _wait((*asked, *server.corpus.event_descriptors), None) & set(asked)
        if stop.wakeup in ready and stop.is_asked():
            return
        if source not in ready:
            continue
        chunk = os.read(source, 1 << 16)
        if not chunk:
            break
        yield from lines.feed(chunk)
    rest = lines.rest()
    if rest:
        yield rest


def _wait(descriptors: Iterable[int], seconds: float | None) -> set[int]:
    """Return the descriptors that can be read, as soon as there is one; without any after some seconds."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return {descriptor for descriptor, _ in poll.poll(None if seconds is None else seconds * 1000)}


def _write(sink: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(sink, view) :]
        except BlockingIOError:
            select.select([], [sink], [])
