"""Read files from disk for a search, one after the other."""

from collections import Counter
from contextlib import ExitStack
from functools import cached_property

from zeno.errors import NotAFile, NotFound, OutsideRoot, PermissionDenied
from zeno.files.batch_open import BINARY, LARGE, UNREADABLE, UNUSUAL, Content, Descent, NoBytes
from zeno.files.tree import Tree
from zeno.meter import Meter
from zeno.search.plan import Plan
from zeno.text.file_lines import BINARY_WINDOW, normal
from zeno.text.path_names import raw

# Hardly any file to search is longer; longer ones are read into an object of their own.
ROOM = 1 << 16
MAY_MATCH = min(NoBytes) - 1
"""Told in place of a size by `Reader.glimpse`: the file has to be read, because it may match."""
_REASONS = {int(BINARY): "binary", int(LARGE): "large", int(UNREADABLE): "unreadable"}


class Reader:
    """Gives the texts of files that may match, and counts by reason the files that cannot be searched."""

    def __init__(self, tree: Tree, max_bytes: int, planned: Plan, meter: Meter, skipped: "Counter[str]") -> None:
        self._tree = tree
        self._max_bytes = max_bytes
        self._planned = planned
        self._meter = meter
        self._skipped = skipped
        self._stack = ExitStack()

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    # Made for the first file: mostly all texts are in memory, and no file is read.

    @cached_property
    def _descent(self) -> Descent:
        return self._stack.enter_context(self._tree.descent())

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
        size, text = self.look(path, whole=whole)
        self.count(size, whole=whole)
        return text

    def count(self, size: int, *, whole: bool) -> None:
        """Count a file by what `look` returned for it: its size, or the reason why it has no bytes."""
        if size >= 0:
            self._meter.scanned(size if whole else min(size, BINARY_WINDOW))
        else:
            self._skipped[_REASONS[size]] += 1

    def glimpse(self, path: str) -> int:
        """Return what is to be counted of a file without a match, and `MAY_MATCH` for one that may have some."""
        size, text = self.look(path, whole=True)
        return size if text is None else MAY_MATCH

    def look(self, path: str, *, whole: bool) -> tuple[int, bytes | None]:
        """Return what is to be counted of a file, and its text as `text` does, without counting it."""
        name = raw(path, "path")
        size = self._descent.fill(name, self._max_bytes, self._buffer if whole else self._head, whole=whole)
        if size >= 0:
            if not whole:
                return size, None
            sift = self._planned.sift
            # Most files match nowhere, and need no normal form.
            if sift is not None and sift(self._buffer, 0, size)[0] < 0:
                return size, None
            data = bytes(memoryview(self._buffer)[:size])
        elif size in (BINARY, LARGE):
            return size, None
        else:
            read = (self._descent.read(name, self._max_bytes, whole=whole) if size == UNUSUAL else None) or (
                self._followed(path, whole=whole)
            )
            if read is None:
                return UNREADABLE, None
            size, data, binary = read
            if size > self._max_bytes or binary:
                return (LARGE if size > self._max_bytes else BINARY), None
            size = len(data)
            if not whole:
                return size, None
        text = normal(data)
        scan = self._planned.scan
        return size, None if scan is not None and scan(text, 0, len(text))[0] < 0 else text

    def _followed(self, path: str, *, whole: bool) -> Content | None:
        """Return the content of a file whose path may hold links; None where it cannot be read."""
        try:
            with self._tree.open(path) as file:
                if file.size > self._max_bytes:
                    return file.size, b"", False
                if file.is_binary:
                    return file.size, b"", True
                return file.size, file.read() if whole else next(file.chunks(), b"")[:BINARY_WINDOW], False
        except (NotFound, NotAFile, OutsideRoot, PermissionDenied):
            return None
