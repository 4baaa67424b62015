"""Zip archives: members are read one by one, a broken one is one unreadable row."""

import io
import struct
import zipfile

import contract_spec as spec
import pytest

from normalizer.containers.readers.archives import ArchiveReader, _refuse_bomb, _refuse_dense
from normalizer.containers.readers.rows import UnreadableContainer


def packed(members, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def read(data, **options):
    reader = ArchiveReader(io.BytesIO(data), **{"members": "samples/*.json", "document": ["header.json"], **options})
    return list(reader.rows()), reader


def test_members_that_the_glob_names_are_rows_and_one_describes_the_run():
    rows, reader = read(packed({"samples/a.json": '{"n":1}', "samples/b.json": "{", "header.json": '{"e":2}', "x": ""}))
    assert [(row.member, row.value, bool(row.problem)) for row in rows] == [
        ("samples/a.json", {"n": "1"}, False),
        ("samples/b.json", None, True),
    ]
    assert reader.document == {"e": "2"}


def test_nan_in_the_member_that_describes_the_run_is_nothing_and_no_name():
    [row], reader = read(packed({"samples/a.json": '{"n":NaN}', "header.json": '{"model":NaN}'}), nan=True)
    assert (reader.document, row.value) == ({"model": None}, {"n": "NaN"})


def test_lines_of_a_member_are_rows():
    rows, _ = read(packed({"a.jsonl": '{"n":1}\n{"n":2}\n', "b.jsonl": "{\n"}), members="*.jsonl", each="jsonl")
    assert [(row.member, row.pointer, bool(row.problem)) for row in rows] == [
        ("a.jsonl", "/0", False),
        ("a.jsonl", "/1", False),
        ("b.jsonl", "/0", True),
    ]


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_a_member_that_unpacks_to_far_more_is_unreadable(method):
    bomb = b'{"a":"' + b"a" * (2 << 20) + b'"}'
    rows, _ = read(packed({"samples/a.json": bomb, "samples/b.json": '{"n":2}'}, method))
    assert [row.problem[:31] for row in rows] == ["the member unpacks from " + rows[0].problem[24:31], ""]
    assert rows[0].raw == b""
    with pytest.raises(UnreadableContainer, match="unpacks from"):
        read(packed({"samples/b.json": "{}", "header.json": bomb}, method))


def test_how_far_members_may_unpack_is_a_rule():
    limit = spec.resource("rules/reading_limits.json")["max_unpacked"]
    size = (2 << 20) * limit
    for times in (limit, limit + 1):
        info = zipfile.ZipInfo("a")
        info.file_size, info.compress_size = (2 << 20) * times, 2 << 20
        if times == limit:
            _refuse_bomb(info)
            _refuse_dense(size, io.BytesIO(bytes(2 << 20)))
        else:
            with pytest.raises(UnreadableContainer, match=f"more than {limit} times"):
                _refuse_bomb(info)
            with pytest.raises(UnreadableContainer, match=f"more than {limit} times"):
                _refuse_dense(size + 1, io.BytesIO(bytes(2 << 20)))


def test_many_small_members_that_unpack_to_far_more_make_the_archive_unreadable():
    dense = b'{"a":"' + b"a" * (1 << 20) + b'"}'
    members = {f"samples/{number}.json": dense[: 1 << 20] for number in range(65)}
    with pytest.raises(UnreadableContainer, match="the archive unpacks from"):
        read(packed(members))


def test_members_that_share_their_bytes_count_each():
    data = packed({"samples/a.json": b'{"a":"' + b"a" * 1_000_000 + b'"}'})
    central, end = data.rindex(b"PK\x01\x02"), data.rindex(b"PK\x05\x06")
    entry, count = data[central:end], 100
    tail = bytearray(data[end:])
    struct.pack_into("<HHI", tail, 8, count, count, len(entry) * count)
    with pytest.raises(UnreadableContainer, match="the archive unpacks from"):
        read(data[:central] + entry * count + bytes(tail))


@pytest.mark.parametrize("each", ["document", "jsonl"])
def test_a_member_compressed_by_lzma_is_not_unpacked(each):
    data = bytearray(packed({"samples/a.json": '{"n":1}'}, zipfile.ZIP_LZMA))
    struct.pack_into("<I", data, 30 + len("samples/a.json") + 5, 0xFFFFFFF0)  # a dictionary of 4 GB
    rows, _ = read(bytes(data), each=each)
    assert [row.problem for row in rows] == [
        "the member is compressed by method 14, which is not read: pack it by deflate"
    ]


def test_a_description_that_is_nested_too_deep_makes_the_archive_unreadable():
    with pytest.raises(UnreadableContainer, match=r"header\.json cannot be read: it is nested deeper than 256"):
        read(packed({"samples/a.json": "{}", "header.json": "[" * 100_000}, zipfile.ZIP_STORED))


def test_a_member_with_other_bytes_than_its_checksum_is_unreadable():
    data = packed({"samples/a.json": '{"n":1}', "samples/b.json": '{"n":2}'}, zipfile.ZIP_STORED)
    rows, _ = read(data.replace(b'{"n":1}', b'{"n":9}'))
    assert [bool(row.problem) for row in rows] == [True, False]


@pytest.mark.parametrize("data", [b"PK\x03\x04junk", packed({"other": "1"})], ids=["no archive", "no such member"])
def test_what_is_no_archive_or_has_no_such_member_says_so(data):
    with pytest.raises(UnreadableContainer):
        read(data)


def test_members_compressed_by_zstandard_are_read():
    zstandard = pytest.importorskip("zstandard")
    text = b'{"n":1}' * 1
    data = bytearray(packed({"samples/a.json": zstandard.compress(text)}, zipfile.ZIP_STORED))
    _say_zstandard(data, text)
    rows, _ = read(bytes(data))
    assert [(row.problem, row.value) for row in rows] == [("", {"n": "1"})]


def _say_zstandard(data, text):
    """Give a stored member the method number, size and checksum of a compressed one."""
    import zlib

    central = data.rindex(b"PK\x01\x02")
    for at, method, crc, size in ((0, 8, 14, 22), (central, 10, 16, 24)):
        struct.pack_into("<H", data, at + method, 93)
        struct.pack_into("<I", data, at + crc, zlib.crc32(text))
        struct.pack_into("<I", data, at + size, len(text))


def many_lines(count):
    return "".join(
        f'{{"n":{number},"text":"{number * 7919 % 99991} of {number * 104729 % 99991}"}}\n' for number in range(count)
    )


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("each", ["jsonl", "csv"])
def test_a_large_member_is_streamed_with_the_same_rows(method, each):
    text = many_lines(60_000)
    if each == "csv":
        text = "n,text\n" + "".join(f"{number},word {number}\n" for number in range(100_000))
    assert len(text) > 1 << 20
    rows, _ = read(packed({"a.txt": text}, method), members="*.txt", each=each)
    assert len(rows) == (100_000 if each == "csv" else 60_000)
    assert not any(row.problem for row in rows)
    head = "n,text\n" if each == "csv" else ""
    assert head + "\n".join(row.raw.decode() for row in rows) + "\n" == text


def test_a_damaged_large_member_gives_no_row_but_that_it_is_damaged():
    text = many_lines(60_000)
    data = packed({"a.jsonl": text, "b.jsonl": '{"n":1}\n'}, zipfile.ZIP_STORED)
    damaged = data.replace(b'{"n":59999,', b'{"n":58888,')
    assert damaged != data
    rows, _ = read(damaged, members="*.jsonl", each="jsonl")
    assert [(row.member, bool(row.problem)) for row in rows] == [("a.jsonl", True), ("b.jsonl", False)]


def test_a_member_that_unpacks_to_very_much_more_is_not_followed():
    rows, _ = read(packed({"a.jsonl": "1\n" * (8 << 20)}), members="*.jsonl", each="jsonl")
    assert ["more than 200 times as many" in row.problem for row in rows] == [True]
