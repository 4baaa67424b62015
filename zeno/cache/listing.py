"""The names under the root, held: all directories with their entries, kept true by what the kernel tells.

Where the kernel cannot tell everything nothing is held, and whoever asks walks instead: `Unwatchable` is raised where
it never will, `Lost` where it failed to once, so that one can start anew.
"""

import errno
import os
from bisect import bisect_left
from collections.abc import Callable

from zeno.cache.errors import Lost, Unwatchable
from zeno.cache.inotify import ATTRIB, IGNORED, NAMES, OVERFLOW, UNMOUNT
from zeno.cache.text_store import Entry
from zeno.cache.watch_table import Watched
from zeno.files.batch_open import FILE, FOLDER, LINK, OTHER, Descent, scan
from zeno.files.location import MAX_MOVES
from zeno.files.tree import Tree
from zeno.text.gitignore import EXCLUDE, IGNORE_FILES, REPOSITORY
from zeno.text.path_names import printed_entry

# What makes rules even where it is no file: where a repository begins, and what stands in the place of its rules.
_RULING = (REPOSITORY, EXCLUDE)
_GONE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.EPERM}


class Link:
    """A symbolic link, and where it led when it was last followed."""

    __slots__ = ("abroad", "denied", "path", "target")

    def __init__(self, path: str) -> None:
        self.path = path
        self.target: str | None = None
        """The path of the regular file that it leads to, if any."""
        self.denied = False
        """Whether it leads to what the policy denies."""
        self.abroad = True
        """Whether its way passed an absolute link that does not begin with the root's own name: such a way can change
        though nothing under the root does."""

    @property
    def listed(self) -> bool:
        """Whether it shows up in the listing."""
        return self.target is not None


