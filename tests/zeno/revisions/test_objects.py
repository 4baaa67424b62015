"""Objects are read as git wrote them, packed or not, and a damaged one is never shown."""

import hashlib
import os
import tracemalloc
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.repositories import commit, git, init
from zeno.files.sealed_folder import SealedFolder
from zeno.revisions import objects as module
from zeno.revisions import packs
from zeno.revisions.differences import Damaged, apply_difference, inflate, size_after
from zeno.revisions.objects import Objects, TooLarge, Unavailable


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with packs of differences by offset and by id, the latter with an index of version 1, and objects
    in files of their own."""
    folder = init(tmp_path_factory.mktemp("objects") / "r")
    for number in range(12):
        for name in "abc":
            lines = [f"{name} line {line} {'x' * (line % 7)}\n" for line in range(400) if line % 12 != number]
            (folder / f"{name}.txt").write_text("".join(lines))
        (folder / "empty").write_bytes(b"")
        (folder / "large.bin").write_bytes(bytes(range(256)) * (300 + number))
        commit(folder)
        if number == 4:
            git(folder, "repack", "-a", "-d", "-f", "-q", "--depth=50", "--window=50")
        if number == 8:
            old = ("-c", "repack.useDeltaBaseOffset=false", "-c", "pack.indexVersion=1")
            git(folder, *old, "repack", "-d", "-q")
    return folder


def everything(repository: Path) -> list[tuple[str, str, int]]:
    listed = git(repository, "cat-file", "--batch-all-objects", "--batch-check").decode().split("\n")[:-1]
    return [(line.split()[0], line.split()[1], int(line.split()[2])) for line in listed]


def objects_of(repository: Path, digest: str = "sha1") -> Objects:
    return Objects(SealedFolder.at(os.fsencode(repository / ".git")), digest)


@pytest.mark.parametrize(("index", "parts", "block"), [(1 << 23, 1 << 24, 1 << 16), (1 << 23, 50, 0), (0, 0, 100)])
def test_every_object_is_read_as_git_reads_it(
    repository: Path, index: int, parts: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, limit in (("_MAX_INDEX", index), ("_MAX_PARTS", parts), ("_MAX_KEPT_BLOCK", block)):
        monkeypatch.setattr(packs, name, limit)
    objects = objects_of(repository)
    listed = everything(repository)
    for object_id, kind, size in listed:
        found = objects.read(bytes.fromhex(object_id))
        assert (found.kind, len(found.data)) == (kind, size)
        if kind == "blob":
            assert objects.blob_size(bytes.fromhex(object_id)) == size
        for digits in (10, 39):
            assert objects.find_by_prefix(object_id[:digits]) == [bytes.fromhex(object_id)]
    assert len(listed) > 60
    with pytest.raises(Unavailable):
        objects.read(hashlib.sha1(b"none", usedforsecurity=False).digest())
    assert objects._parts._size <= parts
    assert sorted(pack._stride for pack in objects._packs.values()) == [20, 24]
    objects.close()


def test_objects_packed_after_the_start_are_found(tmp_path: Path) -> None:
    folder = init(tmp_path / "r")
    objects = objects_of(folder)
    (folder / "a.txt").write_text("one\n")
    commit(folder)
    git(folder, "gc", "-q")
    blob = bytes.fromhex(git(folder, "rev-parse", "HEAD:a.txt").decode().strip())
    assert objects.blob_size(blob) == 4
    assert objects.read_blob(blob) == b"one\n"
    objects.close()


def test_a_changed_byte_is_told_and_never_shown(repository: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    git(tmp_path, "clone", "-q", "--no-local", "--bare", str(repository), str(copy))
    pack = next((copy / "objects" / "pack").glob("*.pack"))
    data = bytearray(pack.read_bytes())
    pack.chmod(0o644)
    ids = [bytes.fromhex(one) for one, _, _ in everything(repository)]
    whole = objects_of(repository)
    sound = {one: whole.read(one) for one in ids}
    refused = 0
    for at in range(12, len(data), max(1, len(data) // 60)):
        damaged = bytearray(data)
        damaged[at] ^= 0x55
        pack.write_bytes(damaged)
        objects = Objects(SealedFolder.at(os.fsencode(copy)), "sha1")
        for one in ids:
            try:
                assert objects.read(one) == sound[one]
            except Unavailable:
                refused += 1
        objects.close()
    assert refused > 30


def test_an_object_in_a_file_of_its_own_that_is_another_is_refused(tmp_path: Path) -> None:
    folder = init(tmp_path / "r")
    (folder / "a.txt").write_text("one\n")
    commit(folder)
    blob = git(folder, "rev-parse", "HEAD:a.txt").decode().strip()
    path = folder / ".git" / "objects" / blob[:2] / blob[2:]
    path.chmod(0o644)
    objects = objects_of(folder)
    for content in (b"blob 4\0two\n", b"blob 5\0one\n", b"blob 4\0one", b"tree 4\0one\n", b"x", b"blob 99999999999\0"):
        path.write_bytes(zlib.compress(content))
        with pytest.raises(Unavailable):
            objects.read_blob(bytes.fromhex(blob))
    path.write_bytes(b"no deflated data")
    with pytest.raises(Unavailable):
        objects.blob_size(bytes.fromhex(blob))
    objects.close()


def test_little_data_that_inflates_to_much_is_cut_off() -> None:
    assert len(inflate(zlib.compress(bytes(1 << 26)), 100)) == 100
    with pytest.raises(Damaged):
        inflate(zlib.compress(b"abc"), 4)


def most_memory(run: Callable[[], object]) -> int:
    """Return the bytes that a call holds at its peak."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_difference_that_copies_more_than_it_states_is_refused_before_it_fills_memory() -> None:
    base = bytes((1 << 16) + 1)
    difference = _number(len(base)) + _number(100) + b"\x80" * 1000

    def apply() -> None:
        with pytest.raises(Damaged, match="another size"):
            apply_difference(base, difference)

    assert most_memory(apply) < 1 << 20


