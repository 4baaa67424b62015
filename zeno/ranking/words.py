"""Cut texts into words: identifiers split at their humps, lower case, without the usual endings.

Only ASCII letters have humps and endings here; all other characters are letters of a word as they are. So the words of
a text do not depend on the Unicode tables of an interpreter.
"""

import re
from collections import Counter
from functools import lru_cache

from zeno.ranking.rules import LENGTH_SHARE, MAX_DIGITS, MAX_RUN_BYTES, SATURATION, USUAL_BYTES

RUN = re.compile(rb"[0-9A-Za-z_\x80-\xff]+")
"""A run of the characters of identifiers."""
_BLANK = bytes(byte if RUN.match(bytes([byte])) or byte == 10 else 32 for byte in range(256))
_PART = re.compile(rb"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z\x80-\xff]+|[A-Z]+|[0-9]+")
_DOUBLED = frozenset(b"bdfgmnprt")
# The shortest word that loses an ending, and what must be left of it.
_SHORTEST = 4
_LEFT = 3


def blank_lines(text: bytes) -> bytes:
    """Return a text with blanks between its runs and nothing else but line ends: split, it gives what `RUN` finds."""
    return text.translate(_BLANK)


def split_run(run: bytes) -> list[bytes]:
    """Return the parts of an identifier in lower case: `HTTPServer2` has `http`, `server` and `2`."""
    return [part.lower() for part in _PART.findall(run) if not part.isdigit() or len(part) <= MAX_DIGITS]


def stem(word: bytes) -> bytes:
    """Return a word without a usual ending: `caches`, `cached` and `caching` have one stem. It begins the word."""
    if len(word) < _SHORTEST:
        return word
    if word.endswith(b"ies"):
        word = word[:-3]
    elif word.endswith((b"sses", b"shes", b"ches", b"xes")):
        word = word[:-2]
    elif word.endswith(b"s") and not word.endswith((b"ss", b"us", b"is")):
        word = word[:-1]
    for ending in (b"ing", b"ed"):
        if word.endswith(ending) and len(word) - len(ending) >= _LEFT:
            word = word[: -len(ending)]
            if len(word) > _LEFT and word[-1] == word[-2] and word[-1] in _DOUBLED:
                word = word[:-1]
            break
    if word.endswith((b"e", b"y")) and len(word) > _LEFT:
        word = word[:-1]
    return word


@lru_cache(1 << 16)
def stems_of(run: bytes) -> tuple[bytes, ...]:
    """Return the stems of the parts of an identifier; none of one that is too long to be a name."""
    return tuple(map(stem, split_run(run))) if len(run) <= MAX_RUN_BYTES else ()


def count_words(text: bytes) -> dict[bytes, int]:
    """Return how often each stem occurs in a text in normal form."""
    counts: dict[bytes, int] = {}
    for run, times in Counter(blank_lines(text).split()).items():
        for word in stems_of(run):
            counts[word] = counts.get(word, 0) + times
    return counts


def strength(times: int, size: int) -> int:
    """Return how much a word counts that occurs so often in a text of so many bytes, in hundredths.

    It grows ever more slowly with the number of times, and the more slowly the longer the text is (BM25, with the usual
    size of a file in place of the average, so that it depends on nothing but this text).
    """
    slack = SATURATION * ((100 - LENGTH_SHARE) * USUAL_BYTES + LENGTH_SHARE * size) // (100 * USUAL_BYTES)
    return (SATURATION + 100) * 100 * times // (100 * times + slack)