class Other:
    """What is neither file nor directory nor link: a FIFO, a socket, a device."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path


class Folder:
    """A directory and its entries by the names that the system uses."""

    __slots__ = ("children", "denied", "name", "parent", "path", "prefix", "watch")

    def __init__(self, parent: "Folder | None", name: str) -> None:
        self.parent = parent
        self.name = name
        self.path: bytes = b""
        """From the root, in the bytes of the file system."""
        self.prefix = ""
        """What the printed paths of its entries begin with."""
        if parent is not None:
            encoded = os.fsencode(name)
            self.path = parent.path + b"/" + encoded if parent.path else encoded
            self.prefix = f"{parent.prefix}{printed_entry(name)}/"
        self.watch = -1
        self.denied: frozenset[str] = frozenset()
        """Printed paths of entries that the policy denies. Nothing else is known of them."""
        self.children: dict[str, Folder | Entry | Link | Other] = {}


class Listing:
    """The directories under the root. Complete once `step` has returned False."""

    def __init__(
        self,
        tree: Tree,
        watched: Watched[Folder | Entry],
        forget: Callable[[Entry], None],
        drop: Callable[[Entry], None],
    ) -> None:
        self._tree = tree
        self._watched = watched
        self._forget = forget
        self._drop = drop
        self.root = Folder(None, "")
        self._todo = [self.root]
        self.links: dict[str, Link] = {}
        self._others: set[str] = set()
        self._closed: set[Folder] = set()
        """Directories that could not be listed or entered."""
        self._log_rules = False
        """Whether the log has, or had, a name that makes rules: only a walk can tell what it says by now."""
        self.entries: dict[str, Entry] = {}
        self.paths: list[str] = []
        """All files that a listing shows, sorted; right after `refresh`."""
        self.version = 0
        """Grows whenever `paths` or `problems` change, or what makes rules."""
        self._changed: set[str] = set()

    @property
    def problems(self) -> list[str]:
        """The names that are no files and lead to none, sorted."""
        links = (link.path for link in self.links.values() if not link.listed and not link.denied)
        return sorted([*links, *self._others])

    @property
    def opaque(self) -> bool:
        """Whether a walk may tell more: some directory could not be listed, so that links may lead behind it too."""
        return self._log_rules or bool(self._closed)

    def step(self, descent: Descent) -> bool:
        """Look at one more directory; False when all were looked at."""
        self._scan(self._todo.pop(), descent)
        return bool(self._todo)

    def refresh(self) -> None:
        """Bring everything up to now."""
        stale = self._told()
        if stale:
            with self._tree.descent() as descent:
                for folder in stale:
                    if self._attached(folder):
                        self._scan(folder, descent)
                while self._todo:
                    self._scan(self._todo.pop(), descent)
        if self.links:
            self._follow_links(every=bool(stale) or self.opaque)
        self._settle()

    def _follow_links(self, *, every: bool) -> None:
        """Follow all links again, or where all directories are seen those that may change though no name is new."""
        for link in self.links.values():
            if every or link.abroad:
                before = (link.target, link.denied)
                link.target, link.abroad, link.denied = self._tree.leads(link.path)
                if (link.target, link.denied) != before:
                    self._changed.add(link.path)

    def _told(self) -> list[Folder]:
        """Forget what has changed; returns the directories whose entries have to be looked at again."""
        stale: dict[Folder, None] = {}
        for event, owners in self._watched.events():
            if event.kind & (OVERFLOW | UNMOUNT):
                raise Lost
            for owner in owners:
                if isinstance(owner, Entry):
                    self._forget(owner)
                elif event.name:
                    self._told_of_child(owner, os.fsdecode(event.name), event.kind, stale)
                elif event.kind & (ATTRIB | IGNORED):
                    # The directory itself: who may list it has changed, or it is gone.
                    if owner.parent is None:
                        raise Lost
                    self._drop_child(owner.parent, owner.name)
                    stale[owner.parent] = None
        return list(stale)

    def _told_of_child(self, folder: Folder, name: str, kind: int, stale: dict[Folder, None]) -> None:
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

    def _scan(self, folder: Folder, descent: Descent) -> None:
        """Look at the entries of a directory, and at what is new among them later."""
        found: dict[str, tuple[str, int]] = {}
        try:
            for _ in range(MAX_MOVES):
                descriptor = descent.folder(folder.path)
                if self._watched.directory(folder, descriptor):
                    # Another directory has this name now.
                    for name in list(folder.children):
                        self._drop_child(folder, name)
                entries = {name: (kind, inode) for name, kind, inode in scan(descriptor)}
                if descent.folder_is_in_place():
                    found = entries
                    break
                # It was moved, and these may be names given outside; if it comes back, the watch above it tells.
                descent.close()
        except OSError as error:
            descent.close()
            if error.errno not in _GONE or folder.parent is None:
                raise Unwatchable from None
            if error.errno in (errno.EACCES, errno.EPERM):
                self._closed.add(folder)
        if self._tree.policy.active:
            self._drop_denied(folder, found)
        for name in [name for name in folder.children if name not in found]:
            self._drop_child(folder, name)
        new: list[Folder] = []
        for name, (kind, inode) in sorted(found.items()):
            self._add_child(folder, name, kind, inode, new)
        # Last in, first out: files are met about in the order of their paths, so that neighbours are held together.
        self._todo += reversed(new)

    def _drop_denied(self, folder: Folder, found: dict[str, tuple[str, int]]) -> None:
        """Take the names out of what was found in a directory that the policy denies; the log is not even counted."""
        denied = set()
        for name, (kind, inode) in [*found.items()]:
            path = folder.prefix + printed_entry(name)
            if self._tree.policy.denies(path, is_directory=kind == FOLDER):
                del found[name]
                if kind != FILE or inode != self._tree.concealed_inode:
                    denied.add(path)
        if denied != folder.denied:
            self._changed |= denied ^ folder.denied
            folder.denied = frozenset(denied)

    def _add_child(self, folder: Folder, name: str, kind: str, inode: int, new: list[Folder]) -> None:
        known = folder.children.get(name)
        wanted = {FILE: Entry, FOLDER: Folder, LINK: Link, OTHER: Other}[kind]
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
            # A directory that is not entered counts among what rules leave out, though no file comes with it.
            self._changed.add(child.prefix)
        elif kind == LINK:
            # Followed by `refresh`, when all directories are known.
            folder.children[name] = self.links[path] = Link(path)
            self._changed.add(path)
        elif kind == OTHER:
            folder.children[name] = Other(path)
            self._others.add(path)
            self._changed.add(path)
        elif self._tree.is_listed(path, inode):
            entry = Entry(path)
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
            elif isinstance(child, Entry):
                self._drop(child)
                self._watched.release(child)
                del self.entries[child.path]
                self._changed.add(child.path)
            elif isinstance(child, Link):
                del self.links[child.path]
                self._changed.add(child.path)
            elif isinstance(child, Other):
                self._others.discard(child.path)
                self._changed.add(child.path)

    def _settle(self) -> None:
        """Bring the sorted list up to what appeared and vanished."""
        if not self._changed:
            return
        self.version += 1
        if len(self._changed) > 64:
            links = [link.path for link in self.links.values() if link.listed]
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
