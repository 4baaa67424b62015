"""Cache of a tree: its listing, the texts of its files, and their index. Built in small steps, updated by inotify."""

import errno
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from zeno.cache.listing import Listing
from zeno.cache.text_store import MAX_HELD_FILE, UNKNOWN, CachedFile, Store
from zeno.cache.watch import Shortage, Watches
from zeno.errors import lacks_descriptor
from zeno.files.batch_open import SETTLED, BatchOpener, content
from zeno.files.open_file import HeldFile
from zeno.files.rules import NameRules, ignore_text
from zeno.files.tree import Tree
from zeno.files.walk import WalkedNames
from zeno.meter import Meter
from zeno.text.file_lines import normal
from zeno.text.path_names import is_hidden, raw

if TYPE_CHECKING:
    from zeno.cache.located import Located

# Files without a watch are compared with the disk in batches of this size: some milliseconds.
CHECKED_AT_ONCE = 1024
# Files that are read again in one step, once their change times are settled.
SETTLED_AT_ONCE = 256


class TreeCache:
    """The cache of one tree. It has to be closed when a method raises Unwatchable, Shortage or Lost."""

    def __init__(self, tree: Tree, store: Store) -> None:
        self._tree = tree
        self._watches = Watches(tree)
        self.store = store
        self.listing = Listing(tree, self._watches, self._forget, self._drop)
        self.entries = self.listing.entries
        """All regular files by path. Links have no entry."""
        self.find = self.listing.find
        """Returns a listed file, or the one that a link leads to; None if there is none."""
        self.event_descriptor = self._watches.descriptor
        """A descriptor that can be read when there are changes to apply."""
        self.ready = False
        """Whether the listing is complete."""
        self._queue: dict[CachedFile, None] = {}
        """Files that are not read yet, in the order of reading."""
        self._hidden: dict[CachedFile, None] = {}
        """Hidden files that are not read yet: they are read only after a request for hidden files."""
        self._without_text: dict[CachedFile, None] = {}
        """Files of which only size and kind are cached, because there was no room for their texts."""
        self._unsettled: dict[CachedFile, int] = {}
        """Files without a watch that changed too recently to be read: their change time could miss a further change.
        When to read each, in nanoseconds of the monotonic clock; the first added comes first."""
        self._ruling: set[CachedFile] = set()
        """Texts of ignore files that were used in answers."""
        self._is_behind = True
        """Whether something may be left to prepare."""
        self.content_version = 0
        """Increases whenever the cached content of a file changes."""

    def close(self) -> None:
        """End all watches, and all use of texts."""
        self._watches.close()
        for entry in self.entries.values():
            self._release(entry)

    # Preparing

    def prepare(self) -> bool:
        """Do one step of work. Return False if nothing is left to do for now."""
        self._is_behind = self._prepare()
        return self._is_behind

    def _prepare(self) -> bool:
        if not self.ready:
            with self._tree.batch_opener() as opener:
                for _ in range(16):
                    if not self.listing.step(opener):
                        self.ready = True
                        return True
            return True
        self._requeue_settled()
        if self._without_text and self.store.has_room:
            self._queue.update(self._without_text)
            self._without_text.clear()
        if self._queue:
            self._read_some()
            return True
        if not self._queue:
            # A dictionary never shrinks by itself.
            self._queue = {}
        if self.store.seal():
            self.content_version += 1
        self.store.index.build()
        return False

    @property
    def has_pending_work(self) -> bool:
        """Whether something may be left to prepare."""
        return self._is_behind or self._has_settled

    @property
    def _has_settled(self) -> bool:
        """Whether some files that changed recently can be read now."""
        return bool(self._unsettled) and next(iter(self._unsettled.values())) <= time.monotonic_ns()

    def _requeue_settled(self) -> None:
        for _ in range(SETTLED_AT_ONCE):
            if not self._has_settled:
                break
            entry = next(iter(self._unsettled))
            del self._unsettled[entry]
            if self.entries.get(entry.path) is entry:
                self._forget(entry)

    def _read_some(self) -> None:
        with self._tree.batch_opener() as opener:
            for entry in [entry for entry, _ in zip(self._queue, range(32), strict=False)]:
                del self._queue[entry]
                descriptor = opener.open(raw(entry.path, "path"))
                if descriptor is None:
                    _pass_over()
                    continue
                # Watch first, then read: a later change causes an event. Or compare the status before each use.
                stamp = None
                if not self._watches.watch_file(entry, descriptor):
                    stamp = opener.stamp()
                    if stamp is None:
                        self._unsettled.pop(entry, None)
                        self._unsettled[entry] = time.monotonic_ns() + SETTLED
                    if stamp is None or not self._watches.has_change_times(stamp[0]):
                        continue
                try:
                    # No room for its text, but size and kind are still useful.
                    found = content(descriptor, MAX_HELD_FILE, whole=not self.store.full)
                except OSError:
                    found = None
                # Then check the location: text read outside the root must not be kept.
                if found is None or not opener.is_in_place():
                    _pass_over()
                    continue
                entry.size, data, entry.no_text = found
                entry.stamp = stamp
                if entry.no_text is not None or entry.size > MAX_HELD_FILE:
                    continue
                if self.store.full:
                    self._without_text[entry] = None
                else:
                    entry.text = self.store.share(entry.path, data) or self.store.hold(entry.path, normal(data))
        self.content_version += 1

    def _forget(self, entry: CachedFile) -> None:
        """Discard the cached content of a file that changed."""
        self.content_version += 1
        self._is_behind = True
        if entry in self._ruling:
            self._ruling.remove(entry)
            self.listing.version += 1
        self._release(entry)
        entry.size, entry.no_text, entry.stamp = UNKNOWN, None, None
        self._without_text.pop(entry, None)
        queue = self._hidden if is_hidden(entry.path) else self._queue
        queue[entry] = None

    def _release(self, entry: CachedFile) -> None:
        if entry.text is not None:
            self.store.release(entry.text)
            entry.text = None

    def _drop(self, entry: CachedFile) -> None:
        """Remove a file that is gone."""
        self._forget(entry)
        self._queue.pop(entry, None)
        self._hidden.pop(entry, None)

    # Answering

    def check(self, stamped: list[CachedFile], meter: Meter) -> None:
        """Forget those files without a watch that changed on disk since they were read."""
        with self._tree.batch_opener() as opener:
            for start in range(0, len(stamped), CHECKED_AT_ONCE):
                meter.check()
                some = [
                    (entry, entry.stamp)
                    for entry in stamped[start : start + CHECKED_AT_ONCE]
                    if entry.stamp is not None
                ]
                for number in list(opener.find_changed((raw(entry.path, "path"), stamp) for entry, stamp in some)):
                    self._forget(some[number][0])

    def walk(self, rules: NameRules) -> Iterable[WalkedNames] | None:
        """Return what a walk by these rules would find; None if that is known only by walking."""
        with self._tree.batch_opener() as opener:
            try:
                return self.listing.walk(rules, lambda entry: self._ignore_text(entry, opener))
            except OSError:
                return None

    def _ignore_text(self, entry: CachedFile, opener: BatchOpener) -> bytes:
        descriptor = opener.open(raw(entry.path, "path"))
        # Watch first, then read, so that a later change causes an event. Then check the location.
        if descriptor is None or not self._watches.watch_file(entry, descriptor, needed=True):
            raise OSError(errno.EAGAIN, "an ignore file that cannot be held")
        self._ruling.add(entry)
        text = ignore_text(descriptor)
        if not opener.is_in_place():
            raise OSError(errno.EAGAIN, "an ignore file that was moved")
        return text

    def find_text(self, path: str) -> HeldFile | None:
        """Return a file, or the one that a link leads to, with its text; None if it is not held."""
        entry = self.listing.find(path)
        if entry is not None and entry.stamp is not None:
            self.check([entry], Meter())
        if entry is None or entry.text is None or entry.text.segment is None:
            return None
        return HeldFile(entry.path, entry.text.read(), entry.size)

    def review(self, located: "Located", meter: Meter) -> None:
        """Compare files without a watch with the disk. If hidden files are searched, cache them from now on."""
        if located.stamped:
            self.check(located.stamped, meter)
        if self._hidden and any(map(is_hidden, located.unheld)):
            self._queue.update(self._hidden)
            self._hidden.clear()


def _pass_over() -> None:
    """Leave a file that cannot be read to every search. Raises Shortage if no file can be read now."""
    if lacks_descriptor(Shortage()):
        raise Shortage
