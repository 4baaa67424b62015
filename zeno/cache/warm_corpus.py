"""A corpus that answers from memory, with the same answers as from disk.

The tree is read into memory in idle moments: first the listing, then the texts, then the index, which another process
computes. Files that are not in memory yet, or no longer, are read from disk; so is everything where changes cannot be
watched.
"""

import gc
from collections.abc import Callable
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from zeno.cache.kept_words import ParseAhead
from zeno.code.table import FactTable
from zeno.files.open_file import TextFile
from zeno.files.tree import Tree
from zeno.search.corpus import ColdCorpus, Snapshot
from zeno.search.selection import Recent, Rules, select

if TYPE_CHECKING:
    from zeno.cache.located import HeldSnapshot
    from zeno.cache.text_store import CachedFile, Store
    from zeno.cache.tree_cache import TreeCache

T = TypeVar("T")

# After repeated shortages a new cache is built only after this many searches.
MAX_PAUSE = 1024
# The part of the memory for texts that is for facts about source code, and that for words: each about a sixth of the
# size of the text.
FACTS_SHARE = 8


class WarmCorpus(ColdCorpus):
    """Answers from memory where it can. `idle` fills the memory."""

    def __init__(self, tree: Tree, cache_bytes: int) -> None:
        share = cache_bytes // FACTS_SHARE
        super().__init__(tree, FactTable(share, share))
        self._cache_bytes = cache_bytes - 2 * share
        self._cache: TreeCache | None = None
        # Ignore rules that deny can change with the text of any ignore file: they are read for every request.
        self._possible = not tree.policy.ignored
        self._pause, self._next_pause = 0, 1
        """Searches to answer from disk before a new cache is built, now and after the next shortage."""
        self._is_copy = False
        self._snapshots: Recent[Rules, HeldSnapshot] = Recent()
        self._listed = -1
        """The version of the listing that the snapshots are from."""
        self._ahead = ParseAhead(self.facts)

    @cached_property
    def texts(self) -> "Store":
        """The texts in memory."""
        from zeno.cache.text_store import Store  # not needed to start

        return Store(self._cache_bytes)

    def close(self) -> None:
        super().close()
        self._drop_cache()
        if "texts" in self.__dict__:
            self.texts.index.close()

    def _drop_cache(self) -> None:
        self._ahead = ParseAhead(self.facts)
        self._snapshots.clear()
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def preparations(self) -> list[Callable[[], object]]:
        """Import what only a warm server needs, one module at a time, and make single paths cheaper."""
        modules = ["ctypes", "struct", "zeno.index.piece_index", "zeno.cache.tree_cache", "zeno.cache.located"]
        modules += ["subprocess"]  # of the processes that parse
        return [*(partial(import_module, name) for name in modules), self.tree.speed_up_lookups]

    @property
    def has_pending_work(self) -> bool:
        if not self._possible or self._pause:
            return False
        cache = self._cache
        return cache is None or cache.has_pending_work or self._ahead.parsed_version != cache.content_version

    @property
    def is_warm(self) -> bool:
        return self._cache is not None and self._cache.ready and not self._cache.listing.needs_walk

    @property
    def event_descriptors(self) -> list[int]:
        """The descriptor of the cache, once it is listed."""
        return [self._cache.event_descriptor] if self._cache is not None and self._cache.ready else []

    def before_fork(self) -> None:
        """Bring the cache up to date, so that a forked copy may use it as it is."""
        self._current()

    def in_fork(self) -> None:
        """Use the cache as it is: the kernel reports each change once, and the parent must read it."""
        self._is_copy = True

    def idle(self) -> bool:
        """Apply changes, and do one step of preparation; return False when nothing is left to do for now."""
        if not self._possible or self._pause:
            return False
        more = self._attempt(self._step)
        return self.has_pending_work if more is None else more

    def _step(self) -> bool:
        if self._cache is None:
            from zeno.cache.tree_cache import TreeCache

            self._cache = TreeCache(self.tree, self.texts)
        elif self._cache.ready:
            self._cache.listing.refresh()
        return self._cache.prepare() or self._ahead.step(self._cache)

    def _attempt(self, work: Callable[[], T]) -> T | None:
        """Return the result of work on the cache; None if the cache had to be closed."""
        try:
            return work()
        except Exception as error:
            from zeno.cache.watch import Lost, Shortage, Unwatchable  # not needed to start

            if not isinstance(error, Lost | Shortage | Unwatchable):
                raise
            self._drop_cache()
            self._possible = not isinstance(error, Unwatchable)
            if isinstance(error, Shortage):
                # Its parts refer to each other: without this the memory of several caches would be in use.
                gc.collect()
                # Another cache is built after some searches, twice as many after each shortage.
                self._pause, self._next_pause = self._next_pause, min(2 * self._next_pause, MAX_PAUSE)
        return None

    def snapshot(self, rules: Rules) -> Snapshot:
        """Take the candidates from the cached listing, brought up to date."""
        cache = self._current()
        if cache is None:
            return super().snapshot(rules)
        if self._listed != cache.listing.version:
            self._listed = cache.listing.version
            self._snapshots.clear()
        if rules in self._snapshots:
            return self._snapshots[rules]
        # Only a walk finds out which directories cannot be listed. Reading ignore files from the cache adds watches,
        # and those of a copy belong to its parent.
        walked = cache.listing.needs_walk or (self._is_copy and rules.names.gitignore)
        names = None if walked else cache.walk(rules.names)
        candidates = self.walk(rules) if names is None else select(names, rules)
        from zeno.cache.located import HeldSnapshot  # not needed to start

        taken = HeldSnapshot(self.tree, cache, self.facts, candidates)
        return taken if names is None else self._snapshots.keep(rules, taken)

    def find_text(self, path: str, /) -> TextFile | None:
        """Return the file at a relative path, or the one that a link leads to, if its text is in memory."""
        cache = self._current()
        return None if cache is None else cache.find_text(path)

    def find_cached(self, path: str) -> "CachedFile | None":
        """Return the cached file at a path, which may have changed on disk meanwhile."""
        return None if self._cache is None else self._cache.entries.get(path)

    def _current(self) -> "TreeCache | None":
        """Return the cache with all changes applied; None if there is none or it had to be closed."""
        self._pause = max(self._pause - 1, 0)
        cache = self._cache
        if cache is None or not cache.ready:
            return None
        if self._is_copy:
            return cache
        self._attempt(cache.listing.refresh)
        if self._cache is None:
            return None
        self._next_pause = 1
        return cache
