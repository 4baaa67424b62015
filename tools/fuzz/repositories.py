"""Targets that read a repository of others: differences, objects out of packs and files, names of commits."""

import hashlib
import os
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path

from tools.fuzz.target import Target, make_folder, text_of
from zeno.files.sealed_folder import SealedFolder
from zeno.revisions.differences import Damaged, apply_difference
from zeno.revisions.objects import Objects, Unavailable
from zeno.revisions.refs import Refs, Unknown
from zeno.revisions.trees import Trees, parse_tree

_BASE = bytes(range(256)) * 3
_COMMIT = b"tree %040d\nauthor a <a> 1 +0000\ncommitter c <c> 7 +0000\n\nm\n" % 0
_COMMIT_ID = hashlib.sha1(b"commit %d\0" % len(_COMMIT) + _COMMIT, usedforsecurity=False).digest()


def difference(data: bytes) -> None:
    """A difference to another object gives what the documentation of the format says, or is refused."""
    try:
        found = apply_difference(_BASE, data)
    except Damaged:
        found = None
    assert found == _apply_plainly(_BASE, data)


def _apply_plainly(base: bytes, data: bytes) -> bytes | None:
    """Return the object that a difference describes; None if there is none."""
    rest = list(data)
    try:
        sizes = []
        for _ in range(2):
            size = shift = 0
            while True:
                byte = rest.pop(0)
                size += (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            sizes.append(size)
        made = b""
        while rest and len(made) <= sizes[1]:
            code = rest.pop(0)
            if code < 128:
                if code == 0 or len(rest) < code:
                    return None
                made += bytes(rest[:code])
                del rest[:code]
                continue
            given = [rest.pop(0) if code >> bit & 1 else 0 for bit in range(7)]
            place, length = int.from_bytes(given[:4], "little"), int.from_bytes(given[4:], "little") or 0x10000
            if place + length > len(base):
                return None
            made += base[place : place + length]
    except IndexError:
        return None
    return made if sizes == [len(base), len(made)] else None


def objects(data: bytes) -> None:
    """Any bytes as an index, a pack and an object's file: each id that they have is that of the content, or refused."""
    if len(data) < 2:
        return
    pack, cut = data[2 : 2 + data[0]], data[2 + data[0] :]
    name = hashlib.sha1(b"blob 1\0a", usedforsecurity=False).digest()
    counts = b"".join(int(first >= name[0]).to_bytes(4, "big") for first in range(256))
    index = bytearray(b"\xfftOc\0\0\0\2" + counts + name + bytes(4) + (12).to_bytes(4, "big") + bytes(40))
    # A byte of the index is another one.
    for at in cut[:1]:
        index[-at % len(index)] ^= data[1]
    folder = _folder()
    (folder / "objects/pack/pack-00.idx").write_bytes(index)
    (folder / "objects/pack/pack-00.pack").write_bytes(b"PACK" + bytes(8) + pack)
    loose = folder / "objects" / _COMMIT_ID.hex()[:2] / _COMMIT_ID.hex()[2:]
    loose.write_bytes(cut)
    top = SealedFolder.at(os.fsencode(folder))
    found = Objects(top, "sha1")
    try:
        for one in (name, _COMMIT_ID):
            try:
                read = found.read(one)
                assert found.compute_id(read.kind, read.data) == one
                assert read.kind != "blob" or found.blob_size(one) == len(read.data)
                Trees(found).read_commit(one)
            except Unavailable:
                continue
        with suppress(Unavailable):
            assert b"".join(b"%b %b\0%b" % (one.mode, name, one.id) for name, one in parse_tree(cut, 20).items()) == cut
    finally:
        found.close()
        top.close()


def rev(data: bytes) -> None:
    """A name, a reference and packed references of any bytes lead to the one commit that is there, or nowhere."""
    name, _, rest = data.partition(b"\n\n")
    branch, _, packed = rest.partition(b"\n\n")
    folder = _folder()
    (folder / "objects" / _COMMIT_ID.hex()[:2] / _COMMIT_ID.hex()[2:]).write_bytes(
        zlib.compress(b"commit %d\0" % len(_COMMIT) + _COMMIT)
    )
    (folder / "refs/heads/a").write_bytes(branch)
    (folder / "packed-refs").write_bytes(packed)
    top = SealedFolder.at(os.fsencode(folder))
    found = Objects(top, "sha1")
    try:
        refs = Refs(top, top, found)
        assert refs.find(text_of(name)).commit == _COMMIT_ID
        refs.has_match([text_of(name)], _COMMIT_ID)
    except (Unknown, Unavailable):
        pass
    finally:
        found.close()
        top.close()


@cache
def _folder() -> Path:
    """The directory of a repository."""
    folder = make_folder("repository")
    for name in ("objects/pack", f"objects/{_COMMIT_ID.hex()[:2]}", "refs/heads"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/a\n")
    return folder


_BLOB = b"\x31" + zlib.compress(b"a")
_SIZES = b"\x80\x06\x05"
_ID = _COMMIT_ID.hex().encode()
TARGETS = {
    "difference": Target(
        difference,
        (_SIZES + b"\x90\x05", _SIZES + b"\x91\x07\x03\x02ab", _SIZES + b"\xb3\x01\x00\x01\x00", b"\x80\x06\x00"),
        (_SIZES, b"\x91\x01\x02", b"\x92\x01\x04", b"\xf8\x01\x02\x03\x04", b"\x01a", b"\x80", b"\xff" * 8),
        "a case in tests/zeno/revisions/test_objects.py",
    ),
    "objects": Target(
        objects,
        (
            bytes([len(_BLOB), 0]) + _BLOB,
            bytes([len(_BLOB), 1]) + _BLOB + b"\x20",
            b"\0\0" + zlib.compress(b"commit %d\0" % len(_COMMIT) + _COMMIT),
            b"\0\x000100644 a\0" + bytes(20),
        ),
        (_BLOB, zlib.compress(b"blob 3\0abc"), b"100644 a\0", b"40000 b\0", bytes(20), b"\x61\x0c", b"\x71"),
        "a case in tests/zeno/revisions/test_objects.py or test_trees.py",
    ),
    "rev": Target(
        rev,
        (
            b"HEAD\n\n" + _ID + b"\n",
            b"a\n\nref: refs/heads/b\n\n\n" + _ID + b" refs/heads/b\n",
            _ID[:12],
            b"@\n\nref: ../a",
        ),
        (_ID, b"ref: ", b"refs/heads/", b"HEAD", b"..", b"@{", b"^{}", b"-", b"\n\n", b"*", b"\xff", b"\0"),
        "a case in tests/zeno/revisions/test_refs.py",
    ),
}
