"""Cached directory listing, updated from inotify events.

If not every change can be watched, there is no listing and callers walk the tree: `Unwatchable` is raised if watching
is impossible, `Lost` or `Shortage` if a new listing can be made, at once or later.
"""

import errno
import os
from bisect import bisect_left
from collections.abc import Callable

from zeno.cache.errors import Lost, refused
from zeno.cache.inotify import ATTRIB, IGNORED, NAMES, OVERFLOW, UNMOUNT
from zeno.cache.link_table import Link, LinkTable
from zeno.cache.text_store import CachedFile
from zeno.cache.watch_table import NO_WATCH, WatchTable
from zeno.files.batch_open import FILE, FOLDER, LINK, OTHER, BatchOpener, scan
from zeno.files.location import MAX_MOVES
from zeno.files.tree import Tree
from zeno.text.gitignore import EXCLUDE, IGNORE_FILES, REPOSITORY
from zeno.text.path_names import printed_entry

# Names that affect ignore rules even if they are no files.
_RULING = (REPOSITORY, EXCLUDE)
_CLOSED = {errno.EACCES, errno.EPERM, errno.ENAMETOOLONG}
_GONE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, *_CLOSED}


class Other:
    """An entry that is neither file nor directory nor link: a FIFO, a socket, a device."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path


class Folder:
    """A directory and its entries, by name as `os.scandir` decodes it."""

    __slots__ = ("children", "name", "parent", "path", "prefix", "watch")

    def __init__(self, parent: "Folder | None", name: str) -> None:
        self.parent = parent
        self.name = name
        self.path: bytes = b""
        """From the root, in the bytes of the file system."""
        self.prefix = ""
        """Prefix of the printed paths of its entries."""
        if parent is not None:
            encoded = os.fsencode(name)
            self.path = parent.path + b"/" + encoded if parent.path else encoded
            self.prefix = f"{parent.prefix}{printed_entry(name)}/"
        self.watch = NO_WATCH
        self.children: dict[str, Folder | CachedFile | Link | Other] = {}


class Listing:
    """All directories under the root; complete once `step` has returned False. `forget` is called for files that are
    new or changed, `drop` for files that are gone."""

    def __init__(
        self,
        tree: Tree,
        watched: WatchTable[Folder | CachedFile],
        forget: Callable[[CachedFile], None],
        drop: Callable[[CachedFile], None],
    ) -> None:
        self._tree = tree
        self._watched = watched
        self._forget = forget
        self._drop = drop
        self.root = Folder(None, "")
        self._todo = [self.root]
        self.links = LinkTable(tree)
        self._others: set[str] = set()
        self._closed: set[Folder] = set()
        """Directories that may not be listed or searched, and those whose path is too long."""
        self._log_rules = False
        """Whether the concealed log has, or had, the name of an ignore file: then only a walk gives the right rules."""
        self.entries: dict[str, CachedFile] = {}
        self.paths: list[str] = []
        """All listed files, sorted. Current after `refresh`."""
        self.version = 0
        """Increases whenever `paths`, `problems` or names that affect ignore rules change."""
        self._changed: set[str] = set()

    @property
    def problems(self) -> list[str]:
        """Names that are no files and lead to none, sorted."""
        links = (link.path for link in self.links if not link.listed and not link.denied)
        return sorted([*links, *self._others])

    @property
    def opaque(self) -> bool:
        """Whether a walk may find more, because a directory could not be listed."""
        return self._log_rules or bool(self._closed)

    def step(self, opener: BatchOpener) -> bool:
        """Scan one more directory. Return False when all are scanned."""
        self._scan(self._todo.pop(), opener)
        return bool(self._todo)

    def refresh(self) -> None:
        """Apply all events since the last call. Raises Lost, Shortage or Unwatchable."""
        stale = self._read_events()
        if stale:
            with self._tree.batch_opener() as opener:
                for folder in stale:
                    if self._attached(folder):
                        self._scan(folder, opener)
                while self._todo:
                    self._scan(self._todo.pop(), opener)
        self._changed |= self.links.follow(self._changed, every=self.opaque)
        self._settle()

    def _read_events(self) -> list[Folder]:
        """Read the events and drop what changed. Return the directories that have to be scanned again."""
        stale: dict[Folder, None] = {}
        for event, owners in self._watched.events():
            if event.kind & (OVERFLOW | UNMOUNT):
                raise Lost
            for owner in owners:
                if isinstance(owner, CachedFile):
                    self._forget(owner)
                elif event.name:
                    self._apply_to_child(owner, os.fsdecode(event.name), event.kind, stale)
                elif event.kind & (ATTRIB | IGNORED):
                    # The directory itself: its mode changed, or it is gone.
                    if owner.parent is None:
                        raise Lost
                    self._drop_child(owner.parent, owner.name)
                    stale[owner.parent] = None
        return list(stale)

    def _apply_to_child(self, folder: Folder, name: str, kind: int, stale: dict[Folder, None]) -> None:
        child = folder.children.get(name)
        if kind & NAMES or (isinstance(child, Folder) and kind & ATTRIB):
            self._drop_child(folder, name)
            stale[folder] = None

    def _attached(self, folder: Folder) -> bool:
        while folder.parent is not None:
            if folder.parent.children.get(folder.name) is not folder:
                return False
            folder = folder.parent
        return True

    def _scan(self, folder: Folder, opener: BatchOpener) -> None:
        """List a directory, update its children, and queue its new subdirectories."""
        found: dict[str, tuple[str, int]] = {}
        try:
            for _ in range(MAX_MOVES):
                descriptor = opener.folder(folder.path)
                if self._watched.directory(folder, descriptor):
                    # Another directory is at this path now.
                    for name in list(folder.children):
                        self._drop_child(folder, name)
                entries = {name: (kind, inode) for name, kind, inode in scan(descriptor)}
                if opener.folder_is_in_place():
                    found = entries
                    break
                # It was moved, and these names may be from outside; if it comes back, its parent's watch reports it.
                opener.close()
        except OSError as error:
            opener.close()
            if error.errno not in _GONE or folder.parent is None:
                raise refused(error) from None
            if error.errno in _CLOSED:
                self._closed.add(folder)
        policy = self._tree.policy
        if policy.active:
            found = {
                name: (kind, inode)
                for name, (kind, inode) in found.items()
                if not policy.denies(folder.prefix + printed_entry(name), is_directory=kind == FOLDER)
            }
        for name in [name for name in folder.children if name not in found]:
            self._drop_child(folder, name)
        new: list[Folder] = []
        for name, (kind, inode) in sorted(found.items()):
            self._add_child(folder, name, kind, inode, new)
        # A stack, so that files are read about in the order of their paths and neighbours are stored together.
        self._todo += reversed(new)

    def _add_child(self, folder: Folder, name: str, kind: str, inode: int, new: list[Folder]) -> None:
        known = folder.children.get(name)
        wanted = {FILE: CachedFile, FOLDER: Folder, LINK: Link, OTHER: Other}[kind]
        if known is not None:
            if isinstance(known, wanted):
                return
            self._drop_child(folder, name)
        path = folder.prefix + printed_entry(name)
        if name in _RULING:
            self._changed.add(path)
        if kind == FOLDER:
            child = Folder(folder, name)
            folder.children[name] = child
            new.append(child)
            # A directory may be counted among the names left out even if it has no files.
            self._changed.add(child.prefix)
        elif kind == LINK:
            # Followed by `refresh`, when all directories are known.
            folder.children[name] = self.links.add(path)
            self._changed.add(path)
        elif kind == OTHER:
            folder.children[name] = Other(path)
            self._others.add(path)
            self._changed.add(path)
        elif self._tree.is_listed(path, inode):
            entry = CachedFile(path)
            folder.children[name] = self.entries[path] = entry
            self._forget(entry)
            self._changed.add(path)
        elif name in (*IGNORE_FILES, *_RULING):
            self._log_rules = True

    def _drop_child(self, folder: Folder, name: str) -> None:
        dropped = [folder.children.pop(name, None)]
        if name in _RULING:
            self._changed.add(folder.prefix + name)
        while dropped:
            child = dropped.pop()
            if isinstance(child, Folder):
                dropped += child.children.values()
                child.children = {}
                self._changed.add(child.prefix)
                self._closed.discard(child)
                self._watched.release(child)
            elif isinstance(child, CachedFile):
                self._drop(child)
                self._watched.release(child)
                del self.entries[child.path]
                self._changed.add(child.path)
            elif isinstance(child, Link):
                self.links.remove(child)
                self._changed.add(child.path)
            elif isinstance(child, Other):
                self._others.discard(child.path)
                self._changed.add(child.path)

    def _settle(self) -> None:
        """Update the sorted list of paths with the names that changed."""
        if not self._changed:
            return
        self.version += 1
        if len(self._changed) > 64:
            links = [link.path for link in self.links if link.listed]
            self.paths = sorted([*self.entries, *links])
        else:
            for path in self._changed:
                index = bisect_left(self.paths, path)
                held = index < len(self.paths) and self.paths[index] == path
                link = self.links.get(path)
                listed = path in self.entries or (link is not None and link.listed)
                if held and not listed:
                    del self.paths[index]
                elif listed and not held:
                    self.paths.insert(index, path)
        self._changed.clear()
