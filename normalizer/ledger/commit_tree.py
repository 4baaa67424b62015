"""The tree of commit records: which file has the lines of a bundle, and what becomes of the tree when files change."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from hashlib import sha256 as digest_of
from itertools import islice
from pathlib import Path
from typing import TypeVar

from normalizer.errors import UnusableLedger
from normalizer.ledger.buckets import DIGITS, LinePlace, places_in
from normalizer.ledger.commit_record import (
    NAME,
    LineFile,
    Node,
    Part,
    Totals,
    advice,
    encode,
    load_node,
    node_name,
    read_index,
    read_verified,
)
from normalizer.ledger.line_format import FILES
from normalizer.ledger.record_index import make_index

T = TypeVar("T")
_AT_ONCE = 16
"""Files that a thread reads one after the other."""
_AHEAD = 32
"""How many threads' worth of files waits to be read."""
MOST_FILES = 512
"""A record that would list more files is split by the next digit of their hashes."""


class CommitTree:
    """The commit records of a ledger. Each is read when it is needed, and compared with its digest in the one above."""

    def __init__(self, folder: Path, *, empty: bool = False) -> None:
        """`empty`: there is no ledger yet. Raises UnusableLedger if `commit.json` is not what a run writes."""
        self._folder = folder
        root = Node("", {kind: [] for kind in FILES}, []) if empty else load_node(folder)
        self._nodes: dict[str, Node] = {"": root}
        self._totals = root.totals()

    def total(self, kind: str) -> Totals:
        """Return what all files of a kind have together."""
        return self._totals[kind]

    def files(self, kind: str, prefix: str = "") -> Iterator[LineFile]:
        """Yield the files whose bundles' hashes begin so, in order. That of a shorter prefix is not among them."""
        for node in self._along(prefix):
            yield from self._list_files(node, kind, prefix)

    def files_of(self, kind: str, sha256: str) -> list[LineFile]:
        """Return the files that may have lines of a bundle: one bucket, or all files of a long bundle."""
        node: Node | None = self._nodes[""]
        while node is not None:
            found = [file for file in node.files[kind] if sha256.startswith(file.place.prefix)]
            if found:
                return found
            node = next((self._node(part) for part in node.parts if sha256.startswith(part.prefix)), None)
        return []

    def region(self, kind: str, sha256: str) -> str:
        """Return the prefix of the bucket that a bundle belongs to, whether it has lines there yet or not."""
        for file in self.files_of(kind, sha256):
            return file.place.prefix
        length = 0
        while self.bytes_below(kind, sha256[:length]):
            length += 1
        return sha256[:length]

    def bytes_below(self, kind: str, prefix: str) -> int:
        """Return how many bytes of lines the bundles have whose hashes begin so, each bucket counted as a whole."""
        found, pending = 0, [self._nodes[""]]
        while pending:
            node = pending.pop()
            found += sum(file.bytes for file in self._list_files(node, kind, prefix))
            found += sum(part.totals[kind].bytes for part in node.parts if part.prefix.startswith(prefix))
            pending += [
                self._node(part) for part in node.parts if prefix.startswith(part.prefix) and part.prefix != prefix
            ]
        return found

    def map_files(self, kind: str, read: Callable[[Path, LineFile], T]) -> Iterator[tuple[LineFile, T]]:
        """Yield the files of a kind, in order, with the little that a function finds in each of them, on all cores."""
        files = self.files(kind)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            pending: deque[Future[list[tuple[LineFile, T]]]] = deque()
            while some := list(islice(files, _AT_ONCE)):
                pending.append(pool.submit(lambda some: [(file, read(self._folder, file)) for file in some], some))
                if len(pending) > _AHEAD:
                    yield from pending.popleft().result()
            for outcome in pending:
                yield from outcome.result()

    def check(self, kind: str) -> None:
        """Raise UnusableLedger, for the first one, if a file of a kind was changed. All cores read and digest."""
        for _ in self.map_files(kind, _verify):
            pass

    def names(self) -> Iterator[str]:
        """Yield the names of all records and of all files of lines."""
        for node in self._along(""):
            yield node_name(node.prefix)
            for kind in FILES:
                for file in node.files[kind]:
                    yield file.place.name
                    if file.place.index_name is not None:
                        yield file.place.index_name

    def change(self, removed: Iterable[LinePlace], added: Iterable[LineFile]) -> "Change":
        """Return the tree without some files and with others, as the records that differ."""
        change = Change()
        gone, new = set(removed), sorted(added)
        node = self._change_node(self._nodes[""], gone, new, change)
        change.write(node)
        change.totals = node.totals()
        return change

    def _along(self, prefix: str) -> Iterator[Node]:
        """Yield the records that list something below a prefix, in an order in which their files follow each other."""
        pending = [self._nodes[""]]
        while pending:
            node = pending.pop()
            yield node
            parts = [part for part in node.parts if _is_related(part.prefix, prefix)]
            pending += [self._node(part) for part in reversed(parts)]

    def _list_files(self, node: Node, kind: str, prefix: str) -> Iterator[LineFile]:
        return (file for file in node.files[kind] if file.place.prefix.startswith(prefix))

    def _node(self, part: Part) -> Node:
        if part.prefix not in self._nodes:
            node = load_node(self._folder, part.prefix, part.sha256)
            if node.totals() != part.totals:
                raise UnusableLedger(f"{self._folder / node_name(part.prefix)} has other totals than the record above")
            self._nodes[part.prefix] = node
        return self._nodes[part.prefix]

    def _change_node(self, node: Node, gone: set[LinePlace], new: list[LineFile], change: "Change") -> Node:
        """Return the next state of a record, and note those of its parts."""
        if not node.parts:
            return _arrange(node.prefix, [*_keep(node, gone), *new], change)
        parts = {part.prefix: part for part in node.parts}
        own = [*_keep(node, gone), *(file for file in new if file.place.prefix == node.prefix)]
        for digit in DIGITS:
            prefix = node.prefix + digit
            fresh = [file for file in new if file.place.prefix.startswith(prefix)]
            if not fresh and not any(place.prefix.startswith(prefix) for place in gone):
                continue
            before = self._node(parts[prefix]) if prefix in parts else Node(prefix, {kind: [] for kind in FILES}, [])
            after = self._change_node(before, gone, fresh, change)
            if prefix in parts:
                change.removed.add(node_name(prefix))
            parts.pop(prefix, None)
            if _count(after.totals()):
                parts[prefix] = change.write(after)
        next_state = Node(node.prefix, _by_kind(own), [parts[prefix] for prefix in sorted(parts)])
        if _count(next_state.totals()) > MOST_FILES and (own or len(next_state.parts) > 1):
            return next_state
        files = own + [file for part in next_state.parts for file in self._all(part, change)]
        for part in next_state.parts:
            change.drop(part.prefix)
        return _arrange(node.prefix, files, change)

    def _all(self, part: Part, change: "Change") -> Iterator[LineFile]:
        """Yield all files of a part of the next state, and take its records away."""
        node = change.nodes.get(part.prefix) or self._node(part)
        for kind in FILES:
            yield from node.files[kind]
        for inner in node.parts:
            yield from self._all(inner, change)
            change.drop(inner.prefix)


