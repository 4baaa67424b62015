"""Texts of files on disk, read for a search one after the other."""

from array import array
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from itertools import repeat

from zeno.errors import Denied, NotAFile, NotFound, OutsideRoot, PermissionDenied
from zeno.files.batch_open import NoBytes
from zeno.files.file_tree import BatchReader, SearchedTree
from zeno.meter import Meter
from zeno.search.corpus import Skipped, SkipReason
from zeno.search.fork_helper import ForkHelper, possible
from zeno.search.plan import Plan
from zeno.text.file_lines import BINARY_WINDOW, normal
from zeno.text.path_names import printed, raw

# Hardly any file to search is longer; longer ones are read into an object of their own.
ROOM = 1 << 16

_REASONS: dict[NoBytes, SkipReason] = {
    NoBytes.BINARY: "binary",
    NoBytes.LARGE: "large",
    NoBytes.UNREADABLE: "unreadable",
    NoBytes.WIDE: "unreadable",
}

Glance = int | NoBytes | None
"""A file as a second process saw it: its size if it cannot match, why it is no text, or None if it may match."""
# The glance of a file in the array that is sent: sizes as they are, other values below zero.
_SENT: dict[Glance, int] = {None: -1, **{why: -2 - number for number, why in enumerate(NoBytes)}}
_RECEIVED = {sent: glance for glance, sent in _SENT.items()}

# A module global, because enum lookups are slow and a search needs one per file.
_UNREADABLE = NoBytes.UNREADABLE


class DiskTexts:
    """Gives the texts of files that may match, and counts by reason the files that cannot be searched.

    Files have to be asked for in the order in which they were shared.
    """

    def __init__(self, tree: SearchedTree, max_bytes: int, plan: Plan, meter: Meter, skipped: Skipped) -> None:
        self._tree = tree
        self._max_bytes = max_bytes
        self._plan = plan
        self._meter = meter
        self._skipped = skipped
        self._stack = ExitStack()
        self._glances: Iterator[Glance] = repeat(None)

    def __enter__(self) -> "DiskTexts":
        return self

    def __exit__(self, *_: object) -> None:
        for folder in self._doubtful():
            # The directory was moved meanwhile: the text that ruled files out may be from outside the root.
            self._skipped.add(printed(folder) + "/", "unreadable")
        self._stack.close()

    def share(self, paths: Sequence[str], least: int, part: int) -> None:
        """Let a second process look at these files from their end, if there are `least` of them at least."""
        # If a scan rules nothing out, a second process saves nothing.
        if len(paths) < least or self._plan.scan is None or not possible():
            return

        def look(some: range) -> bytes:
            glances = (self._glance(paths[index]) for index in some)
            return array(
                "q", (_SENT[one] if one is None or isinstance(one, NoBytes) else one for one in glances)
            ).tobytes()

        helper = self._stack.enter_context(ForkHelper(len(paths), look, part, lambda: not self._doubtful()))
        self._glances = (
            glance
            for some, sent in helper.results()
            for glance in (
                repeat(None, len(some)) if sent is None else (_RECEIVED.get(one, one) for one in array("q", sent))
            )
        )

    def find(self, path: str) -> bytes | None:
        """Count one file and return its text in normal form; None where it cannot be searched or cannot match."""
        glance = next(self._glances)
        text = None
        if glance is None:
            glance, text = self._look(path, check=True)
        if isinstance(glance, NoBytes):
            self._skipped.add(path, _REASONS[glance])
        else:
            self._meter.count_file(glance)
        return text

    def count(self, path: str, *, known: bool) -> None:
        """Count one file without searching it; nothing of it is read if it is known to be a text."""
        glance = next(self._glances)
        if known:
            return
        if glance is None:
            glance = self._look_at_head(path)
        if isinstance(glance, NoBytes):
            self._skipped.add(path, _REASONS[glance])
        else:
            self._meter.count_file(min(glance, BINARY_WINDOW))

    # Created with the first file: usually all texts are in memory, and no file is read.

    @cached_property
    def _opener(self) -> BatchReader:
        return self._stack.enter_context(self._tree.batch_opener())

    @cached_property
    def _head(self) -> bytearray:
        return bytearray(BINARY_WINDOW)

    @cached_property
    def _buffer(self) -> bytearray:
        return bytearray(ROOM)

    def _doubtful(self) -> list[bytes]:
        """The directories that were moved while their files were read: these count as not read."""
        if "_opener" not in self.__dict__:
            return []
        self._opener.close()
        return self._opener.doubtful

    def _glance(self, path: str) -> Glance:
        size, text = self._look(path, check=False)
        return size if text is None else None

    def _look(self, path: str, *, check: bool) -> tuple[int | NoBytes, bytes | None]:
        """Read a file without counting it; return its size or why it has no text, and its text if it may match.

        With `check` the text is only given if the file was still in its place after it was read. A file that was not
        is read again from the root.
        """
        found = self._opener.fill(raw(path, "path"), self._max_bytes, self._buffer)
        if found is _UNREADABLE:
            return self._judge(self._open(path, whole=True))
        if isinstance(found, int):
            sift = self._plan.sift
            # Most files match nowhere, and need no normal form.
            if sift is not None and sift(self._buffer, 0, found)[0] < 0:
                return found, None
            found = bytes(memoryview(self._buffer)[:found])
        size, text = self._judge(found)
        if text is not None and check and not self._opener.is_in_place():
            return self._judge(self._open(path, whole=True))
        return size, text

    def _look_at_head(self, path: str) -> int | NoBytes:
        """Read the beginning of a file; return its size or why it has no text."""
        found = self._opener.fill(raw(path, "path"), self._max_bytes, self._head, whole=False)
        if found is _UNREADABLE:
            found = self._open(path, whole=False)
        return len(found) if isinstance(found, bytes) else found

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
                if (why := file.no_text) is not None:
                    return why
                return b"".join(file.chunks()) if whole else next(file.chunks(), b"")[:BINARY_WINDOW]
        except (Denied, NotFound, NotAFile, OutsideRoot, PermissionDenied):
            return _UNREADABLE
