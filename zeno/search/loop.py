"""The search: one loop over the selected files, in the order of paths.

Texts in memory are scanned by those that hold them; all other files are read from disk, one after the other. Cold and
warm searches are this loop; in a cold one nothing is in memory.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from itertools import islice, repeat

from zeno.errors import Denied, NotAFile, NotFound, OutsideRoot, PermissionDenied
from zeno.files.batch_open import BatchReader, NoBytes
from zeno.files.file_tree import SearchedTree
from zeno.meter import Meter, Scan
from zeno.search.fork_helper import ForkHelper, possible
from zeno.search.query import Query
from zeno.search.sink import LineView, SearchedFile, Sink, Skipped, SkipReason, Wish
from zeno.text.file_lines import BINARY_WINDOW, normal
from zeno.text.path_names import decode_name, raw

# Hardly any file to search is longer; longer ones are read into an object of their own.
ROOM = 1 << 16
# With fewer files a second process costs more than it saves.
SHARED_FROM = 1000
# Number of files that a process claims at a time: small, so that neither waits long for the other at the end.
PART = 64

_REASONS: dict[NoBytes, SkipReason] = {
    NoBytes.BINARY: "binary",
    NoBytes.LARGE: "large",
    NoBytes.UNREADABLE: "unreadable",
    NoBytes.WIDE: "unreadable",
}

Glance = int | NoBytes | None
"""A file as a second process saw it: its size if it cannot match, why it is no text, or None if it may match."""

# A module global, because enum lookups are slow and a search needs one per file.
_UNREADABLE = NoBytes.UNREADABLE


class SearchFiles:
    """The files of a search, and what is known of them without the disk. By default that is nothing."""

    def __init__(self, unheld: Sequence[str] = ()) -> None:
        self.unheld = list(unheld)
        """Files that have to be read from disk, sorted."""
        self.known: set[str] = set()
        """Those of them that are known to be texts of at most `max_bytes`."""
        self.skipped = Skipped()
        """Files that are known not to be searched, by reason."""

    def scan(self, _query: Query, _meter: Meter) -> Iterator[SearchedFile | str]:
        """Return the files that may match, sorted by path; the path alone of a file that has to be read from disk."""
        return iter(self.unheld)


def search(tree: SearchedTree, selected: SearchFiles, query: Query, sink: Sink, meter: Meter) -> Skipped:
    """Give the files that may match to the sink, in the order of paths. Return the files that cannot be searched.

    A second process helps to read many files from disk.

    When the sink only counts, no more is read of a file than it takes to know whether it can be searched.
    """
    skipped = Skipped()
    skipped.add_all(selected.skipped)
    unheld = selected.unheld
    if sink.wish is not Wish.MORE and (sink.wish is Wish.STOP or not unheld):
        return skipped
    read = 0
    with _DiskTexts(tree, query, meter, skipped) as disk:
        disk.share(unheld)
        for file in selected.scan(query, meter):
            if sink.wish is not Wish.MORE:
                break
            if not isinstance(file, str):
                meter.count_file(file.lines.size)
                sink.take(file)
                continue
            read += 1
            found = disk.find(file)
            if found is not None:
                sink.take(found)
        if sink.wish is Wish.COUNT:
            for path in unheld[read:]:
                disk.count(path, known=path in selected.known)
    return skipped


class _DiskTexts:
    """Reads files one after the other, in the order in which they were shared, and counts them by what they are."""

    def __init__(self, tree: SearchedTree, query: Query, meter: Meter, skipped: Skipped) -> None:
        self._tree = tree
        self._query = query
        self._max_bytes = query.max_bytes
        self._plan = query.plan
        self._meter = meter
        self._skipped = skipped
        self._stack = ExitStack()
        self._glances: Iterator[Glance] = repeat(None)

    def __enter__(self) -> "_DiskTexts":
        return self

    def __exit__(self, *_: object) -> None:
        for folder in self._find_doubtful():
            # The directory was moved meanwhile: the text that ruled files out may be from outside the root.
            self._skipped.add(decode_name(folder) + "/", "unreadable")
        self._stack.close()

    def share(self, paths: Sequence[str]) -> None:
        """Let a second process look at these files from their end, if there are enough of them."""
        # If a scan rules nothing out, a second process saves nothing.
        if len(paths) < SHARED_FROM or self._plan.scan is None or not possible():
            return

        def look(some: range) -> list[int | str | None]:
            looks = (self._look(paths[index], check=False) for index in some)
            # A file without a text cannot match.
            return [
                None if text is not None else seen.value if isinstance(seen, NoBytes) else seen for seen, text in looks
            ]

        helper = ForkHelper(len(paths), look, PART, lambda: not self._find_doubtful())
        self._glances = (
            glance
            for some, sent in self._stack.enter_context(helper).results()
            for glance in (
                repeat(None, len(some))
                if sent is None
                else (NoBytes(one) if isinstance(one, str) else one for one in sent)
            )
        )

    def find(self, path: str) -> SearchedFile | None:
        """Count one file and return it with its lines; None where it cannot be searched or cannot match."""
        glance = next(self._glances)
        text = None
        if glance is None:
            glance, text = self._look(path, check=True)
        self._count(path, glance)
        if text is None:
            return None
        lines = LineView(text)
        return SearchedFile(path, lines, lines.find_matches(self._query.matches, self._scan))

    def count(self, path: str, *, known: bool) -> None:
        """Count one file without searching it; nothing of it is read if it is known to be a text."""
        glance = next(self._glances)
        if known:
            return
        if glance is None:
            found = self._opener.fill(raw(path, "path"), self._max_bytes, self._head, whole=False)
            found = self._open(path, whole=False) if found is _UNREADABLE else found
            glance = len(found) if isinstance(found, bytes) else found
        self._count(path, min(glance, BINARY_WINDOW) if isinstance(glance, int) else glance)

    def _count(self, path: str, seen: int | NoBytes) -> None:
        if isinstance(seen, NoBytes):
            self._skipped.add(path, _REASONS[seen])
        else:
            self._meter.count_file(seen)

    # Created with the first file: usually all texts are in memory, and no file is read.

    @cached_property
    def _scan(self) -> Scan | None:
        return self._meter.guard_scan(self._plan.scan, self._query.states)

    @cached_property
    def _opener(self) -> BatchReader:
        return self._stack.enter_context(self._tree.batch_opener())

    @cached_property
    def _head(self) -> bytearray:
        return bytearray(BINARY_WINDOW)

    @cached_property
    def _buffer(self) -> bytearray:
        return bytearray(ROOM)

    def _find_doubtful(self) -> list[bytes]:
        """Return the directories that were moved while their files were read: these count as not read."""
        return self._opener.find_doubtful() if "_opener" in self.__dict__ else []

    def _look(self, path: str, *, check: bool) -> tuple[int | NoBytes, bytes | None]:
        """Read a file without counting it; return its size or why it has no text, and its text if it may match.

        With `check` the text is only given if the file was still in its place after it was read. A file that was not
        is read again from the root.
        """
        found = self._opener.fill(raw(path, "path"), self._max_bytes, self._buffer)
        if isinstance(found, int):
            sift = self._plan.sift
            # Most files match nowhere, and need no normal form.
            if sift is not None and sift(self._buffer, 0, found)[0] < 0:
                return found, None
            found = bytes(memoryview(self._buffer)[:found])
        size, text = self._judge(found)
        if size is _UNREADABLE or (text is not None and check and not self._opener.is_in_place()):
            return self._judge(self._open(path, whole=True))
        return size, text

    def _judge(self, found: bytes | NoBytes) -> tuple[int | NoBytes, bytes | None]:
        """Return the size of a content or why there is none, and its text if something in it may match."""
        if isinstance(found, NoBytes):
            return found, None
        text = normal(found)
        scan = self._plan.scan
        return len(found), None if scan is not None and scan(text, 0, len(text))[0] < 0 else text

    def _open(self, path: str, *, whole: bool) -> bytes | NoBytes:
        """Return the content of a file whose path may hold links, or its beginning; or why it has none."""
        try:
            with self._tree.open(path) as file:
                if file.size > self._max_bytes:
                    return NoBytes.LARGE
                return file.no_text or b"".join(islice(file.chunks(), None if whole else 1))
        except (Denied, NotFound, NotAFile, OutsideRoot, PermissionDenied):
            return _UNREADABLE
