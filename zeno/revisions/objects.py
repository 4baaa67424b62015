"""The objects of a repository by id: packed, or in a file of their own.

The id of every object is computed from what was read, and compared: a damaged object is never shown as a sound one.
Replaced objects, grafts and helper programs play no part, and nothing is fetched from elsewhere.
"""

import hashlib
import os
import re
from collections import OrderedDict
from collections.abc import Iterable
from typing import NamedTuple

from zeno.files.sealed_folder import LeadsAway, SealedFolder
from zeno.revisions.differences import Damaged, apply_difference, inflate, size_after
from zeno.revisions.packs import BLOB, IndexParts, Pack, PackedEntry

# Larger objects are not read: they would have to be in memory as a whole.
MAX_OBJECT = 1 << 29
# A chain of differences that git writes has 50 at most by default, and 4,095 at the very most.
_MAX_CHAIN = 4095
# The bytes that a chain makes on the way, in the largest objects: the usual chain of 50 of them.
_MAX_WORK = 50
# Enough for the head of an object in a file of its own, or of a difference.
_HEAD = 64
# Bytes of the objects read last: most differences of one commit are to few others.
_MAX_BASES = 1 << 25
# To copy an object of fewer bytes is faster than to compute its id in two steps.
_SMALL = 1 << 14
_TOO_LARGE = "an object has %d bytes, more than the %d that are read of its kind"
_LOOSE_HEAD = re.compile(rb"(commit|tree|blob|tag) (\d{1,19})\0")
_PACK = re.compile(rb"(pack-[0-9a-f]+)\.idx")


class Unavailable(Exception):
    """An object that is not there, or cannot be read. The message says which of them."""


class TooLarge(Unavailable):
    """An object with more bytes than were asked for."""


class GitObject(NamedTuple):
    """An object."""

    kind: str
    data: bytes


class _Bases:
    """Objects of packs that were read last, which differences may be to. Their ids are not checked."""

    def __init__(self) -> None:
        # A dictionary takes long to find its first entry after many others were first.
        self._kept: OrderedDict[tuple[Pack, int], GitObject] = OrderedDict()
        self._size = 0

    def find(self, pack: Pack, offset: int) -> GitObject | None:
        """Return the object at an offset, if it is kept."""
        found = self._kept.get((pack, offset))
        if found is not None:
            self._kept.move_to_end((pack, offset))
        return found

    def keep(self, pack: Pack, offset: int, found: GitObject) -> None:
        """Keep an object that is not kept yet, unless it is large."""
        if len(found.data) > _MAX_BASES // 32:
            return
        self._kept[pack, offset] = found
        self._size += len(found.data) + _HEAD
        while self._size > _MAX_BASES:
            self._size -= len(self._kept.popitem(last=False)[1].data) + _HEAD


