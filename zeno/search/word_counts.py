"""Which of the selected files have a word, and how much it counts there.

Texts are counted as they are read. A corpus that keeps words by content reads only the others.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence

from zeno.meter import Meter
from zeno.ranking.ranker import Occurrences, TextWords
from zeno.ranking.words import count_words, strength
from zeno.search.sink import SearchedFile, Skipped, Wish

# Time to count the words of a text, relative to counting its lines.
_COST_OF_A_BYTE = 64


MayDefine = Callable[[int, frozenset[int]], bool]
"""Whether a file, given by its index, may define a name with one of some keys."""


class WordCounts:
    """A sink that counts some words in the files of a search. A file has the index of its path."""

    def __init__(self, paths: Sequence[str], words: Collection[bytes], meter: Meter) -> None:
        self.wish = Wish.MORE
        self._paths = paths
        self._meter = meter
        self.words = TextWords(bytearray(len(paths)), {word: Occurrences([], []) for word in words}, {})
        self._known: list[tuple[int, int, MayDefine]] = []
        """Ranges of files, and what is known about their definitions."""
        self.skipped = Skipped()
        """Files that cannot be searched."""

    def take(self, found: SearchedFile) -> None:
        text = found.lines.text
        if not text:
            return
        # Nothing interrupts this, nor the search for the passage of this text later.
        self._meter.expect(len(text) * _COST_OF_A_BYTE)
        index = bisect_left(self._paths, found.path)
        self.words.has_text[index] = 1
        counts = count_words(text)
        for word, (files, strengths) in self.words.occurrences.items():
            if times := counts.get(word):
                files.append(index)
                strengths.append(strength(times, len(text)))

    def may_define(self, file: int, keys: frozenset[int]) -> bool:
        """Whether a file may define a name with one of these keys (see `definitions.collect_keys`)."""
        for start, end, known in self._known:
            if start <= file < end:
                return known(file - start, keys)
        return True

    def note_definitions(self, known: MayDefine) -> None:
        """Take what is known about the definitions of all files."""
        self._known = [(0, len(self.words.has_text), known)]

    def add_part(self, part: "WordCounts", start: int) -> None:
        """Add what was counted in files that come one after the other, from index `start` on."""
        has_text, occurrences, twins = part.words
        count, nowhere = len(has_text), len(self.words.has_text)
        self.words.has_text[start : start + count] = has_text
        self._known += [(start + first, start + last, known) for first, last, known in part._known]
        self.words.twins.update((start + file, start + first) for file, first in twins.items())
        for word, (files, strengths) in occurrences.items():
            own = self.words.occurrences[word]
            own.files.extend([start + file if file < count else nowhere for file in files])
            own.strengths.extend(strengths)
