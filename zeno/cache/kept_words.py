"""Facts and words of cached texts, kept by content: found in idle moments, and looked up by ranked searches."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from zeno.code.pool import SourceText
from zeno.code.table import FactTable
from zeno.meter import Meter
from zeno.search.word_counts import WordCounts

if TYPE_CHECKING:
    from zeno.cache.text_store import CachedFile, HeldText
    from zeno.cache.tree_cache import TreeCache

# One of so many texts whose words are kept may be gone; and where there is no room for more.
GONE, FULL_GONE = 2, 8


class ParseAhead:
    """Works through the texts of a cache, again after each change."""

    def __init__(self, facts: FactTable) -> None:
        self._facts = facts
        self.parsed_version = -1
        """The version of the cached contents for which nothing is left to do."""
        self._steps: Iterator[None] = iter(())

    def step(self, cache: "TreeCache") -> bool:
        """Parse a few texts; return False when nothing is left to do."""
        for _ in self._steps:
            return True
        self._steps = self._work(cache)
        return next(self._steps, self) is None

    def _work(self, cache: "TreeCache") -> Iterator[None]:
        words = self._facts.words
        while self.parsed_version != (version := cache.content_version):
            texts = list_unparsed(list(cache.entries.values()))
            while version == cache.content_version and self._facts.parse_ahead(texts):
                yield
            if version == cache.content_version:
                self.parsed_version = version
                live = {held.words for held in cache.store.list_texts()}
                if len(words) - len(live) > len(words) // (FULL_GONE if words.full else GONE):
                    yield from words.forget_others(live)


def list_unparsed(files: "Iterable[CachedFile]") -> Iterator[SourceText]:
    """Yield the texts in memory whose words are not known, one after the other."""
    for file in files:
        held = file.text
        if held is not None and held.segment is not None and held.words < 0:
            yield SourceText(file.path, held.read(), held)


class HeldWords:
    """Some selected files by the numbers of their contents. It describes one state of the cache and of the words."""

    def __init__(
        self,
        paths: Sequence[str],
        unheld: Sequence[str],
        held_texts: "Iterable[tuple[str, HeldText]]",
        facts: FactTable,
    ) -> None:
        """Take some paths, those of them whose texts are not in memory, and the others with their texts."""
        self._paths = paths
        self._facts = facts
        words = facts.words
        self.version = words.count
        self._contents = array("i", [-1]) * len(paths)
        """The number of each file's content; -1 where it is not known."""
        self._has_text = bytearray(len(paths))
        nowhere = len(paths)
        self._files = [nowhere] * words.count
        """The first file with each content, by index of its path."""
        self._twins: dict[int, int] = {}
        """Further files with the same contents, and the first."""
        self.uncounted: list[str] = list(unheld)
        """Files that have to be counted for each request."""
        self._size = 0
        indexes = {path: index for index, path in enumerate(paths)}
        for path, held in held_texts:
            if held.words < 0:
                self.uncounted.append(path)
                continue
            index = indexes[path]
            self._contents[index] = held.words
            self._size += held.end - held.start
            self._has_text[index] = held.end > held.start
            first = self._files[held.words]
            if first == nowhere:
                self._files[held.words] = index
            else:
                self._twins[index] = first

    def add_to(self, counts: WordCounts, meter: Meter) -> None:
        """Add the files whose words are kept, as the first of all."""
        meter.count_file(self._size, len(self._has_text) - len(self.uncounted))
        counts.words.has_text[:] = self._has_text
        counts.words.twins.update(self._twins)
        for word, (files, strengths) in counts.words.occurrences.items():
            meter.check()
            self._facts.words.find(word, self._files, files, strengths)
        counts.note_definitions(self._may_define)

    def _may_define(self, file: int, keys: frozenset[int], /) -> bool:
        content = self._contents[file]
        return content < 0 or self._facts.may_define(self._paths[file], content, keys)