class Objects:
    """Reads objects. Packs that are added later are found when an object is missing."""

    def __init__(self, folder: SealedFolder, digest: str) -> None:
        """Take the directory of a repository that has `objects`, and the name of its digest, sha1 or sha256."""
        self._folder = folder
        self._digest = hashlib.sha1 if digest == "sha1" else hashlib.sha256
        self.id_bytes = self._digest(usedforsecurity=False).digest_size
        self._packs: dict[bytes, Pack] = {}
        self._bases = _Bases()
        self._parts = IndexParts()
        self._find_packs()

    def close(self) -> None:
        """Close all packs."""
        for pack in self._packs.values():
            pack.close()
        self._packs.clear()

    def _find_packs(self) -> bool:
        """Open packs that are not open yet; return whether there are any."""
        found = False
        for name in self._folder.names(b"objects/pack"):
            match = _PACK.fullmatch(name)
            if match is None or match[1] in self._packs:
                continue
            pack = self._open_pack(b"objects/pack/" + match[1])
            if pack is not None:
                self._packs[match[1]] = pack
                found = True
        return found

    def _open_pack(self, path: bytes) -> Pack | None:
        """Open a pack; None if one of its two files is gone meanwhile, or is damaged."""
        index = self._folder.open(path + b".idx")
        data = None if index is None else self._folder.open(path + b".pack")
        if index is None or data is None:
            if index is not None:
                os.close(index)
            return None
        try:
            return Pack(index, data, self.id_bytes, self._parts)
        except (Damaged, OSError):
            os.close(index)
            os.close(data)
            return None

    def _locate(self, object_id: bytes) -> tuple[Pack, int] | None:
        for pack in self._packs.values():
            offset = pack.find(object_id)
            if offset is not None:
                return pack, offset
        return None

    def _loose_path(self, object_id: bytes) -> bytes:
        name = object_id.hex().encode()
        return b"objects/%b/%b" % (name[:2], name[2:])

    def read(self, object_id: bytes, limit: int = MAX_OBJECT) -> GitObject:
        """Return an object. Raises Unavailable, and TooLarge if it has more than `limit` bytes."""
        try:
            found = self._read(object_id, limit)
            if found is None and self._find_packs():
                found = self._read(object_id, limit)
        except (Damaged, LeadsAway) as error:
            raise Unavailable(f"the object {object_id.hex()} cannot be read: {error}") from None
        if found is None:
            raise Unavailable(f"the object {object_id.hex()} is not in the repository, and is not fetched")
        if self.compute_id(found.kind, found.data) != object_id:
            raise Unavailable(f"the object {object_id.hex()} is damaged: its content has another id")
        return found

    def compute_id(self, kind: str, data: bytes) -> bytes:
        """Return the id that an object with this content has."""
        head = b"%b %d\0" % (kind.encode(), len(data))
        if len(data) < _SMALL:
            return self._digest(head + data, usedforsecurity=False).digest()
        digest = self._digest(head, usedforsecurity=False)
        digest.update(data)
        return digest.digest()

    def compute_blob_id(self, size: int, chunks: Iterable[bytes]) -> bytes:
        """Return the id of a file of this size, given in chunks."""
        digest = self._digest(b"blob %d\0" % size, usedforsecurity=False)
        for chunk in chunks:
            digest.update(chunk)
        return digest.digest()

    def _read(self, object_id: bytes, limit: int) -> GitObject | None:
        place = self._locate(object_id)
        if place is None:
            return self._read_loose(object_id, limit)
        pack, offset = place
        found = self._bases.find(pack, offset)
        if found is not None:
            if len(found.data) > limit:
                raise TooLarge(_TOO_LARGE % (len(found.data), limit))
            return found
        # No more is inflated of an object than it takes to see that it is too large.
        entry = pack.entry(offset, most=max(limit, _HEAD) + 1)
        if entry.kind is not None and entry.size == len(entry.data) <= limit:
            return GitObject(entry.kind, entry.data)
        size = entry.size if entry.kind is not None else size_after(entry.data)
        if limit < size <= MAX_OBJECT:
            raise TooLarge(_TOO_LARGE % (size, limit))
        if entry.size > len(entry.data):
            entry = pack.entry(offset, most=MAX_OBJECT + 1)
        return self._follow(pack, offset, entry)

    def _follow(self, pack: Pack, offset: int, entry: PackedEntry) -> GitObject:
        """Return the object at an offset, whose entry is a difference, or to be kept for others that differ from it."""
        differences: list[tuple[int, bytes]] = []
        found: GitObject | None = None
        held = 0
        while found is None:
            held += entry.size
            if held > MAX_OBJECT:
                raise Damaged(f"it has over {MAX_OBJECT} bytes, or the differences that lead to it have")
            if entry.kind is not None:
                found = GitObject(entry.kind, entry.data)
                self._bases.keep(pack, offset, found)
                break
            differences.append((offset, entry.data))
            if len(differences) > _MAX_CHAIN:
                raise Damaged("a chain of differences that is too long")
            base = pack.find(entry.base) if isinstance(entry.base, bytes) else entry.base
            if base is None:
                raise Damaged("a difference to an object that is not in its pack")
            offset = base
            found = self._bases.find(pack, offset)
            if found is None:
                entry = pack.entry(offset, most=MAX_OBJECT + 1)
        return self._apply(pack, found, differences)

    def _apply(self, pack: Pack, found: GitObject, differences: list[tuple[int, bytes]]) -> GitObject:
        """Return the object at the end of a chain of differences, the last of which comes first."""
        work = 0
        for offset, difference in reversed(differences):
            found = GitObject(found.kind, apply_difference(found.data, difference, MAX_OBJECT))
            work += len(found.data)
            if work > _MAX_WORK * MAX_OBJECT:
                raise Damaged("differences that take too long to apply")
            self._bases.keep(pack, offset, found)
        return found

    def _read_loose(self, object_id: bytes, limit: int) -> GitObject | None:
        deflated = self._folder.read(self._loose_path(object_id), MAX_OBJECT)
        if deflated is None:
            return None
        kind, size, start = _loose_head(deflated)
        if size > MAX_OBJECT:
            raise Damaged(f"it has over {MAX_OBJECT} bytes")
        if size > limit:
            raise TooLarge(_TOO_LARGE % (size, limit))
        return GitObject(kind, inflate(deflated, start + size)[start:])

    def blob_size(self, object_id: bytes) -> int:
        """Return the size of a blob without reading all of it. Raises Unavailable."""
        try:
            place = self._locate(object_id)
            if place is not None:
                pack, offset = place
                entry = pack.entry(offset, most=_HEAD)
                return entry.size if entry.kind is not None else size_after(entry.data)
            head = self._folder.read(self._loose_path(object_id), 4 * _HEAD)
            if head is not None:
                return _loose_head(head)[1]
        except (Damaged, LeadsAway) as error:
            raise Unavailable(f"the object {object_id.hex()} cannot be read: {error}") from None
        # It may be in a new pack, or nowhere.
        return len(self.read(object_id).data)

    def read_blob(self, object_id: bytes, limit: int = MAX_OBJECT) -> bytes:
        """Return the content of a file. Raises Unavailable, and TooLarge if it has more than `limit` bytes."""
        found = self.read(object_id, limit)
        if found.kind != BLOB:
            raise Unavailable(f"the object {object_id.hex()} is no blob")
        return found.data

    def find_by_prefix(self, prefix: str) -> list[bytes]:
        """Return the ids that begin with these lower-case hexadecimal digits, sorted; more than two only in part.

        Raises Unavailable.
        """
        try:
            self._find_packs()
            names = self._folder.names(b"objects/" + prefix[:2].encode())
        except LeadsAway as error:
            raise Unavailable(f"{str(error)!r} in the repository is a link or cannot be read") from None
        found = {one for pack in self._packs.values() for one in pack.find_by_prefix(prefix)}
        for name in names:
            full = prefix[:2] + os.fsdecode(name)
            if full.startswith(prefix) and re.fullmatch(rf"[0-9a-f]{{{2 * self.id_bytes}}}", full):
                found.add(bytes.fromhex(full))
        return sorted(found)


def _loose_head(deflated: bytes) -> tuple[str, int, int]:
    """Return kind and size of an object in a file of its own, and where its data begins. Raises Damaged."""
    match = _LOOSE_HEAD.match(inflate(deflated, _HEAD, at_most=True))
    if match is None:
        raise Damaged("a file that is no object")
    return match[1].decode(), int(match[2]), match.end()
