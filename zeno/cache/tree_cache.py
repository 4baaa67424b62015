"""What is held of a tree: its listing, the texts of its files, and their index; prepared step by step, kept true."""

import errno

from zeno.cache.ignored_listing import left_out, met
from zeno.cache.index_builder import Builder
from zeno.cache.inotify import Watch
from zeno.cache.listing import Folder, Listing
from zeno.cache.text_store import Entry, Narrowed, Store
from zeno.cache.watch_table import Watched
from zeno.files.batch_open import Descent, content
from zeno.files.ignore_rules import ignore_text
from zeno.files.tree import Tree
from zeno.files.walk import Run
from zeno.index.requirements import Demand
from zeno.text.file_lines import normal
from zeno.text.path_names import is_hidden, raw

# Larger files are only searched by those who raise grep's max_bytes above its default.
MAX_HELD_FILE = 2_000_000
# Less text than this is searched as fast without an index.
MIN_INDEXED = 1 << 20


class TreeCache:
    """Raises `Unwatchable` or `Lost` wherever changes could go unseen; then it has to be closed."""

    def __init__(self, tree: Tree, limit: int) -> None:
        self._tree = tree
        self._watch = Watch(tree)
        self._store = Store(limit)
        self._watched: Watched[Folder | Entry] = Watched(self._watch)
        self._listing = Listing(tree, self._watched, self._forget, self._drop)
        self._builder = Builder()
        self._listed = False
        self._queue: dict[Entry, None] = {}
        """Files of which nothing is known, in the order in which they are to be read."""
        self._hidden: dict[Entry, None] = {}
        """Those among them that are hidden: read only once somebody has asked for hidden files."""
        self._without_text: dict[Entry, None] = {}
        """Files of which only size and kind are known, because there was no room for their texts."""
        self._out_of_watches = False
        self._ruling: set[Entry] = set()
        """Ignore files that somebody was answered by."""
        self._rules_version = 0
        self.behind = True
        """Whether there may be something left to prepare."""
        self.content_version = 0
        """Grows whenever more or less is known of some file."""

    def close(self) -> None:
        """Let go of everything."""
        self._builder.close()
        self._watch.close()

    # Preparing

    def prepare(self) -> bool:
        """Do a little more; return False when there is nothing left to do for now."""
        self.behind = self._prepare()
        return self.behind

    def _prepare(self) -> bool:
        if not self._listed:
            with self._tree.descent() as descent:
                for _ in range(16):
                    if not self._listing.step(descent):
                        self._listed = True
                        return True
            return True
        # Asked before its work is taken: done in between, that would look undone, and be done and held twice.
        busy = self._builder.busy
        self._collect()
        if self._without_text and self._store.has_room:
            self._queue.update(self._without_text)
            self._without_text.clear()
        if self._queue and not self._out_of_watches:
            self._read_some()
            return True
        if not self._queue:
            # A dictionary that was once large stays so.
            self._queue = {}
        if self._store.seal():
            self.content_version += 1
        if not busy and self._store.unindexed_size > MIN_INDEXED and not self._builder.broken:
            self._builder.start(self._store.unindexed())
        return False

    def _read_some(self) -> None:
        with self._tree.descent() as descent:
            for entry in [entry for entry, _ in zip(self._queue, range(32), strict=False)]:
                del self._queue[entry]
                descriptor = descent.open(raw(entry.path, "path"))
                if descriptor is None:
                    # Not to be read now: asked again whenever it is searched.
                    continue
                # Watched first, then read: a change after the reading is told.
                if not self._watched.file(entry, descriptor):
                    self._out_of_watches = True
                    return
                try:
                    # Without room for its text its size and kind are still worth knowing.
                    found = content(descriptor, MAX_HELD_FILE, whole=not self._store.full)
                except OSError:
                    found = None
                # Then checked: what was read outside the root is not kept.
                if found is None or not descent.is_in_place():
                    continue
                entry.size, data, entry.binary = found
                if entry.binary or entry.size > MAX_HELD_FILE:
                    continue
                if self._store.full:
                    self._without_text[entry] = None
                else:
                    self._store.hold(entry, normal(data))
        self.content_version += 1

    def _collect(self) -> None:
        for bits, pieces in self._builder.finished():
            self._store.indexed(bits, pieces)

    def _forget(self, entry: Entry) -> None:
        """Something happened to a file: nothing is known of it any more."""
        self.content_version += 1
        self.behind = True
        if entry in self._ruling:
            self._ruling.remove(entry)
            self._rules_version += 1
        for lost in [entry, *self._store.forget(entry)]:
            lost.size, lost.binary = -1, False
            self._without_text.pop(lost, None)
            queue = self._hidden if is_hidden(lost.path) else self._queue
            queue[lost] = None

    def _drop(self, entry: Entry) -> None:
        """A file is gone."""
        self._forget(entry)
        self._queue.pop(entry, None)
        self._hidden.pop(entry, None)

    # Answering

    @property
    def ready(self) -> bool:
        """Whether the listing is complete."""
        return self._listed

    def refresh(self) -> None:
        """Bring everything up to now."""
        self._collect()
        self._listing.refresh()

    @property
    def paths(self) -> list[str]:
        """All files, sorted."""
        return self._listing.paths

    @property
    def problems(self) -> list[str]:
        """The names that are no files and lead to none, sorted."""
        return self._listing.problems

    @property
    def opaque(self) -> bool:
        """Whether a walk may tell more than the listing."""
        return self._listing.opaque

    @property
    def version(self) -> int:
        """Grows whenever `paths` or `problems` change, or what of them is ignored."""
        return self._listing.version + self._rules_version

    def left_out(self, *, include_hidden: bool, exclude_dirs: frozenset[str]) -> list[Run]:
        """The names that a walk without ignore rules would leave out."""
        return left_out(
            self._listing.root,
            include_hidden=include_hidden,
            exclude_dirs=exclude_dirs,
            policy=self._tree.policy.active,
        )

    def not_ignored(
        self, *, include_hidden: bool, exclude_dirs: frozenset[str]
    ) -> tuple[list[str], list[str], list[Run]] | None:
        """The files, the problems and the left-out names of a walk by ignore rules; None where only a walk can tell."""
        with self._tree.descent() as descent:
            try:
                return met(
                    self._listing.root,
                    lambda entry: self._ignore_text(entry, descent),
                    include_hidden=include_hidden,
                    exclude_dirs=exclude_dirs,
                )
            except OSError:
                return None

    def _ignore_text(self, entry: Entry, descent: Descent) -> bytes:
        descriptor = descent.open(raw(entry.path, "path"))
        # Watched first, then read: a change after the reading is told. Then checked: it may have been read outside.
        if descriptor is None or not self._watched.file(entry, descriptor):
            raise OSError(errno.EAGAIN, "an ignore file that cannot be held")
        self._ruling.add(entry)
        text = ignore_text(descriptor)
        if not descent.is_in_place():
            raise OSError(errno.EAGAIN, "an ignore file that was moved")
        return text

    @property
    def entries(self) -> dict[str, Entry]:
        """All regular files by path. Links have no entry."""
        return self._listing.entries

    def target(self, path: str) -> Entry | None:
        """The file that a link leads to, where it is a file of the listing; None for paths that are no links."""
        link = self._listing.links.get(path)
        return None if link is None or link.target is None else self.entries.get(link.target)

    def narrow(self, demand: Demand) -> Narrowed:
        """Look up which segments may hold a line that meets a demand."""
        return self._store.narrow(demand)

    def want_hidden(self) -> None:
        """Somebody asks for hidden files: hold these too."""
        self._queue.update(self._hidden)
        self._hidden.clear()
