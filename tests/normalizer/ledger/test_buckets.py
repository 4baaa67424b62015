"""The files that lines lie in: a function of the lines, however they come, as the plain definition has it."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normalizer.ledger import buckets
from normalizer.ledger.buckets import Chunk, LinePlace, chunks, place_named, split

LIMIT = 400


@pytest.fixture(autouse=True)
def _small_buckets(monkeypatch):
    monkeypatch.setattr(buckets, "BUCKET_BYTES", LIMIT)


def record(sha256: str, index: int, size: int) -> bytes:
    """A line of records with a hash, an index and some content."""
    source = f'{{"bundle_sha256":"{sha256}","index":{index},"x":"{"x" * size}"}}'
    return f'{{"record_id":"{"0" * 32}","source":{source}}}\n'.encode()


def defined(lines: list[tuple[str, bytes]], prefix: str = "") -> Iterator[tuple[LinePlace, bytes]]:
    """The files of lines with their hashes, as the definition says."""
    mine = [(sha256, line) for sha256, line in lines if sha256.startswith(prefix)]
    if sum(len(line) for _, line in mine) <= LIMIT:
        if mine or not prefix:
            yield LinePlace("records", prefix), b"".join(line for _, line in mine)
    elif len(prefix) < 64:
        for digit in "0123456789abcdef":
            yield from defined(mine, prefix + digit)
    else:
        start = 0
        while start < len(mine):
            stop = start + 1
            while stop < len(mine) and sum(len(line) for _, line in mine[start:stop]) < LIMIT:
                stop += 1
            first = int(mine[start][1].split(b'"index":')[1].split(b",")[0]) if start else 0
            yield LinePlace("records", prefix, first), b"".join(line for _, line in mine[start:stop])
            start = stop


HASHES = st.tuples(st.sampled_from(["a", "ab", "abc", "b", "00"]), st.sampled_from("0123")).map(
    lambda parts: "".join(parts).ljust(64, "7")
)
BUNDLES = st.dictionaries(HASHES, st.lists(st.integers(0, 150), min_size=1, max_size=12), max_size=12)


@given(BUNDLES, st.integers(1, 300))
@settings(max_examples=150)
def test_lines_are_split_as_defined_however_they_are_put_together(bundles, chunk):
    lines = [
        (sha256, record(sha256, 3 * index, size))
        for sha256, sizes in sorted(bundles.items())
        for index, size in enumerate(sizes)
    ]
    expected = list(defined(lines))
    by_line = (Chunk(sha256, line) for sha256, line in lines)
    assert list(split("records", "", by_line)) == expected
    buckets_chunk, buckets._CHUNK = buckets._CHUNK, chunk
    try:
        assert list(split("records", "", chunks("records", [line for _, line in lines]))) == expected
    finally:
        buckets._CHUNK = buckets_chunk
    assert b"".join(data for _, data in expected) == b"".join(line for _, line in lines)
    names = [place for place, _ in expected]
    assert names == sorted(names)
    assert [place_named(place.name) for place in names] == names


@given(BUNDLES, HASHES, st.integers(1, 3))
@settings(max_examples=100)
def test_what_is_below_a_prefix_is_split_as_within_the_whole(bundles, sha256, length):
    prefix = sha256[:length]
    lines = [
        (each, record(each, index, size)) for each, sizes in sorted(bundles.items()) for index, size in enumerate(sizes)
    ]
    content = (Chunk(each, line) for each, line in lines if each.startswith(prefix))
    assert list(split("records", prefix, content)) == list(defined(lines, prefix))


STRANGE = ["records", "records.json", "records-.jsonl", "records-g.jsonl", "records.0.jsonl", "records-0.01.jsonl"]
STRANGE += [f"records-{'0' * 65}.jsonl", "commit.json", "../records.jsonl", "records.jsonl\n"]


@pytest.mark.parametrize("name", STRANGE)
def test_other_names_are_no_files_of_lines(name):
    assert place_named(name) is None
