"""Facts of texts, kept by content: files that are moved, or the same in several roots, are parsed once.

Requests ask for the facts of texts they have just found, so an answer is as fresh as its texts, and the same whether
facts were kept or not. In idle moments texts are parsed ahead, and the same processes count their words.
"""

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from zeno.code.extract import apply_rules
from zeno.code.facts import numbers
from zeno.code.kept_facts import KeptFacts, encode
from zeno.code.languages import MAX_BYTES, facts_key, grammar_of
from zeno.code.pool import Pool, SourceText
from zeno.ranking.definitions import name_key
from zeno.ranking.word_table import WordTable

# Facts whose symbols are kept as objects, beside their bytes.
MAX_RECENT = 512
# Memory for an entry beside its bytes.
OVERHEAD = 300
# Texts that are looked at in one step of parsing ahead: about a millisecond.
AHEAD_AT_ONCE = 32
# Memory for the facts of a corpus that keeps no texts.
COLD_LIMIT = 16 << 20

_Key = tuple[str, bytes]


class FactTable:
    """Facts by content, within a limit on memory; the oldest go first. `close` ends its processes."""

    def __init__(self, limit: int = COLD_LIMIT, words_limit: int = 0) -> None:
        self._limit = limit
        self.words = WordTable(words_limit)
        """The words of the texts that were parsed ahead."""
        self._encoded: dict[_Key, bytes] = {}
        self._recent: dict[_Key, KeptFacts] = {}
        self._names: dict[_Key, array[int]] = {}
        """Keys of the names that are defined."""
        self._size = 0
        self._pool = Pool()
        self._background = Pool(ahead=True)
        self._unknown: list[SourceText] = []
        """Texts to be parsed ahead next."""

    @property
    def full(self) -> bool:
        """Whether more facts would displace others."""
        return self._size >= self._limit

    def of(self, file: SourceText, check: Callable[[], object]) -> KeptFacts:
        """Return the facts of a text. `check` is called while waiting, and may raise."""
        return self._find_kept(_key(file)) or self.of_all([file], check)[0]

    def of_all(self, files: Sequence[SourceText], check: Callable[[], object]) -> list[KeptFacts]:
        """Return the facts of several texts, parsed side by side."""
        keys = [_key(file) for file in files]
        found = {key: facts for key in keys if (facts := self._find_kept(key)) is not None}
        missing = {key: file for key, file in zip(keys, files, strict=True) if key not in found}
        parsed = {key: file for key, file in missing.items() if _is_parsed(file)}
        for key, answer in zip(parsed, self._pool.parse(list(parsed.values()), check) if parsed else [], strict=True):
            if answer is not None and (facts := self._keep(key, answer.facts)) is not None:
                found[key] = facts
        for key in missing.keys() - found.keys():
            data = encode(apply_rules(missing[key].path, missing[key].text))
            # A process that ended on a text may have been killed for another reason: the next request tries again.
            found[key] = KeptFacts(data) if key in parsed else self._keep(key, data) or KeptFacts(data)
        return [found[key] for key in keys]

    def may_define(self, path: str, number: int, keys: frozenset[int]) -> bool:
        """Whether a file with this content, by number, may define a name with one of these keys."""
        names = self._names.get((facts_key(path), self.words.digest_of(number)))
        return names is None or not keys.isdisjoint(names)

    def parse_ahead(self, files: Iterator[SourceText]) -> bool:
        """Do one short step of parsing texts in idle moments, with the next of `files`; return whether more is left."""
        some = list(islice(files, AHEAD_AT_ONCE - len(self._unknown))) if self._has_room else []
        self._unknown += [file for file in some if not self._is_known(file)]
        done, busy = self._background.parse_ahead(self._unknown)
        for file, answer in done:
            key = _key(file)
            if key[0] and not self.full:
                self._keep(key, answer.facts)
            self._note(file, self.words.add(key[1], answer.words))
        if not (busy or some):
            self._background.close()
        return busy or bool(some)

    @property
    def _has_room(self) -> bool:
        """Whether anything may be kept ahead of requests."""
        return not (self.full and self.words.full)

    def _is_known(self, file: SourceText) -> bool:
        """Whether nothing is left to find out about a text, or to keep; notes its number."""
        key = _key(file)
        number = self.words.number_of(key[1])
        self._note(file, number)
        return (number is not None or self.words.full) and (self.full or key in self._encoded or not _is_parsed(file))

    def _note(self, file: SourceText, number: int | None) -> None:
        if number is not None and file.holder is not None:
            file.holder.words = number

    def close(self) -> None:
        """End all processes."""
        self._pool.close()
        self._background.close()

    def _find_kept(self, key: _Key) -> KeptFacts | None:
        """Return facts that are kept."""
        facts = self._recent.get(key)
        if facts is None and (data := self._encoded.get(key)) is not None:
            while len(self._recent) >= MAX_RECENT:
                del self._recent[next(iter(self._recent))]
            facts = self._recent[key] = KeptFacts(data)
        return facts

    def _keep(self, key: _Key, data: bytes) -> KeptFacts | None:
        """Keep encoded facts, and return them; None if they are none."""
        try:
            facts = KeptFacts(data)
            facts.check()
        except ValueError:
            return None
        if key not in self._encoded:
            self._encoded[key] = data
            self._names[key] = numbers([name_key(symbol.name) for symbol in facts.symbols])
            self._size += self._size_of(key)
        while self._size > self._limit and len(self._encoded) > 1:
            oldest = next(iter(self._encoded))
            self._size -= self._size_of(oldest)
            del self._encoded[oldest], self._names[oldest]
            self._recent.pop(oldest, None)
        return facts

    def _size_of(self, key: _Key) -> int:
        return len(self._encoded[key]) + self._names[key].itemsize * len(self._names[key]) + OVERHEAD


def _is_parsed(file: SourceText) -> bool:
    """Whether the facts of a text take a process to find."""
    return len(file.text) <= MAX_BYTES and grammar_of(file.path) is not None


def _key(file: SourceText) -> _Key:
    return facts_key(file.path), file.digest
