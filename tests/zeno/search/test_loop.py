"""The loop of a search: order, and what happens when the sink wants no more."""

from zeno.files.tree import Tree
from zeno.meter import Meter
from zeno.search.loop import SearchFiles, search
from zeno.search.query import Query
from zeno.search.sink import SearchedFile, Skipped, Wish


class Taker:
    """A sink that changes its wish after so many files."""

    def __init__(self, enough: int, then: Wish) -> None:
        self._enough, self._then = enough, then
        self.paths: list[str] = []

    @property
    def wish(self) -> Wish:
        return self._then if len(self.paths) >= self._enough else Wish.MORE

    def take(self, found: SearchedFile) -> None:
        self.paths.append(found.path)


def run(root, sink: Taker) -> tuple[list[str], Skipped, int]:
    files = {"a": b"needle", "b": b"bin\0", "c": b"needle", "d": b"hay", "e": b"bin\0", "f": b"x" * 99}
    for name, data in files.items():
        (root / name).write_bytes(data)
    meter = Meter()
    query = Query("needle", "pattern", 50, meter)
    with Tree(str(root)) as tree:
        skipped = search(tree, SearchFiles([*files, "gone"]), query, sink, meter)
    return sink.paths, skipped, meter.files_scanned


def test_files_that_may_match_come_in_order_and_the_others_are_counted(root):
    paths, skipped, scanned = run(root, Taker(9, Wish.COUNT))
    assert paths == ["a", "c"]
    assert (skipped, scanned) == ({"binary": 2, "large": 1, "unreadable": 1}, 3)
    assert skipped.first_paths == [("f", "large"), ("gone", "unreadable")]


def test_a_sink_that_only_counts_gets_no_more_files_but_all_are_counted(root):
    paths, skipped, scanned = run(root, Taker(1, Wish.COUNT))
    assert paths == ["a"]
    assert (skipped, scanned) == ({"binary": 2, "large": 1, "unreadable": 1}, 3)


def test_a_sink_that_wants_nothing_ends_the_search(root):
    paths, skipped, scanned = run(root, Taker(1, Wish.STOP))
    assert (paths, skipped, scanned) == (["a"], {}, 1)
    assert run(root, Taker(0, Wish.STOP)) == ([], {}, 0)
