"""Texts in memory and files on disk come in one order."""

from hypothesis import given
from hypothesis import strategies as st

from zeno.cache.located import merge
from zeno.search.sink import LineView, SearchedFile


@given(
    sources=st.lists(st.lists(st.integers(0, 99), unique=True).map(sorted), max_size=5),
    unheld=st.lists(st.integers(100, 199), unique=True).map(sorted),
)
def test_sources_and_files_on_disk_are_merged_in_the_order_of_paths(sources, unheld):
    lines = LineView(b"text\n")
    # Different sources have different files.
    named = [[f"{number:03}-{index}" for number in source] for index, source in enumerate(sources)]
    on_disk = sorted(f"{number - 100:03}-x" for number in unheld)
    pending = [
        (paths[0], iter([SearchedFile(path, lines, iter(())) for path in paths])) for paths in sorted(named) if paths
    ]
    found = list(merge(iter(pending), on_disk))
    paths = [one if isinstance(one, str) else one.path for one in found]
    assert paths == sorted([*(path for paths in named for path in paths), *on_disk])
    assert {one for one in found if isinstance(one, str)} == set(on_disk)
