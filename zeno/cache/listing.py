"""Cached directory listing, updated from inotify events.

If not every change can be watched, there is no listing and callers walk the tree: `Unwatchable` is raised if watching
is impossible, `Lost` or `Shortage` if a new listing can be made, at once or later.
"""

import errno
import os
from collections.abc import Callable
from functools import partial

from zeno.cache.link_table import Link, LinkTable
from zeno.cache.text_store import CachedFile
from zeno.cache.watch import (
    ATTRIB,
    IGNORED,
    NAMES,
    OVERFLOW,
    UNMOUNT,
    Lost,
    Watched,
    Watches,
    to_watch_error,
)
from zeno.files.batch_open import FILE, FOLDER, LINK, BatchOpener, scan
from zeno.files.rules import NameRules
from zeno.files.tree import Tree
from zeno.files.walk import LINKED, NOT_REGULAR, WalkedNames
from zeno.text.gitignore import EXCLUDE, IGNORE_FILES, REPOSITORY, Ignores
from zeno.text.path_names import decode_entry

# Names that affect ignore rules even if they are no files.
_RULING = (REPOSITORY, EXCLUDE)
_CLOSED = {errno.EACCES, errno.EPERM, errno.ENAMETOOLONG}
# One that keeps moving may be listed outside; if it comes back, its parent's watch reports it.
_GONE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ESTALE, *_CLOSED}


class Folder(Watched):
    """A directory and its entries, by name as `os.scandir` decodes it."""

    __slots__ = ("children", "name", "parent", "path", "prefix")

    def __init__(self, parent: "Folder | None", name: str) -> None:
        super().__init__()
        self.parent = parent
        self.name = name
        self.path: bytes = b""
        """From the root, in the bytes of the file system."""
        self.prefix = ""
        """Prefix of the printed paths of its entries."""
        if parent is not None:
            encoded = os.fsencode(name)
            self.path = parent.path + b"/" + encoded if parent.path else encoded
            self.prefix = f"{parent.prefix}{decode_entry(name)}/"
        self.children: dict[str, Folder | CachedFile | Link] = {}


