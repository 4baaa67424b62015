"""Files of a commit, with the interfaces of open files."""

from collections.abc import Callable, Iterator, Mapping
from typing import Self

from zeno.errors import NotAFile
from zeno.files.batch_open import BINARY, CHUNK, LARGE, UNREADABLE, NoBytes, no_text
from zeno.revisions.objects import MAX_OBJECT, Objects, TooLarge, Unavailable
from zeno.revisions.trees import TreeEntry
from zeno.text.file_lines import normal

_Folder = Mapping[bytes, TreeEntry] | None


class BlobFile:
    """A file whose content is in memory."""

    is_normal = False
    """Its chunks are as the commit has them."""

    def __init__(self, path: str, content: bytes) -> None:
        self.path = path
        self.size = len(content)
        self.bytes_read = 0
        self._content = content

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to close."""

    @property
    def no_text(self) -> NoBytes | None:
        """Why the file is no text; None for text."""
        return no_text(self._content[:CHUNK])

    def require_text(self) -> None:
        """Raise NotAFile if the file is binary or in another encoding."""
        why = self.no_text
        if why is not None:
            raise NotAFile(self.path, "a binary file" if why == BINARY else "text in UTF-16 or UTF-32")

    def chunks(self) -> Iterator[bytes]:
        """Yield the content in chunks."""
        for start in range(0, self.size, CHUNK):
            yield self._read(start, start + CHUNK)

    def chunks_backwards(self) -> Iterator[bytes]:
        """Yield the content in chunks, the last one first."""
        for end in range(self.size, 0, -CHUNK):
            yield self._read(max(0, end - CHUNK), end)

    def read(self) -> bytes:
        """Return the whole content."""
        return self._read(0, self.size)

    def read_text(self) -> bytes:
        """Return the whole content in normal form."""
        return normal(self.read())

    def _read(self, start: int, end: int) -> bytes:
        data = self._content[start:end]
        self.bytes_read += len(data)
        return data


class BlobOpener:
    """Reads files of a commit by paths without links, with the interface of `BatchOpener`."""

    def __init__(self, objects: Objects, find_folder: Callable[[bytes], _Folder]) -> None:
        self._objects = objects
        self._find_folder = find_folder
        self._folder: tuple[bytes, _Folder] | None = None
        self.doubtful: list[bytes] = []
        """No directory of a commit is ever moved."""

    def close(self) -> None:
        """There is nothing to close."""

    def is_in_place(self) -> bool:
        """A commit does not change."""
        return True

    def fill(self, path: bytes, limit: int, buffer: bytearray, *, whole: bool = True) -> int | bytes | NoBytes:
        """Read a regular file into a buffer; return the number of bytes, the bytes, or why there are none."""
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
