"""Texts of blobs, kept by their ids: commits share them with each other, and with the working tree."""

from collections.abc import Callable, Iterator

from zeno.cache.kept_words import list_unparsed
from zeno.cache.text_store import MAX_HELD_FILE, UNKNOWN, CachedFile, HeldText, Store
from zeno.code.pool import SourceText
from zeno.code.table import FactTable
from zeno.files.batch_open import CHUNK, no_text
from zeno.revisions.objects import Objects, TooLarge, Unavailable
from zeno.text.file_lines import normal

NamedBlobs = Iterator[tuple[str, bytes]]
"""Paths of files in a commit, with the ids of their blobs."""

# Files and bytes that are read in one step: some milliseconds.
READ_AT_ONCE, BYTES_AT_ONCE = 32, 1 << 18
# Blobs of which something is known, at most.
MAX_KNOWN = 1 << 20


class Blob(CachedFile):
    """A blob, and what is cached of it. It never changes."""

    __slots__ = ("commit",)

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.commit = b""
        """The commit that it was last looked up for."""


class BlobTexts:
    """The texts of blobs. `idle` reads those of the commit that was asked for last."""

    def __init__(
        self, objects: Objects, store: Store, facts: FactTable, find_on_disk: Callable[[str], CachedFile | None]
    ) -> None:
        """Take the store of texts, and a function that returns a cached file of the working tree."""
        self._objects = objects
        self.store = store
        self._facts = facts
        self._find_on_disk = find_on_disk
        store.find_equal = self._find_equal
        self._known: dict[bytes, Blob] = {}
        self.content_version = 0
        """Increases whenever more or less is known."""
        self._reading: tuple[bytes, NamedBlobs] | None = None
        """The commit whose blobs are read now, and those that are left."""
        self._new: list[Blob] = []
        """Blobs that were read, and not parsed yet."""
        self._unparsed: Iterator[SourceText] | None = None
        self._complete: set[bytes] = set()
        """Commits of which all is read that there is room for."""

    def is_complete(self, commit: bytes) -> bool:
        """Whether everything of a commit is read that there is room for."""
        return commit in self._complete

    def find(self, blob: bytes, path: str, commit: bytes) -> Blob | None:
        """Return what is known of a blob at a path. Nothing is read for it."""
        found = self._known.get(blob) or self._share(blob, path)
        if found is not None:
            found.commit = commit
        return found

    def _share(self, blob: bytes, path: str) -> Blob | None:
        """Use the text of the working tree at the same path, if it is the same by its id."""
        entry = self._find_on_disk(path)
        held = None if entry is None else entry.text
        if held is None or held.segment is None:
            return None
        text = held.read()
        if self._objects.compute_id("blob", text) != blob:
            return None
        held.users += 1
        return self._add(blob, path, len(text), held)

    def _find_equal(self, path: str, content: bytes) -> HeldText | None:
        """Return the text of a blob for a file of the working tree with this content, at the same path."""
        blob = self._known.get(self._objects.compute_id("blob", content)) if self._known else None
        held = None if blob is None else blob.text
        return held if held is not None and held.segment is not None and held.path == path else None

    def _add(self, blob: bytes, path: str, size: int, held: HeldText | None) -> Blob:
        found = self._known[blob] = Blob(path)
        found.size, found.text = size, held
        self.content_version += 1
        return found

    # Background work

    def want(self, commit: bytes, list_blobs: Callable[[], NamedBlobs]) -> None:
        """Read the texts of a commit in idle moments, unless that is done or under way."""
        if commit not in self._complete and (self._reading is None or self._reading[0] != commit):
            self._reading = commit, list_blobs()

    @property
    def has_pending_work(self) -> bool:
        """Whether texts are left to read, to index or to parse."""
        return self._reading is not None or self._unparsed is not None or self.store.index.is_wanted

    def idle(self) -> bool:
        """Do one short step of work; return False when nothing is left to do."""
        if self._reading is not None:
            self._read_some(*self._reading)
        elif self.store.index.is_wanted:
            self.store.index.build()
        elif self._unparsed is not None and not self._facts.parse_ahead(self._unparsed):
            self._unparsed = None
        return self.has_pending_work

    def _read_some(self, commit: bytes, left: NamedBlobs) -> None:
        room = BYTES_AT_ONCE
        for _ in range(READ_AT_ONCE):
            path, blob = next(left, ("", b""))
            has_room = (self.store.has_room and len(self._known) < MAX_KNOWN) or self._drop_others(commit)
            if not blob or not has_room:
                if self.store.seal():
                    self.content_version += 1
                self._complete.add(commit)
                self._reading, self._unparsed = None, list_unparsed(self._new)
                self._new = []
                return
            if self.find(blob, path, commit) is None:
                room -= self._read(blob, path, commit)
            if room < 0:
                return

    def _read(self, blob: bytes, path: str, commit: bytes) -> int:
        """Read a blob; return how many bytes were read. Of a large one the size is known, of a missing one nothing."""
        data = b""
        try:
            data = self._objects.read_blob(blob, MAX_HELD_FILE)
        except TooLarge:
            found = self._add(blob, path, self._objects.blob_size(blob), None)
        except Unavailable:
            found = self._add(blob, path, UNKNOWN, None)
        else:
            why = no_text(data[:CHUNK])
            found = self._add(blob, path, len(data), None if why else self.store.hold(path, normal(data)))
            found.no_text = why
            self._new.append(found)
        found.commit = commit
        return len(data)

    def _drop_others(self, commit: bytes) -> bool:
        """Drop the blobs of other commits; return whether there is room then."""
        for blob, found in list(self._known.items()):
            if found.commit != commit:
                del self._known[blob]
                if found.text is not None:
                    self.store.release(found.text)
        self._complete.clear()
        self.content_version += 1
        return self.store.has_room and len(self._known) < MAX_KNOWN
