"""Find the files that may have changed a search's answer: those modified after it."""

from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from typing import Any

from zeno.errors import ZenoError
from zeno.files.file_tree import FileTree
from zeno.files.roots import walk_all
from zeno.search.selection import EVERYTHING, under
from zeno.trace.log import seconds_of

_NAMED = 5
# Modification times are those of the kernel's last tick: up to 10 ms, in nanoseconds, before the change.
_TICK = 10_000_000


def paths_read(tree: FileTree, args: dict[str, Any]) -> Callable[[str], bool]:
    """Return a test for paths that a request can have read: the one it names, those its `paths` select, or any."""
    path, paths = args.get("path"), args.get("paths")
    with suppress(ZenoError):
        if isinstance(path, str):
            return {tree.place(path).path}.__contains__
        if isinstance(paths, list) and all(isinstance(one, str) for one in paths):
            return under(tree, paths, "paths").wanted
    return EVERYTHING.wanted


class Suspects:
    """Modification times of the files and directories of a tree, looked up once."""

    def __init__(self, tree: FileTree) -> None:
        self.tree = tree
        self._files: dict[str, int] | None = None
        self._directories: dict[str, int] = {}

    def find_changed(self, moment: str, op: str, args: dict[str, Any]) -> tuple[str, ...]:
        """Return up to five files that a search covers and that changed at `moment` or later.

        If there are none, or for `list_files` by path, return changed directories: files were added or removed there.
        """
        since = seconds_of(moment) or 0
        files = self._look()
        if op != "list_files" or args.get("tree") or args.get("sort") == "mtime":
            wanted = paths_read(self.tree, args)
            found = (path for path, changed in files.items() if changed >= since and wanted(path))
            if named := tuple(islice(found, _NAMED)):
                return named
        changed = (f"{path}/" for path, changed in self._directories.items() if changed >= since)
        return tuple(islice(changed, _NAMED))

    def _look(self) -> dict[str, int]:
        if self._files is None:
            self._files = {}
            self._directories["."] = self._find_mtime(".")
            for path, problem in walk_all(self.tree, include_hidden=True):
                if problem is not None:
                    continue
                self._files[path] = self._find_mtime(path)
                parent = path.rpartition("/")[0]
                while parent and parent not in self._directories:
                    self._directories[parent] = self._find_mtime(parent)
                    parent = parent.rpartition("/")[0]
        return self._files

    def _find_mtime(self, path: str) -> int:
        """Return the modification time in whole seconds, as in a trace; -1 if it is unknown."""
        try:
            entry = self.tree.place(path).entry
        except ZenoError:
            return -1
        return -1 if entry is None else (entry.mtime_ns + _TICK) // 10**9
