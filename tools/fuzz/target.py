"""A target of fuzzing."""

from collections.abc import Callable
from typing import NamedTuple


class Target(NamedTuple):
    """A function that takes any bytes, and raises AssertionError or any other exception where a promise is broken."""

    check: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    """Inputs to begin with."""
    words: tuple[bytes, ...]
    """Pieces that inputs may be made of."""
    vector: str
    """How a finding becomes a lasting test."""


def text_of(data: bytes) -> str:
    """Any bytes as a text without surrogates."""
    return data.decode("utf-8", "replace")
