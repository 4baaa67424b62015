"""The loop of a search: order, and what happens when the sink wants no more."""

from hypothesis import given
from hypothesis import strategies as st

from zeno.files.tree import Tree
from zeno.meter import Meter
from zeno.search.corpus import Query, SearchedFile, Skipped, Wish
from zeno.search.line_view import LineView
from zeno.search.loop import MayMatch, SearchFiles, merge, search
from zeno.text.regex import searcher


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
    query = Query("needle", False, True, searcher("needle", "pattern", literal=True), 50)
    with Tree(str(root)) as tree:
        skipped = search(tree, SearchFiles([*files, "gone"]), query, sink, meter)
    return sink.paths, skipped, meter.files_scanned


def test_files_that_may_match_come_in_order_and_the_others_are_counted(root):
    paths, skipped, scanned = run(root, Taker(9, Wish.COUNT))
    assert paths == ["a", "c"]
    assert (skipped, scanned) == ({"binary": 2, "large": 1, "unreadable": 1}, 3)
    assert skipped.named == [("f", "large"), ("gone", "unreadable")]


def test_a_sink_that_only_counts_gets_no_more_files_but_all_are_counted(root):
    paths, skipped, scanned = run(root, Taker(1, Wish.COUNT))
    assert paths == ["a"]
    assert (skipped, scanned) == ({"binary": 2, "large": 1, "unreadable": 1}, 3)


def test_a_sink_that_wants_nothing_ends_the_search(root):
    paths, skipped, scanned = run(root, Taker(1, Wish.STOP))
    assert (paths, skipped, scanned) == (["a"], {}, 1)
    assert run(root, Taker(0, Wish.STOP)) == ([], {}, 0)


@given(
    sources=st.lists(st.lists(st.integers(0, 99), unique=True).map(sorted), max_size=5),
    unheld=st.lists(st.integers(100, 199), unique=True).map(sorted),
)
def test_sources_and_files_on_disk_are_merged_in_the_order_of_paths(sources, unheld):
    lines = LineView(b"text\n")
    # Different sources have different files.
    named = [[f"{number:03}-{index}" for number in source] for index, source in enumerate(sources)]
    on_disk = sorted(f"{number - 100:03}-x" for number in unheld)
    pending = [(paths[0], iter([MayMatch(path, lines) for path in paths])) for paths in sorted(named) if paths]
    found = list(merge(iter(pending), on_disk))
    assert [one.path for one in found] == sorted([*(path for paths in named for path in paths), *on_disk])
    assert {one.path for one in found if one.lines is None} == set(on_disk)
