"""A corpus that answers from memory, with the same answers as from disk.

The tree is read into memory in idle moments: first the listing, then the texts, then the index, which another process
computes. Files that are not in memory yet, or no longer, are read from disk; so is everything where changes cannot be
watched.
"""

import gc
from collections.abc import Callable, Collection
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from zeno.cache.parse_ahead import ParseAhead
from zeno.code.table import FactTable
from zeno.files.file_tree import SearchedTree, TextFile
from zeno.files.tree import Tree
from zeno.meter import Meter
from zeno.search.corpus import ColdCorpus, Snapshot
from zeno.search.loop import Sharing
from zeno.search.query import Query
from zeno.search.selection import Candidates, Recent, Rules, Selection, select
from zeno.search.word_counts import WordCounts
from zeno.text.path_names import Paths

if TYPE_CHECKING:
    from zeno.cache.held_words import HeldWords
    from zeno.cache.located import KnownFiles, Located
    from zeno.cache.text_store import CachedFile, Store
    from zeno.cache.tree_cache import TreeCache

T = TypeVar("T")

MAX_SELECTIONS = 4
# After repeated shortages a new cache is built only after this many searches.
MAX_PAUSE = 1024
# The part of the memory for texts that is for facts about source code, and that for words: each about a sixth of the
# size of the text.
FACTS_SHARE = 8


class WarmCorpus(ColdCorpus):
    """Answers from memory where it can. `idle` fills the memory."""

    def __init__(self, tree: Tree, cache_bytes: int) -> None:
        share = cache_bytes // FACTS_SHARE
        super().__init__(tree, facts=FactTable(share, share))
        self._cache_bytes = cache_bytes - 2 * share
        self._cache: TreeCache | None = None
        # Ignore rules that deny can change with the text of any ignore file: they are read for every request.
        self._possible = not tree.policy.ignored
        self._pause, self._next_pause = 0, 1
        """Searches to answer from disk before a new cache is built, now and after the next shortage."""
        self._is_copy = False
        self._snapshots: Recent[Rules, WarmSnapshot] = Recent()
        self._ahead = ParseAhead(self.facts)

    @cached_property
    def texts(self) -> "Store":
        """The texts in memory."""
        from zeno.cache.text_store import Store  # not needed to start

        return Store(self._cache_bytes)

    def close(self) -> None:
        """Release everything."""
        super().close()
        self._drop_cache()
        if "texts" in self.__dict__:
            self.texts.close()

    def _drop_cache(self) -> None:
        self._ahead = ParseAhead(self.facts)
        self._snapshots.clear()
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def preparations(self) -> list[Callable[[], object]]:
        """Import what only a warm server needs, one module at a time, and make single paths cheaper."""
        modules = ("ctypes", "struct", "zeno.cache.index_builder", "zeno.cache.tree_cache", "zeno.cache.located")
        return [*(partial(import_module, name) for name in modules), self.tree.speed_up_lookups]

    @property
    def has_pending_work(self) -> bool:
        """Whether something is left to prepare."""
        if not self._possible or self._pause:
            return False
        cache = self._cache
        return cache is None or cache.has_pending_work or self._ahead.parsed_version != cache.content_version

    @property
    def is_warm(self) -> bool:
        """Whether files are listed and searched in memory."""
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
            self._cache.refresh()
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
        kept = self._snapshots.get(rules)
        if kept is not None and kept.version == cache.version:
            return kept
        # Only a walk finds out which directories cannot be listed. Reading ignore files from the cache adds watches,
        # and those of a copy belong to its parent.
        walked = cache.listing.needs_walk or (self._is_copy and rules.names.gitignore)
        names = None if walked else cache.walk(rules.names)
        if names is None:
            return WarmSnapshot(self.tree, cache, self.facts, self.walk(rules), rules)
        return self._snapshots.keep(rules, WarmSnapshot(self.tree, cache, self.facts, select(names, rules), rules))

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
        self._attempt(cache.refresh)
        if self._cache is None:
            return None
        self._next_pause = 1
        return cache


class HeldSnapshot(Snapshot):
    """Candidates of which texts may be in memory, with recent selections of them. Kept between requests."""

    def __init__(
        self,
        tree: SearchedTree,
        known: "KnownFiles",
        facts: FactTable,
        candidates: Candidates,
        sharing: Sharing | None = None,
    ) -> None:
        super().__init__(candidates, tree, sharing)
        self.known = known
        self._facts = facts
        self._selected: Recent[tuple[str, ...], _Selected] = Recent(MAX_SELECTIONS)
        """Recent selections, by their entries."""

    def paths(self, selection: Selection) -> Paths:
        """The candidates that a selection asks for."""
        return self._select(selection).paths

    def _files(self, selection: Selection, query: Query, _meter: Meter) -> "Located":
        """Return where their texts are: those in memory that the index does not rule out are searched there."""
        return self._select(selection).locate(self.known, query.max_bytes)

    def count_words(self, selection: Selection, query: Query, words: Collection[bytes], meter: Meter) -> WordCounts:
        """Take the words that are kept, and count those of the other files."""
        located = self._files(selection, query, meter)
        selected = self._select(selection)
        held = selected.find_words(located, self._facts)
        counts = WordCounts(selected.paths, words, meter)
        held.add_to(counts, meter)
        if held.uncounted:
            uncounted = frozenset(held.uncounted)
            rest = Selection(uncounted.__contains__, lambda _: True, lambda _: sorted(uncounted))
            counts.skipped = self.search(rest, query, counts, meter)
        counts.skipped.add_all(located.skipped)
        return counts

    def _select(self, selection: Selection) -> "_Selected":
        entries = selection.entries
        if entries is None:
            return _Selected(selection.of(self.candidates))
        return self._selected.get(entries) or self._selected.keep(entries, _Selected(selection.of(self.candidates)))


class WarmSnapshot(HeldSnapshot):
    """The candidates that some rules leave in the working tree."""

    known: "TreeCache"

    def __init__(self, tree: Tree, cache: "TreeCache", facts: FactTable, candidates: Candidates, rules: Rules) -> None:
        super().__init__(tree, cache, facts, candidates)
        self.version = cache.version
        """The version of the listing that the candidates are from."""
        self._include_hidden = rules.names.include_hidden

    def _files(self, selection: Selection, query: Query, meter: Meter) -> "Located":
        """Return where their texts are, as the disk has them now."""
        if self._include_hidden:
            # Only a search reads them; a list of names, and a hint, do not.
            self.known.want_hidden()
        located = super()._files(selection, query, meter)
        if located.stamped:
            self.known.check(located.stamped, meter)
            located = super()._files(selection, query, meter)
        return located


class _Selected:
    """Some files, and where their texts were when that was last asked."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self._located: Located | None = None
        self._words: HeldWords | None = None

    def locate(self, files: "KnownFiles", max_bytes: int) -> "Located":
        """Return where their texts are now."""
        from zeno.cache.located import Located  # not needed to start

        if self._located is None or not self._located.is_current(max_bytes):
            self._located = Located(files, self.paths, max_bytes)
        return self._located

    def find_words(self, located: "Located", facts: FactTable) -> "HeldWords":
        """Return which of their words are kept now."""
        from zeno.cache.held_words import HeldWords  # not needed to start

        if self._words is None or self._words.version != (located.version, facts.words.count):
            self._words = HeldWords(located, self.paths, facts)
        return self._words
