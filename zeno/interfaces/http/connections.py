"""Limits on connections, which apply before a request is complete and before its token is checked.

Clients that send half a request, or hardly read their answer, would otherwise use up all connections. A connection
without progress is closed after a timeout. Each address may have a few connections without a complete request, and not
all of the others: one more closes the one that waits longest for its client, so that the next request is answered.
"""

import asyncio
import fcntl
import socket
import struct
import sys
import termios
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

MAX_NEW = 128
"""Connections of one address that have not sent a whole request yet."""
MAX_NEW_IN_ALL = 512
MAX_CONNECTIONS = 1024
"""With so many connections uvicorn answers 503 by itself."""
MAX_OF_ADDRESS = 768

LEAST_RATE = 1024
"""Bytes a second that a client must take of its answers. A client that takes fewer could hold megabytes for days."""

# Asks a socket how many bytes the other side has not acknowledged (SIOCOUTQ, which has the number of TIOCOUTQ).
_QUEUED = termios.TIOCOUTQ if sys.platform == "linux" else None
# A stream of request lines may pause for any time.
_STREAMS = frozenset({"/v1/jsonl"})


Kind = Literal["new", "idle", "busy"]
"""A connection waits for its first whole request, for another one, or for an answer."""
_OfAddress = dict[Kind, dict[asyncio.Transport, None]]


class Connections:
    """The open connections of each address. When there are too many, one that waits for its client is closed.

    A connection that was closed counts no more, though asyncio tells its end only later: many clients may come at once.
    """

    def __init__(
        self,
        new_of_address: int = MAX_NEW,
        new_in_all: int = MAX_NEW_IN_ALL,
        of_address: int = MAX_OF_ADDRESS,
        in_all: int = MAX_CONNECTIONS - 1,
    ) -> None:
        self._new_of_address = new_of_address
        self._new_in_all = new_in_all
        self._of_address = of_address
        self._in_all = in_all
        self._addresses: dict[asyncio.Transport, str] = {}
        """In the order in which the connections began to wait."""
        self._by_address: dict[str, _OfAddress] = {}

    def add(self, transport: asyncio.Transport, address: str) -> None:
        """Count a new connection. Over a limit, close the one that waits longest of its address, or of the address
        with the most."""
        self._addresses[transport] = address
        own = self._by_address.setdefault(address, {"new": {}, "idle": {}, "busy": {}})
        own["new"][transport] = None
        if len(own["new"]) > self._new_of_address:
            self._end(next(iter(own["new"])))
        if sum(map(len, own.values())) > self._of_address:
            self._end(next(iter(own["idle"] or own["new"])))
        if sum(len(one["new"]) for one in self._by_address.values()) > self._new_in_all:
            self._end(next(iter(self._find_crowd("new")["new"])))
        if len(self._addresses) > self._in_all:
            crowd = self._find_crowd("idle", "new")
            self._end(next(iter(crowd["idle"] or crowd["new"])))

    def move(self, transport: asyncio.Transport, kind: Kind) -> None:
        """Note what an open connection waits for now. One that was closed stays forgotten."""
        address = self._addresses.get(transport)
        if address is not None and transport not in self._by_address[address][kind]:
            for transports in self._by_address[address].values():
                transports.pop(transport, None)
            self._by_address[address][kind][transport] = None
            self._addresses[transport] = self._addresses.pop(transport)

    def discard(self, transport: asyncio.Transport) -> None:
        """Forget a connection that has ended."""
        address = self._addresses.pop(transport, None)
        if address is not None:
            own = self._by_address[address]
            for transports in own.values():
                transports.pop(transport, None)
            if not any(own.values()):
                del self._by_address[address]

    def _find_crowd(self, *kinds: Kind) -> _OfAddress:
        """Return the connections of the address with the most of these kinds; of several such, of the one that has
        waited longest: the first address would lose each connection to many that have one."""
        counts = {address: sum(len(own[kind]) for kind in kinds) for address, own in self._by_address.items()}
        most = max(counts.values())
        crowds = ((one, self._by_address[at]) for one, at in self._addresses.items() if counts[at] == most)
        return next(own for one, own in crowds if any(one in own[kind] for kind in kinds))

    def _end(self, transport: asyncio.Transport) -> None:
        is_idle = transport in self._by_address[self._addresses[transport]]["idle"]
        self.discard(transport)
        if is_idle and not transport.get_write_buffer_size():
            # The kernel still delivers what it has of the last answer.
            transport.close()
        else:
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
    connections = Connections()

    class Guarded(H11Protocol):
        """One connection, checked every `timeout` seconds: without progress since the last check it is aborted."""

        _requests = 0
        _received = 0
        _seen: NextStep | None = None
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            connections.add(transport, self.client[0] if self.client else "")
            self._timer = self.loop.call_later(timeout, self._look)

        def connection_lost(self, exc: Exception | None) -> None:
            connections.discard(self.transport)
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
                connections.move(self.transport, self._kind())

        def on_response_complete(self) -> None:
            super().on_response_complete()
            connections.move(self.transport, self._kind())

        def _kind(self) -> Kind:
            if self.cycle.response_complete:
                return "idle"
            return "new" if self.cycle.more_body and self.scope["path"] not in _STREAMS else "busy"

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
