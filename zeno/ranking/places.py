"""Read paths: the words in the name of a file and in those of its directories, and what kind of file it is."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from zeno.ranking.rules import KINDS
from zeno.ranking.words import RUN, stems_of


class PathWords(NamedTuple):
    """The path of a file as the ranker sees it."""

    name: frozenset[bytes]
    """Stems of the words in its name."""
    directories: frozenset[bytes]
    """Stems of the words in the names of its directories."""
    joined: bytes
    """The stems of its name, written as one."""
    factor: int
    """The factor of its score for its kind, in hundredths."""


@lru_cache(1 << 12)
def _stems(name: str) -> tuple[bytes, ...]:
    return tuple(word for run in RUN.findall(name.encode()) for word in stems_of(run))


@lru_cache(1 << 12)
def _directories(path: str) -> tuple[frozenset[bytes], int]:
    """Return the stems of the names of some directories, and the factor of files below them."""
    steps = path.split("/") if path else []
    factors = [kind["factor"] for kind in KINDS if any(step in kind["directories"] for step in steps)]
    return frozenset(word for step in steps for word in _stems(step)), min(factors, default=100)


def read_path(path: str) -> PathWords:
    """Return what a path says about its file."""
    above, _, name = path.rpartition("/")
    directories, factor = _directories(above)
    base, dot, extension = name.rpartition(".")
    bare = base if dot and base else name
    stems = _stems(bare)
    return PathWords(
        frozenset(stems), directories, b"".join(stems), min(factor, _factor(bare, extension if dot else ""))
    )


def _factor(bare: str, extension: str) -> int:
    """Return the factor of a file by its name without extension, and its extension."""
    factors = [
        kind["factor"]
        for kind in KINDS
        if extension in kind["extensions"]
        or bare in kind["names"]
        or bare.startswith(tuple(kind["begins"]))
        or bare.endswith(tuple(kind["ends"]))
    ]
    return min(factors, default=100)


def end_of(path: str) -> tuple[bytes, bytes]:
    """Return the name of a file in lower case, and that with its directory."""
    *_, above, name = [b"", *path.encode().lower().split(b"/")]
    return name, above + b"/" + name


class PlaceTable:
    """The places of some files, and which of them have a word in their paths."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths
        self.places = [read_path(path) for path in paths]
        self.names: dict[bytes, list[int]] = {}
        """Indexes of the files with a word in their names, by stem."""
        self.directories: dict[bytes, list[int]] = {}
        """Those with a word in the names of their directories."""
        for index, place in enumerate(self.places):
            for word in place.name:
                self.names.setdefault(word, []).append(index)
            for word in place.directories:
                self.directories.setdefault(word, []).append(index)