@dataclass(slots=True)
class Change:
    """The difference between two states of a tree."""

    nodes: dict[str, Node] = field(default_factory=dict)
    """The records that are new or differ, by prefix."""
    removed: set[str] = field(default_factory=set)
    """Names of records that are there no more."""
    totals: dict[str, Totals] = field(default_factory=dict)

    def write(self, node: Node) -> Part:
        """Note a record of the next state."""
        self.nodes[node.prefix] = node
        self.removed.discard(node_name(node.prefix))
        return Part(node.prefix, node.totals(), digest_of(encode(node)).hexdigest())

    def drop(self, prefix: str) -> None:
        """Note that the next state has no such record."""
        self.nodes.pop(prefix, None)
        self.removed.add(node_name(prefix))


def changes(folder: Path) -> list[str]:
    """Return everything in the files of lines that differs from the commit record, in words."""
    found: list[str] = []
    listed: set[LinePlace] = set()
    wanted = [("", "")]
    while wanted:
        prefix, digest = wanted.pop()
        try:
            node = load_node(folder, prefix, digest or None)
        except UnusableLedger as error:
            found.append(str(error))
            continue
        wanted += [(part.prefix, part.sha256) for part in reversed(node.parts)]
        for file in (file for kind in FILES for file in node.files[kind]):
            listed.add(file.place)
            try:
                data = read_verified(folder, file)
                if file.index_sha256 and read_index(folder, file) != make_index(data):
                    found.append(f"{folder / str(file.place.index_name)} does not fit the lines: {advice(folder)}")
            except UnusableLedger as error:
                found.append(str(error))
    if not found:
        strange = [place.name for place in places_in(folder) if place not in listed]
        found += [f"{folder / name} is none of the files that {NAME} names: {advice(folder)}" for name in strange]
    return found


def arrange_tree(files: Iterable[LineFile]) -> list[Node]:
    """Return all records of a ledger with these files."""
    change = Change()
    change.write(_arrange("", list(files), change))
    return list(change.nodes.values())


def _arrange(prefix: str, files: list[LineFile], change: Change) -> Node:
    """Return the record that lists these files, or what is above its parts; notes the parts."""
    if len(files) <= MOST_FILES or len({file.place.prefix for file in files}) == 1:
        return Node(prefix, _by_kind(files), [])
    own = [file for file in files if file.place.prefix == prefix]
    parts = []
    for digit in DIGITS:
        below = [file for file in files if file.place.prefix.startswith(prefix + digit)]
        if below:
            parts.append(change.write(_arrange(prefix + digit, below, change)))
    return Node(prefix, _by_kind(own), parts)


def _by_kind(files: list[LineFile]) -> dict[str, list[LineFile]]:
    return {kind: sorted(file for file in files if file.place.kind == kind) for kind in FILES}


def _keep(node: Node, gone: set[LinePlace]) -> list[LineFile]:
    return [file for kind in FILES for file in node.files[kind] if file.place not in gone]


def _count(totals: dict[str, Totals]) -> int:
    return sum(total.files for total in totals.values())


def _verify(folder: Path, file: LineFile) -> None:
    """Compare a file with its digest; its bytes are let go at once."""
    read_verified(folder, file)


def _is_related(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
