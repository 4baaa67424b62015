"""Counts by directory: how much text is read at most."""

from zeno.files.tree import Tree
from zeno.meter import Meter
from zeno.results.directory_counts import directory_counts
from zeno.search.corpus import ColdCorpus


def test_from_the_first_file_that_is_too_much_text_no_lines_are_counted(tmp_path):
    for name, text in {"a": "1\n", "b": "1\n2\n", "c": "1\n2\n3\n", "d": ""}.items():
        (tmp_path / name).write_text(text)
    with Tree(str(tmp_path)) as tree:
        for room, lines, not_counted in ((12, 6, 0), (11, 3, 2), (6, 3, 2), (5, 1, 3), (1, 0, 4)):
            meter = Meter()
            [top] = directory_counts(["a", "b", "c", "d"], 1, ColdCorpus(tree), meter, room)
            assert (top.path, top.files, top.lines, top.files_not_counted) == (".", 4, lines, not_counted)
            assert meter.bytes_read == 2 * lines


def test_a_file_that_is_gone_is_not_counted(tmp_path):
    (tmp_path / "d").mkdir()
    with Tree(str(tmp_path)) as tree:
        top, below = directory_counts(["d/gone"], 1, ColdCorpus(tree), Meter())
    assert (top.files_not_counted, below.path, below.files, below.lines) == (1, "d", 1, 0)
