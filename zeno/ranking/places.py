"""Read paths: the words in the name of a file and in those of its directories, and what kind of file it is."""

from array import array
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from zeno.ranking.rules import KINDS
from zeno.ranking.words import RUN, stems_of

# Each takes about as much memory as some hundred bytes of text a file.
MAX_TABLES = 2


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
    """Words in the paths of some files. A file is its index."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths
        self.factors = bytearray(len(paths))
        """The factor of each score for the kind of file, in hundredths."""
        self.names: dict[bytes, array[int]] = {}
        """The files with a word in their names, by stem."""
        self.directories: dict[bytes, array[int]] = {}
        """Those with a word in the names of their directories."""
        self.joined: dict[bytes, array[int]] = {}
        """Those whose names have these stems, written as one."""
        for index, path in enumerate(paths):
            place = read_path(path)
            self.factors[index] = place.factor
            _add(self.joined, place.joined, index)
            for word in place.name:
                _add(self.names, word, index)
            for word in place.directories:
                _add(self.directories, word, index)

    def find_end(self, end: bytes) -> list[int]:
        """Return the files with this name in lower case, or with this directory and name."""
        return [file for file in self._by_name.get(end.rpartition(b"/")[2], ()) if end in end_of(self.paths[file])]

    @cached_property
    def _by_name(self) -> "dict[bytes, array[int]]":
        found: dict[bytes, array[int]] = {}
        for index, path in enumerate(self.paths):
            _add(found, end_of(path)[0], index)
        return found


def _add(table: "dict[bytes, array[int]]", word: bytes, index: int) -> None:
    found = table.get(word)
    if found is None:
        table[word] = array("I", (index,))
    else:
        found.append(index)


class PlaceTables:
    """The tables of the last few lists of paths: clients repeat few selections."""

    def __init__(self) -> None:
        self._tables: list[PlaceTable] = []

    def find(self, paths: Sequence[str]) -> PlaceTable:
        """Return the table of these paths."""
        found = next((table for table in self._tables if table.paths == paths), None)
        if found is None:
            found = PlaceTable(paths)
        self._tables = [found, *(table for table in self._tables if table is not found)][:MAX_TABLES]
        return found
