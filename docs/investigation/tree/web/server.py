"""The pages: which address shows what."""

from lantern.catalogue import Catalogue
from lantern.session import Sessions


class Refused(Exception):
    """The reader has to sign in first."""


class Pages:
    """Answers for addresses."""

    def __init__(self, catalogue: Catalogue, sessions: Sessions) -> None:
        self._catalogue = catalogue
        self._sessions = sessions

    def shelf(self, token: str, words: str) -> list[str]:
        """The titles a reader searched for."""
        self._signed_in(token)
        return [book.title for book in self._catalogue.search(words)]

    def lend(self, token: str, isbn: str) -> str:
        """Lend a book to whoever is signed in."""
        reader = self._signed_in(token)
        self._catalogue.lend(isbn, reader)
        return f"{isbn} is yours"

    def _signed_in(self, token: str) -> str:
        session = self._sessions.find(token)
        if session is None:
            raise Refused("your session has ended, please sign in again")
        return session.reader
