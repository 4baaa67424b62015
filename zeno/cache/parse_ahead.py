"""Parse the cached texts in idle moments: facts about source code, and words, both kept by content."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from zeno.code.pool import SourceText
from zeno.code.table import FactTable

if TYPE_CHECKING:
    from zeno.cache.segments import HeldText
    from zeno.cache.text_store import CachedFile
    from zeno.cache.tree_cache import TreeCache

# One of so many texts whose words are kept may be gone; and where there is no room for more.
GONE, FULL_GONE = 2, 8


class ParseAhead:
    """Works through the texts of a cache, again after each change."""

    def __init__(self, facts: FactTable) -> None:
        self._facts = facts
        self.parsed_version = -1
        """The version of the cached contents for which nothing is left to do."""
        self._unparsed: tuple[int, Iterator[SourceText]] | None = None
        """Another version, and its texts that were not looked at yet."""
        self._forgetting: Iterator[None] = iter(())
        """Steps of forgetting the words of texts that are gone."""

    def step(self, cache: "TreeCache") -> bool:
        """Parse a few texts; return False when nothing is left to do."""
        if next(self._forgetting, True) is None:
            return True
        if self.parsed_version == cache.content_version:
            return False
        if self._unparsed is None or self._unparsed[0] != cache.content_version:
            self._unparsed = cache.content_version, _texts(list(cache.entries.values()))
        if self._facts.parse_ahead(self._unparsed[1]):
            return True
        self.parsed_version = cache.content_version
        return self._forget_words(cache)

    def _forget_words(self, cache: "TreeCache") -> bool:
        """Begin to forget the words of texts that are gone if they take much of the room; return whether they do."""
        words = self._facts.words
        live = {held.words for held in cache.store.list_texts()}
        if len(words) - len(live) <= len(words) // (FULL_GONE if words.full else GONE):
            return False
        self._forgetting = words.forget_others(live)
        return True


def _texts(entries: "list[CachedFile]") -> Iterator[SourceText]:
    """Yield the texts in memory whose words are not known, one after the other."""
    for entry in entries:
        if (source := source_of(entry.path, entry.text)) is not None:
            yield source


def source_of(path: str, held: "HeldText | None") -> SourceText | None:
    """Return a text in memory to be parsed ahead; None if there is none, or its words are known."""
    return None if held is None or held.segment is None or held.words >= 0 else SourceText(path, held.read(), held)
