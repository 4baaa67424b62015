"""Limits on connections, which apply before a request is complete and before its token is checked.

Clients that send half a request, or hardly read their answer, would otherwise use up all connections. A connection
without progress is closed after a timeout. Each address may have a few connections without a complete request: one more
closes its oldest, so that such clients only affect their own address.
"""

import asyncio
import fcntl
import socket
import struct
import sys
import termios
from collections import Counter, deque
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

MAX_NEW = 128
"""Connections of one address that have not sent a whole request yet."""
MAX_NEW_IN_ALL = 512
MAX_OF_ADDRESS = 768
"""Connections of one address, of the 1,024 that are served."""

LEAST_RATE = 1024
"""Bytes a second that a client must take of its answers. A client that takes fewer could hold megabytes for days."""

# Asks a socket how many bytes the other side has not acknowledged (SIOCOUTQ, which has the number of TIOCOUTQ).
_QUEUED = termios.TIOCOUTQ if sys.platform == "linux" else None
# A stream of request lines may pause for any time.
_STREAMS = frozenset({"/v1/jsonl"})


class NewConnections:
    """The connections that have not sent a whole request yet, oldest first."""

    def __init__(self, per_address: int = MAX_NEW, in_all: int = MAX_NEW_IN_ALL) -> None:
        self._per_address = per_address
        self._in_all = in_all
        self._by_address: dict[str, deque[asyncio.Transport]] = {}
        self._all: dict[asyncio.Transport, str] = {}

    def add(self, transport: asyncio.Transport, address: str) -> None:
        """Count a connection; over the limit, close the oldest of its address."""
        of_address = self._by_address.setdefault(address, deque())
        of_address.append(transport)
        self._all[transport] = address
        if len(of_address) > self._per_address:
            self._end(of_address[0])
        elif len(self._all) > self._in_all:
            self._end(next(iter(self._all)))

    def discard(self, transport: asyncio.Transport) -> None:
        """Forget a connection that has sent a request, or has ended."""
        address = self._all.pop(transport, None)
        if address is not None:
            self._by_address[address].remove(transport)
            if not self._by_address[address]:
                del self._by_address[address]

    def _end(self, transport: asyncio.Transport) -> None:
        self.discard(transport)
        _reset(transport)


def _reset(transport: asyncio.Transport) -> None:
    """Abort a connection: unsent data is dropped, because the client does not read."""
    connection = transport.get_extra_info("socket")
    if connection is not None:
        with suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


def unread(transport: asyncio.Transport) -> int:
    """Return how many bytes of its answers the client has not taken: those held here and, on Linux, by the kernel.

    The kernel takes more from a process only when it has sent a good part of what it holds, which may be megabytes: by
    the bytes held here alone, a client over a slow line would seem not to read.
    """
    held: int = transport.get_write_buffer_size()
    connection = transport.get_extra_info("socket")
    if connection is not None and _QUEUED is not None:
        with suppress(OSError):
            held += int.from_bytes(fcntl.ioctl(connection.fileno(), _QUEUED, bytes(4)), sys.byteorder)
    return held


class NextStep(NamedTuple):
    """A step that a client has to take next, and a number that changes as it takes it."""

    what: Literal["read", "ask", "send"]
    number: int
    """Bytes left to read, requests asked so far, or bytes sent so far."""


def is_stuck(before: NextStep | None, now: NextStep | None, seconds: float) -> bool:
    """Whether a client that was looked at twice, so many seconds apart, has made too little progress in between."""
    if before is None or now is None or before.what != now.what:
        return False
    if now.what == "read":
        return 0 <= before.number - now.number < LEAST_RATE * seconds
    return before == now


def make_protocol(timeout: float) -> type[H11Protocol]:
    """Return uvicorn's HTTP protocol with limits; `timeout` is the number of seconds without progress."""
    new = NewConnections()
    of_address: Counter[str] = Counter()

    class Guarded(H11Protocol):
        """One connection, checked every `timeout` seconds: without progress since the last check it is aborted."""

        _requests = 0
        _received = 0
        _seen: NextStep | None = None
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            address = self.client[0] if self.client else ""
            of_address[address] += 1
            new.add(transport, address)
            if of_address[address] > MAX_OF_ADDRESS:
                _reset(transport)
            self._timer = self.loop.call_later(timeout, self._look)

        def connection_lost(self, exc: Exception | None) -> None:
            new.discard(self.transport)
            address = self.client[0] if self.client else ""
            of_address[address] -= 1
            if not of_address[address]:
                del of_address[address]
            if self._timer is not None:
                self._timer.cancel()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            self._received += len(data)
            super().data_received(data)

        def handle_events(self) -> None:
            before = self.cycle
            super().handle_events()
            if self.cycle is not None:
                self._requests += self.cycle is not before
                if not self.cycle.more_body or self.scope["path"] in _STREAMS:
                    new.discard(self.transport)

        def send_400_response(self, msg: str) -> None:
            """Refuse bytes that are no HTTP. An answer under way ends here, and its application sends no more."""
            cycle: RequestResponseCycle | None = self.cycle
            if cycle is not None and not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()
            try:
                super().send_400_response(msg)
            except h11.LocalProtocolError:
                # An answer has begun, so there can be no other.
                self.transport.close()

        def _look(self) -> None:
            state = self._next_step()
            if is_stuck(self._seen, state, timeout):
                _reset(self.transport)
                return
            self._seen = state
            self._timer = self.loop.call_later(timeout, self._look)

        def _next_step(self) -> NextStep | None:
            """Return the next step of the client; None if the server has to act."""
            left = unread(self.transport)
            if left:
                return NextStep("read", left)
            cycle: RequestResponseCycle | None = self.cycle
            if cycle is None or cycle.response_complete:
                # Request line and headers must be complete in time; single bytes are no progress.
                return NextStep("ask", self._requests)
            if cycle.more_body and self.scope["path"] not in _STREAMS:
                return NextStep("send", self._received)
            return None

    return Guarded
