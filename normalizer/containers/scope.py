"""Sources of the values of one entry, and the result of reading one."""

from collections.abc import Callable
from typing import Any, NamedTuple

MISSING: Any = object()
"""The absent value."""


class Star(NamedTuple):
    """A match of one `*` of `split`."""

    key: str | None
    """The key or index; None where a value is its own only item."""
    value: Any
    pointer: str
    """From the row."""


class Scope(NamedTuple):
    """Sources that the values of one entry are read from."""

    row: Any
    part: Any
    document: Any
    reply: Any
    key: str
    joined: Any = None
    stars: tuple[Star, ...] = ()
    place: str = ""
    """The key or index of the row in its container."""


class Read(NamedTuple):
    """A value that was read."""

    value: Any
    """The value, or `MISSING`."""
    take: str
    """Where it stood."""
    how: str = ""
    """How it was read, where it is not copied as it stands."""
    failed: str = ""
    """Why the judge gave no verdict, where the dialect declares that this means it."""


ValueReader = Callable[[Scope], Read]
