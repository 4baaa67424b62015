"""A corpus that walks and reads the disk for every request. It keeps nothing between requests."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import repeat

from zeno.files.tree import Tree
from zeno.files.walk import runs
from zeno.meter import Meter
from zeno.search.corpus import Found, Query, planned_for
from zeno.search.disk_reader import WORTH_READING, Reader
from zeno.search.fork_helper import PART, Halves, possible
from zeno.search.line_view import Lines
from zeno.search.selection import Candidates, Rules, select

# With fewer files a second process costs more than it saves.
SHARED_FROM = 1000


class ColdCorpus:
    """Walks and reads anew for every request."""

    def __init__(self, tree: Tree, *, shared_from: int = SHARED_FROM, part: int = PART) -> None:
        self.tree = tree
        self._shared_from = shared_from
        self._part = part

    def candidates(self, rules: Rules, start: str = "") -> Candidates:
        """Walk the tree."""
        walked = runs(
            self.tree,
            include_hidden=rules.include_hidden,
            exclude_dirs=frozenset(rules.exclude_dirs),
            gitignore=rules.gitignore,
            start=start,
        )
        return select(walked, rules, start)

    def search(self, paths: Sequence[str], query: Query, meter: Meter, skipped: "Counter[str]") -> Iterator[Found]:
        """Read each file, and ask RE2 about the lines that one pass over its text does not rule out."""
        planned = planned_for(query)
        with ExitStack() as stack:
            reader = stack.enter_context(Reader(self.tree, query.max_bytes, planned, meter, skipped))
            glimpses: Iterator[int | None] = repeat(None)
            # Where nothing can be ruled out at a glance, another process could not spare us a file.
            if len(paths) >= self._shared_from and planned.scan is not None and possible():
                halves = stack.enter_context(
                    Halves(
                        len(paths),
                        lambda index: reader.glimpse(paths[index]),
                        self._part,
                        lambda: not reader.doubtful(),
                    )
                )
                glimpses = halves.told()
            enough = False
            for path, size in zip(paths, glimpses, strict=False):
                if size is not None and size != WORTH_READING:
                    reader.count(size, whole=not enough)
                    continue
                text = reader.text(path, whole=not enough)
                if text is not None:
                    lines = Lines(text)
                    yield Found(path, lines, lines.matching(query.matches, planned.scan))
                    enough = not lines.asked

    def idle(self) -> bool:
        """There is nothing to prepare."""
        return False

    def close(self) -> None:
        """There is nothing to let go of."""