def one_in_a_pack(tmp_path: Path, object_id: bytes, entries: list[bytes]) -> Objects:
    """Return the objects of a repository with a pack of these entries; the last is said to be the object."""
    folder = init(tmp_path / "r")
    at = 12 + sum(map(len, entries[:-1]))
    counts = b"".join(int(first >= object_id[0]).to_bytes(4, "big") for first in range(256))
    index = b"\xfftOc\0\0\0\2" + counts + object_id + bytes(4) + at.to_bytes(4, "big") + bytes(40)
    for name, data in (("idx", index), ("pack", b"PACK" + bytes(8) + b"".join(entries))):
        (folder / ".git" / "objects" / "pack" / f"pack-00.{name}").write_bytes(data)
    return objects_of(folder)


def test_differences_that_lead_to_themselves_do_not_fill_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_OBJECT", 1 << 16)
    object_id = hashlib.sha1(b"x", usedforsecurity=False).digest()
    difference = _number(9) + _number(9) + bytes(10_000)
    objects = one_in_a_pack(tmp_path, object_id, [_entry(7, len(difference)) + object_id + zlib.compress(difference)])

    def read() -> None:
        with pytest.raises(Unavailable, match="the differences that lead to it"):
            objects.read(object_id)

    assert most_memory(read) < 1 << 20
    objects.close()


