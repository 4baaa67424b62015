"""Read files from disk for a search, one after the other."""

from contextlib import ExitStack
from functools import cached_property

from zeno.errors import Denied, NotAFile, NotFound, OutsideRoot, PermissionDenied
from zeno.files.batch_open import BINARY, LARGE, UNREADABLE, UNUSUAL, WIDE, BatchOpener, Content, NoBytes
from zeno.files.tree import Tree
from zeno.meter import Meter
from zeno.search.plan import Plan
from zeno.search.skipped import Skipped, SkipReason
from zeno.text.file_lines import BINARY_WINDOW, normal
from zeno.text.path_names import printed, raw

# Hardly any file to search is longer; longer ones are read into an object of their own.
ROOM = 1 << 16
MAY_MATCH = min(NoBytes) - 1
"""Returned by `Reader.glimpse` in place of a size: the file may match and has to be read."""
_REASONS: dict[int, SkipReason] = {
    int(BINARY): "binary",
    int(LARGE): "large",
    int(UNREADABLE): "unreadable",
    int(WIDE): "unreadable",
}


class Reader:
    """Gives the texts of files that may match, and counts by reason the files that cannot be searched."""

    def __init__(self, tree: Tree, max_bytes: int, planned: Plan, meter: Meter, skipped: Skipped) -> None:
        self._tree = tree
        self._max_bytes = max_bytes
        self._planned = planned
        self._meter = meter
        self._skipped = skipped
        self._stack = ExitStack()

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: object) -> None:
        for folder in self.doubtful():
            # The directory was moved meanwhile: the text that ruled files out may be from outside the root.
            self._skipped.add(printed(folder) + "/", "unreadable")
        self._stack.close()

    def doubtful(self) -> list[bytes]:
        """The directories that were moved while their files were read: these count as not read."""
        if "_opener" not in self.__dict__:
            return []
        self._opener.close()
        return self._opener.doubtful

    # Created with the first file: usually all texts are in memory, and no file is read.

    @cached_property
    def _opener(self) -> BatchOpener:
        return self._stack.enter_context(self._tree.batch_opener())

    @cached_property
    def _head(self) -> bytearray:
        return bytearray(BINARY_WINDOW)

    @cached_property
    def _buffer(self) -> bytearray:
        return bytearray(ROOM)

    def text(self, path: str, *, whole: bool) -> bytes | None:
        """Count one file and return its text; None where it cannot be searched or cannot match.

        With `whole` false the file is only counted, and only its beginning is read.
        """
        size, text = self._look(path, whole=whole, check=True)
        self.count(path, size, whole=whole)
        return text

    def count(self, path: str, size: int, *, whole: bool) -> None:
        """Count a file by what `glimpse` returned for it: its size, or the `NoBytes` that says why it has none."""
        if size >= 0:
            self._meter.scanned(size if whole else min(size, BINARY_WINDOW))
        else:
            self._skipped.add(path, _REASONS[size])

    def glimpse(self, path: str) -> int:
        """Return what is to be counted of a file without a match, and `MAY_MATCH` for one that may have some."""
        size, text = self._look(path, whole=True, check=False)
        return size if text is None else MAY_MATCH

    def _look(self, path: str, *, whole: bool, check: bool) -> tuple[int, bytes | None]:
        """Read a file without counting it; return what is to be counted of it, and its text if it may match.

        With `check` the text is only given if the file was still in its place after it was read. A file that was not
        is read again from the root.
        """
        name = raw(path, "path")
        size = self._opener.fill(name, self._max_bytes, self._buffer if whole else self._head, whole=whole)
        if size >= 0:
            if not whole:
                return size, None
            sift = self._planned.sift
            # Most files match nowhere, and need no normal form.
            if sift is not None and sift(self._buffer, 0, size)[0] < 0:
                return size, None
            size, text = self._classify((size, bytes(memoryview(self._buffer)[:size]), None), whole=whole)
        elif size in (BINARY, LARGE, WIDE):
            return size, None
        else:
            read = self._opener.read(name, self._max_bytes, whole=whole) if size == UNUSUAL else None
            if read is None:
                return self._classify(self._followed(path, whole=whole), whole=whole)
            size, text = self._classify(read, whole=whole)
        if text is not None and check and not self._opener.is_in_place():
            return self._classify(self._followed(path, whole=whole), whole=whole)
        return size, text

    def _classify(self, read: Content | None, *, whole: bool) -> tuple[int, bytes | None]:
        """Count a file that was read, and return its text if something in it may match."""
        if read is None:
            return UNREADABLE, None
        size, data, why = read
        if size > self._max_bytes:
            return LARGE, None
        if why is not None:
            return why, None
        if not whole:
            return len(data), None
        text = normal(data)
        scan = self._planned.scan
        return len(data), None if scan is not None and scan(text, 0, len(text))[0] < 0 else text

    def _followed(self, path: str, *, whole: bool) -> Content | None:
        """Return the content of a file whose path may hold links; None where it cannot be read."""
        try:
            with self._tree.open(path) as file:
                if file.size > self._max_bytes:
                    return file.size, b"", None
                if file.no_text is not None:
                    return file.size, b"", file.no_text
                return file.size, file.read() if whole else next(file.chunks(), b"")[:BINARY_WINDOW], None
        except (Denied, NotFound, NotAFile, OutsideRoot, PermissionDenied):
            return None
