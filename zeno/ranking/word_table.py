"""The words of texts, kept by content: which contents have a word, and how much it counts there.

A process that parses texts also counts their words; its bytes are checked here as any input is. Contents have numbers,
which are never used again, so that a word needs four bytes for each content that has it.
"""

import sys
from array import array
from collections.abc import Collection, Iterator, Sequence

from zeno.ranking.words import count_words, strength

_UINT, _USHORT = "I", "H"
_BITS = 9
"""Bits for the strength of a word in a text; all others are for the number of the content."""
_MASK = (1 << _BITS) - 1
_MAX_CONTENTS = 1 << 32 - _BITS
# Memory for a word and for a content beside what is said of them.
_WORD, _CONTENT = 220, 180
# Words that are looked at in one step of forgetting: about a millisecond.
_AT_ONCE = 512


def encode_words(text: bytes) -> bytes:
    """Return the words of a text as bytes: how much each counts, then the words in lines."""
    counts = count_words(text)
    strengths = array(_USHORT, [strength(times, len(text)) for times in counts.values()])
    if sys.byteorder == "big":
        strengths.byteswap()
    return b"\n".join([b"%d" % len(counts), strengths.tobytes() + b"\n".join(counts)])


def _decode(data: bytes) -> "tuple[array[int], list[bytes]]":
    """Return what `encode_words` made bytes of. Raises ValueError if it did not."""
    count, _, rest = data.partition(b"\n")
    strengths = array(_USHORT)
    size = int(count) * strengths.itemsize
    if not 0 <= size <= len(rest):
        raise ValueError("words of another length")
    strengths.frombytes(rest[:size])
    if sys.byteorder == "big":
        strengths.byteswap()
    words = rest[size:].split(b"\n") if strengths else []
    if len(set(words)) != len(strengths) or max(strengths, default=0) > _MASK:
        raise ValueError("other words")
    return strengths, words


class WordTable:
    """Words by content, within a limit on memory. A full table takes no more."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._numbers: dict[bytes, int] = {}
        """By digest of the content."""
        self._digests: list[bytes] = []
        """By number."""
        self._having: dict[bytes, int | array[int]] = {}
        """Number and strength, for each content with a word; one alone is a plain number."""
        self.size = 0
        """Bytes held."""

    @property
    def count(self) -> int:
        """All numbers are smaller."""
        return len(self._digests)

    @property
    def full(self) -> bool:
        """Whether no more words may be kept."""
        return self.size >= self._limit or self.count >= _MAX_CONTENTS

    def __len__(self) -> int:
        return len(self._numbers)

    def number_of(self, digest: bytes) -> int | None:
        """Return the number of a content; None if its words are not kept."""
        return self._numbers.get(digest)

    def digest_of(self, number: int) -> bytes:
        """Return the digest of a content."""
        return self._digests[number]

    def add(self, digest: bytes, data: bytes) -> int | None:
        """Keep encoded words of a content, and return its number; None if they are none, or there is no room."""
        known = self._numbers.get(digest)
        if known is not None or self.full:
            return known
        try:
            strengths, words = _decode(data)
        except ValueError:
            return None
        number = self._numbers[digest] = self.count
        self._digests.append(digest)
        self.size += _CONTENT + strengths.itemsize * 2 * len(words)
        having = self._having
        for word, amount in zip(words, strengths, strict=True):
            own = number << _BITS | amount
            others = having.get(word)
            if others is None:
                having[word] = own
                self.size += _WORD + len(word)
            elif isinstance(others, int):
                having[word] = array(_UINT, (others, own))
            else:
                others.append(own)
        return number

    def find(self, word: bytes, files: Sequence[int], having: list[int], strengths: list[int]) -> None:
        """Append the files of the contents that have a word, and how much it counts in each (see `words.strength`).

        `files` has the file of each content, by number.
        """
        packed = self._list_packed(word)
        having += [files[one >> _BITS] for one in packed]
        strengths += [one & _MASK for one in packed]

    def forget_others(self, live: Collection[int]) -> Iterator[None]:
        """Forget all contents but these. The memory is freed in the steps of the iterator, and with its end."""
        dead = set(self._numbers.values()).difference(live)
        self._numbers = {digest: number for digest, number in self._numbers.items() if number not in dead}
        self.size -= _CONTENT * len(dead)
        return self._free(dead)

    def _free(self, dead: Collection[int]) -> Iterator[None]:
        words = list(self._having)
        for start in range(0, len(words), _AT_ONCE):
            for word in words[start : start + _AT_ONCE]:
                before = self._list_packed(word)
                after = array(_UINT, [one for one in before if one >> _BITS not in dead])
                self.size -= after.itemsize * (len(before) - len(after))
                if not after:
                    del self._having[word]
                    self.size -= _WORD + len(word)
                elif len(after) < len(before):
                    self._having[word] = after if len(after) > 1 else after[0]
            yield

    def _list_packed(self, word: bytes) -> Sequence[int]:
        packed = self._having.get(word, ())
        return (packed,) if isinstance(packed, int) else packed