def test_a_chain_that_makes_a_large_object_again_and_again_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bytes(1 << 16)
    size = _number(len(data))
    same = size + size + b"\x80"
    packed = zlib.compress(same)
    link = _entry(6, len(same))
    entries = [_entry(3, len(data)) + zlib.compress(data)]
    for _ in range(60):
        back = len(entries[-1])
        assert back < 128
        entries.append(link + bytes([back]) + packed)
    object_id = hashlib.sha1(b"blob 65536\0" + data, usedforsecurity=False).digest()
    monkeypatch.setattr(module, "_MAX_WORK", 60)
    objects = one_in_a_pack(tmp_path, object_id, entries)
    monkeypatch.setattr(module, "MAX_OBJECT", 1 << 17)
    assert objects.read_blob(object_id) == data
    objects.close()
    monkeypatch.setattr(module, "_MAX_WORK", 29)
    objects = objects_of(tmp_path / "r")
    with pytest.raises(Unavailable, match="take too long"):
        objects.read_blob(object_id)
    objects.close()


def test_a_difference_of_many_small_steps_takes_no_more_memory_than_its_object() -> None:
    difference = _number(0) + _number(200_000) + b"\x02ab" * 100_000
    assert most_memory(lambda: apply_difference(b"", difference)) < 1 << 20


@pytest.mark.parametrize("packed", [False, True])
def test_an_object_that_is_too_large_is_not_inflated(tmp_path: Path, packed: bool) -> None:
    folder = init(tmp_path / "r")
    (folder / "zeros").write_bytes(bytes(1 << 24))
    commit(folder)
    if packed:
        git(folder, "gc", "-q")
    blob = bytes.fromhex(git(folder, "rev-parse", "HEAD:zeros").decode().strip())
    objects = objects_of(folder)

    def read() -> None:
        with pytest.raises(TooLarge):
            objects.read_blob(blob, 1000)

    assert most_memory(read) < 1 << 20
    assert objects.read_blob(blob) == bytes(1 << 24)
    objects.close()


def test_a_link_among_the_objects_is_told_where_an_id_is_cut_short(tmp_path: Path) -> None:
    folder = init(tmp_path / "r")
    (folder / ".git" / "objects" / "ab").symlink_to("/etc")
    objects = objects_of(folder)
    with pytest.raises(Unavailable, match="'objects/ab' in the repository is a link"):
        objects.find_by_prefix("abcdef0123")
    objects.close()


@given(base=st.binary(max_size=300), data=st.data())
@settings(deadline=None)
def test_a_difference_is_applied_as_it_is_defined(base: bytes, data: st.DataObject) -> None:
    steps = st.one_of(
        st.binary(min_size=1, max_size=127),
        st.tuples(st.integers(0, len(base)), st.integers(1, max(1, len(base)))),
    )
    wanted, code = b"", b""
    for step in data.draw(st.lists(steps, max_size=8)):
        if isinstance(step, bytes):
            wanted += step
            code += bytes([len(step)]) + step
        else:
            place, length = step
            length = min(length, len(base) - place)
            if length > 0:
                wanted += base[place : place + length]
                numbers = place.to_bytes(4, "little") + length.to_bytes(3, "little")
                code += bytes([0xFF]) + numbers
    difference = _number(len(base)) + _number(len(wanted)) + code
    assert apply_difference(base, difference) == wanted
    assert size_after(difference) == len(wanted)


@given(base=st.binary(max_size=40), difference=st.binary(max_size=40))
@settings(deadline=None)
def test_a_difference_of_any_bytes_is_applied_or_refused(base: bytes, difference: bytes) -> None:
    with suppress(Damaged):
        assert len(apply_difference(base, difference)) == size_after(difference)


def _entry(kind: int, size: int) -> bytes:
    """Return the head of an entry of a pack."""
    return bytes([0x80 | kind << 4 | size & 15]) + _number(size >> 4)


def _number(value: int) -> bytes:
    found = b""
    while value > 0x7F:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])


@pytest.mark.parametrize("steps", [b"\x06abcde", b"\x91\x01\x09\x02ab", b"\x91\x01", b"\x92", b"\x00", b"\x05abcdefg"])
def test_a_difference_that_promises_more_than_there_is_is_refused(steps: bytes) -> None:
    with pytest.raises(Damaged):
        apply_difference(b"base", b"\x04\x05" + steps)
