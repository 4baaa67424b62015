"""Sessions: who is signed in, and for how long."""

import secrets
from dataclasses import dataclass

from lantern.clock import Clock
from lantern.settings import Settings
from lantern.store.memory import MemoryStore


@dataclass
class Session:
    """One signed-in reader."""

    token: str
    reader: str
    started: float
    touched: float


class Sessions:
    """All sessions of one server."""

    def __init__(self, store: MemoryStore, settings: Settings, clock: Clock) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock

    def sign_in(self, reader: str) -> Session:
        """Start a session for a reader."""
        now = self._clock.now()
        session = Session(secrets.token_hex(16), reader, now, now)
        self._store.put(session.token, session, expires=now + self._settings.session_seconds)
        return session

    def find(self, token: str) -> Session | None:
        """The session behind a token, if it is still good."""
        session = self._store.get(token, self._clock.now())
        if session is None:
            return None
        session.touched = self._clock.now()
        return session

    def sign_out(self, token: str) -> None:
        """End a session."""
        self._store.drop(token)
