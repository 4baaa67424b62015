"""The files of one kind read as one: every line once, cut where a hash begins, and named by file and line."""

import hashlib
from itertools import pairwise

import pytest

from normalizer.checks.joined_files import JoinedFiles
from normalizer.cli import main
from normalizer.ledger.line_format import FILES, sha_slice
from normalizer.ledger.reader import Ledger
from tests.normalizer.batch.test_run import made


@pytest.fixture(scope="module", params=[1 << 22, 1500], ids=["one bucket", "many buckets"])
def ledger(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("joined")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("normalizer.ledger.buckets.BUCKET_BYTES", request.param)
        assert main(["normalize", *map(str, made(folder / "b", 24)), "--out", str(folder / "ledger")]) == 1
    return Ledger(folder / "ledger")


@pytest.mark.parametrize("kind", FILES)
def test_cuts_cover_every_line_and_lie_where_a_hash_begins(ledger, kind):
    joined, where = JoinedFiles(ledger, kind), sha_slice(kind)
    whole = b"".join(path.read_bytes() for path in ledger.paths(kind))
    hashes = [f"{number:02x}" for number in range(0, 256, 5)]
    cuts = joined.cuts(hashes)
    pieces = [b"".join(line for _, line in joined.lines(start, stop)) for start, stop in pairwise(cuts)]
    assert b"".join(pieces) == whole
    for piece, low, high in zip(pieces, ["", *hashes], [*hashes, "g"], strict=True):
        assert all(low.encode() <= line[where] < high.encode() for line in piece.splitlines())


@pytest.mark.parametrize("kind", FILES)
def test_the_lines_of_a_bundle_have_bounds_and_each_line_has_a_name_and_a_number(ledger, kind):
    joined, where = JoinedFiles(ledger, kind), sha_slice(kind)
    hashes = sorted({line[where].decode() for line in ledger.lines(kind)})
    for sha256 in [*hashes, hashlib.sha256(b"none").hexdigest()]:
        found = [line for _, line in joined.lines(*joined.bounds(sha256))]
        assert found == [line for line in ledger.lines(kind) if line[where] == sha256.encode()]
    for offset, line in joined.lines(0, joined.size):
        name, number = joined.place(offset)
        assert (ledger.folder / name).read_bytes().splitlines(keepends=True)[number - 1] == line


def test_a_kind_without_files_has_no_lines(tmp_path):
    joined = JoinedFiles(Ledger(tmp_path), "records")
    assert (joined.cuts(["80"]), joined.bounds("0" * 64), joined.place(0)) == ([0, 0, 0], (0, 0), ("records.jsonl", 1))
