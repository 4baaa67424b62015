"""Which selected files have which words, where the words of their texts are kept by content."""

from array import array
from typing import TYPE_CHECKING

from zeno.search.word_counts import WordCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeno.cache.located import Located
    from zeno.code.table import FactTable
    from zeno.meter import Meter


class HeldWords:
    """Some selected files by the numbers of their contents. It describes one state of the cache and of the words."""

    def __init__(self, located: "Located", paths: "Sequence[str]", facts: "FactTable") -> None:
        self._paths = paths
        self._facts = facts
        words = facts.words
        self.version = (located.version, words.count)
        self._contents = array("i", [-1]) * len(paths)
        """The number of each file's content; -1 where it is not known."""
        self._has_text = bytearray(len(paths))
        nowhere = len(paths)
        self._files = [nowhere] * words.count
        """The first file with each content, by index of its path."""
        self._twins: dict[int, int] = {}
        """Further files with the same contents, and the first."""
        self.uncounted: list[str] = list(located.unheld)
        """Files that have to be counted for each request."""
        self._size = 0
        indexes = {path: index for index, path in enumerate(paths)}
        for path, held in located.list_held():
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

    def add_to(self, counts: WordCounts, meter: "Meter") -> None:
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
