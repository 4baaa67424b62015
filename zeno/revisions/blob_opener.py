"""Reads files of a commit one after the other."""

from collections.abc import Callable, Mapping

from zeno.files.batch_open import CHUNK, LARGE, UNREADABLE, BatchReader, NoBytes, no_text
from zeno.revisions.objects import MAX_OBJECT, Objects, TooLarge, Unavailable
from zeno.revisions.trees import TreeEntry

_Folder = Mapping[bytes, TreeEntry] | None


class BlobOpener(BatchReader):
    """Reads files of a commit. Nothing in it is ever moved."""

    def __init__(self, objects: Objects, find_folder: Callable[[bytes], _Folder]) -> None:
        self._objects = objects
        self._find_folder = find_folder
        self._folder: tuple[bytes, _Folder] | None = None

    def fill(self, path: bytes, limit: int, buffer: bytearray, *, whole: bool = True) -> int | bytes | NoBytes:
        try:
            blob = self.find_blob(path)
            if blob is None:
                return UNREADABLE
            data = self._objects.read_blob(blob, min(limit, MAX_OBJECT))
        except TooLarge:
            return LARGE
        except Unavailable:
            return UNREADABLE
        if not whole:
            data = data[: len(buffer)]
        why = no_text(data[:CHUNK])
        if why is not None:
            return why
        if len(data) > len(buffer):
            return data
        # In place: the buffer must keep its size.
        buffer[: len(data)] = data
        return len(data)

    def find_blob(self, path: bytes) -> bytes | None:
        """Return the id of a regular file; None if there is none at this path. Raises Unavailable."""
        folder, _, name = path.rpartition(b"/")
        if self._folder is None or self._folder[0] != folder:
            self._folder = folder, self._find_folder(folder)
        entries = self._folder[1]
        entry = None if entries is None else entries.get(name)
        return entry.id if entry is not None and entry.is_file else None
