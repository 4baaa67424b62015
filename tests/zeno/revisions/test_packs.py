"""Objects are found in the index of a pack, however their ids are spread."""

import hashlib
import os
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from zeno.revisions.packs import IndexParts, Pack


def write_index(path: Path, offsets: dict[bytes, int]) -> None:
    """Write an index of version 2 with these objects."""
    ids = sorted(offsets)
    counts = [sum(one[0] <= byte for one in ids) for byte in range(256)]
    large = [offsets[one] for one in ids if offsets[one] >= 1 << 31]
    places = [1 << 31 | large.index(at) if (at := offsets[one]) >= 1 << 31 else at for one in ids]
    parts = [b"\xfftOc\0\0\0\2", *(count.to_bytes(4, "big") for count in counts), *ids, bytes(4 * len(ids))]
    parts += [*(place.to_bytes(4, "big") for place in places), *(at.to_bytes(8, "big") for at in large), bytes(40)]
    path.write_bytes(b"".join(parts))


@given(
    first=st.sampled_from([0, 7, 255]),
    even=st.integers(0, 400),
    crowd=st.integers(0, 200),
    where=st.integers(0, 0xFFFF),
    absent=st.lists(st.binary(min_size=19, max_size=19), max_size=10),
    kept=st.booleans(),
)
def test_an_object_is_found_by_its_id_and_no_other_is(
    first: int, even: int, crowd: int, where: int, absent: list[bytes], kept: bool
) -> None:
    spread = [hashlib.sha1(b"%d" % number).digest()[1:] for number in range(even)]
    # Ids that someone chose stand close together.
    close = [where.to_bytes(2, "big") + hashlib.sha1(b"%d" % number).digest()[:17] for number in range(crowd)]
    ids = [bytes([first]) + rest for rest in (*spread, *close)]
    offsets = {one: 12 + 7 * number + (number % 3 == 0) * (1 << 33) for number, one in enumerate(ids)}
    with TemporaryDirectory() as folder:
        write_index(Path(folder, "idx"), offsets)
        Path(folder, "pack").touch()
        index, data = (os.open(Path(folder, name), os.O_RDONLY) for name in ("idx", "pack"))
        pack = Pack(index, data, 20, IndexParts() if kept else None)
        asked = [*offsets, *(bytes([byte]) + rest for rest in (*absent, *close[:3]) for byte in (first, 9))]
        assert [pack.find(one) for one in asked] == [offsets.get(one) for one in asked]
        pack.close()


def test_an_id_that_begins_inside_another_one_is_not_taken_for_it(tmp_path: Path) -> None:
    one = bytes([1]) * 10 + bytes([2]) * 10
    other = bytes([1]) * 5 + one[:15]
    write_index(tmp_path / "idx", {one: 12, other: 13})
    (tmp_path / "pack").touch()
    index, data = (os.open(tmp_path / name, os.O_RDONLY) for name in ("idx", "pack"))
    pack = Pack(index, data, 20, IndexParts())
    assert (pack.find(one), pack.find(other), pack.find(one[5:] + other[:5])) == (12, 13, None)
    pack.close()