class Listing:
    """All directories under the root; complete once `step` has returned False. `forget` is called for files that are
    new or changed, `drop` for files that are gone."""

    def __init__(
        self,
        tree: Tree,
        watches: Watches,
        forget: Callable[[CachedFile], None],
        drop: Callable[[CachedFile], None],
    ) -> None:
        self._tree = tree
        self._watches = watches
        self._forget = forget
        self._drop = drop
        self.root = Folder(None, "")
        self._todo = [self.root]
        self.links = LinkTable(tree)
        self._closed: set[Folder] = set()
        """Directories that may not be listed or searched, and those whose path is too long."""
        self._log_rules = False
        """Whether the concealed log has, or had, the name of an ignore file: then only a walk gives the right rules."""
        self.entries: dict[str, CachedFile] = {}
        self.version = 0
        """Increases whenever names, targets of links or ignore rules change. Current after `refresh`."""
        self._changed: set[str] = set()
        """Paths of names that changed since."""

    @property
    def needs_walk(self) -> bool:
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
                    if self._is_attached(folder):
                        self._scan(folder, opener)
                while self._todo:
                    self._scan(self._todo.pop(), opener)
        if self._changed or self.links.unseen or self.needs_walk:
            self._changed |= self.links.follow(self._changed, every=self.needs_walk)
            self.version += bool(self._changed)
            self._changed.clear()

    def find(self, path: str) -> CachedFile | None:
        """Return a listed file, or the one that a link leads to; None if there is none."""
        entry = self.entries.get(path)
        if entry is None and (link := self.links.get(path)) is not None and link.target.path is not None:
            return self.entries.get(link.target.path)
        return entry

    def walk(self, rules: NameRules, text: Callable[[CachedFile], bytes]) -> list[WalkedNames]:
        """Return what a walk by these rules would find, files last. `text` returns the text of an ignore file.

        Raises OSError if one cannot be read.
        """
        files: list[str] = []
        others: dict[str, list[str]] = {}
        todo = [(self.root, rules.begin())]
        while todo:
            folder, around = todo.pop()
            base = folder.path + b"/" if folder.path else b""
            ignores = None if around is None else _inside(folder, base, around, text)
            children = folder.children
            without = rules.leave_out(
                ((name, child.__class__ is Folder) for name, child in children.items()), base, ignores
            )
            for name, child in children.items():
                if name in without:
                    path = child.prefix if isinstance(child, Folder) else child.path
                    others.setdefault(without[name], []).append(path)
                elif isinstance(child, CachedFile):
                    files.append(child.path)
                elif isinstance(child, Folder):
                    todo.append((child, ignores))
                elif child.target.path is not None:
                    files.append(child.path)
                elif not child.target.denied:
                    others.setdefault(LINKED if child.target.to_folder else NOT_REGULAR, []).append(child.path)
        return [*(WalkedNames(paths, why) for why, paths in others.items()), WalkedNames(sorted(files), None)]

    def _read_events(self) -> list[Folder]:
        """Read the events and drop what changed. Return the directories that have to be scanned again."""
        stale: dict[Folder, None] = {}
        for event, owners in self._watches.events():
            if event.kind & (OVERFLOW | UNMOUNT):
                raise Lost
            for owner in owners:
                if isinstance(owner, CachedFile):
                    self._forget(owner)
                elif isinstance(owner, Folder) and event.name:
                    self._apply_to_child(owner, os.fsdecode(event.name), event.kind, stale)
                elif isinstance(owner, Folder) and event.kind & (ATTRIB | IGNORED):
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

    def _is_attached(self, folder: Folder) -> bool:
        while folder.parent is not None:
            if folder.parent.children.get(folder.name) is not folder:
                return False
            folder = folder.parent
        return True

    def _scan(self, folder: Folder, opener: BatchOpener) -> None:
        """List a directory, update its children, and queue its new subdirectories."""
        found: dict[str, tuple[str, int]] = {}
        try:
            found = opener.list_folder(folder.path, partial(self._watch_and_list, folder))
        except OSError as error:
            opener.close()
            if error.errno not in _GONE or folder.parent is None:
                raise to_watch_error(error) from None
            if error.errno in _CLOSED:
                self._closed.add(folder)
        policy = self._tree.policy
        if policy.active:
            found = {
                name: (kind, inode)
                for name, (kind, inode) in found.items()
                if not policy.denies(folder.prefix + decode_entry(name), is_directory=kind == FOLDER)
            }
        for name in [name for name in folder.children if name not in found]:
            self._drop_child(folder, name)
        new: list[Folder] = []
        for name, (kind, inode) in sorted(found.items()):
            self._add_child(folder, name, kind, inode, new)
        # A stack, so that files are read about in the order of their paths and neighbours are stored together.
        self._todo += reversed(new)

    def _watch_and_list(self, folder: Folder, descriptor: int) -> dict[str, tuple[str, int]]:
        """Return kind and inode of the entries of an open directory by name. Each later change causes an event."""
        if self._watches.watch_directory(folder, descriptor):
            # Another directory is at this path now.
            for name in list(folder.children):
                self._drop_child(folder, name)
        return {name: (kind, inode) for name, kind, inode in scan(descriptor)}

    def _add_child(self, folder: Folder, name: str, kind: str, inode: int, new: list[Folder]) -> None:
        known = folder.children.get(name)
        if known is not None:
            if isinstance(known, {FILE: CachedFile, FOLDER: Folder}.get(kind, Link)):
                return
            self._drop_child(folder, name)
        path = folder.prefix + decode_entry(name)
        if name in _RULING:
            self._changed.add(path)
        if kind == FOLDER:
            child = Folder(folder, name)
            folder.children[name] = child
            new.append(child)
            # A directory may be counted among the names left out even if it has no files.
            self._changed.add(child.prefix)
        elif kind != FILE:
            # `refresh` follows links, when all directories are known. A FIFO, a socket or a device leads nowhere.
            folder.children[name] = self.links.add(path) if kind == LINK else Link(path)
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
                self._watches.release(child)
            elif isinstance(child, CachedFile):
                self._drop(child)
                self._watches.release(child)
                del self.entries[child.path]
                self._changed.add(child.path)
            elif isinstance(child, Link):
                self.links.remove(child)
                self._changed.add(child.path)


def _inside(folder: Folder, base: bytes, around: Ignores, text: Callable[[CachedFile], bytes]) -> Ignores:
    """Return the rules inside a directory; `base` is its path with a slash at the end."""
    files = {name: child for name in IGNORE_FILES if isinstance(child := folder.children.get(name), CachedFile)}
    repository = folder.children.get(REPOSITORY)
    if not files and repository is None:
        return around
    exclude = None
    info = repository.children.get("info") if isinstance(repository, Folder) else None
    held = info.children.get(EXCLUDE) if isinstance(info, Folder) else None
    if isinstance(held, CachedFile):
        exclude = text(held)
    elif held is not None:
        raise OSError(errno.EINVAL, "an entry with the name of an ignore file is no file")
    texts = {name: text(entry) for name, entry in files.items()}
    return around.enter(base, texts, exclude, is_repository=repository is not None)
