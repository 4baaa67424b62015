"""Directories and commits, as objects describe them."""

import re
from collections import OrderedDict
from collections.abc import Mapping
from itertools import product
from typing import NamedTuple

from zeno.revisions.objects import Objects, Unavailable
from zeno.revisions.packs import COMMIT, TREE

FOLDER, LINK, SUBMODULE = b"40000", b"120000", b"160000"
"""Modes of what is no regular file."""
# Mode, name and id of each entry of a directory, by the length of ids. One without an id matches too: if it did not,
# the rest would be searched again from every byte that looks like an entry.
_ENTRIES = {
    length: re.compile(rb"(40000|120000|160000|100[0-7]{3}) ([^\0]*)(?:\0(.{%d}))?" % length, re.DOTALL)
    for length in (20, 32)
}
_NO_NAMES = {b"", b".", b"..", *(bytes(name) for name in product(b".", b"gG", b"iI", b"tT"))}
# Bytes of a directory (some 700,000 names) and of a commit, at most: parsing takes ten times the memory.
MAX_TREE, MAX_COMMIT = 1 << 25, 1 << 24
# Entries of directories that are kept in parsed form: about 100 MB.
_MAX_KEPT = 1 << 19
_TREE = re.compile(rb"tree ([0-9a-f]+)\n")
_COMMITTER = re.compile(rb"\ncommitter [^\n]*> (-?\d{1,18}) [^\n]*\n")


class TreeEntry(NamedTuple):
    """An entry of a directory."""

    mode: bytes
    id: bytes

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file."""
        return self.mode[:3] == b"100"


class Commit(NamedTuple):
    """A commit: its id, its tree and its time."""

    id: bytes
    tree: bytes
    time: int
    """Seconds since 1970, by its committer."""


class Trees:
    """Reads directories, and keeps those read last: commits share most of them."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self._kept: OrderedDict[bytes, Mapping[bytes, TreeEntry]] = OrderedDict()
        self._entries = 0

    def read(self, tree_id: bytes) -> Mapping[bytes, TreeEntry]:
        """Return the entries of a directory by name. Raises Unavailable."""
        found = self._kept.get(tree_id)
        if found is None:
            one = self.objects.read(tree_id, MAX_TREE)
            if one.kind != TREE:
                raise Unavailable(f"the object {tree_id.hex()} is no directory")
            found = parse_tree(one.data, self.objects.id_bytes)
            while self._kept and self._entries + len(found) > _MAX_KEPT:
                self._entries -= len(self._kept.popitem(last=False)[1])
            self._kept[tree_id] = found
            self._entries += len(found)
        return found

    def read_commit(self, commit_id: bytes) -> Commit:
        """Return a commit. Raises Unavailable."""
        found = self.objects.read(commit_id, MAX_COMMIT)
        data = found.data if found.kind == COMMIT else b""
        # Where the committer is named; the message is behind the first empty line.
        place = data.find(b"\ncommitter ", 0, data.find(b"\n\n") + 1 or len(data))
        tree, committer = _TREE.match(data), _COMMITTER.match(data, max(place, 0))
        if tree is None or committer is None or len(tree[1]) != 2 * self.objects.id_bytes:
            raise Unavailable(f"the object {commit_id.hex()} is no commit that git would write")
        return Commit(commit_id, bytes.fromhex(tree[1].decode()), int(committer[1]))


def parse_tree(data: bytes, id_bytes: int) -> dict[bytes, TreeEntry]:
    """Return the entries of a directory by name.

    Raises Unavailable for names that no checkout can have: twice the same, `.git`, `..`, or one with a slash.
    """
    listed = _ENTRIES[id_bytes].findall(data)
    # Where an entry is not as it should be, bytes are left over. If one has no id, then neither has the last.
    whole = sum(len(mode) + len(name) for mode, name, _ in listed) + (2 + id_bytes) * len(listed) == len(data)
    if not whole or (listed and not listed[-1][2]):
        raise Unavailable("a directory is damaged: an entry of it cannot be read")
    found = {name: TreeEntry(mode, entry_id) for mode, name, entry_id in listed}
    if len(found) < len(listed) or not found.keys().isdisjoint(_NO_NAMES) or b"/" in b"".join(found):
        raise Unavailable("a directory has a name that no checkout can have")
    return found
