"""Facts of texts, kept by content: files that are moved, or the same in several roots, are parsed once.

Requests ask for the facts of texts they have just found, so an answer is as fresh as its texts, and the same whether
facts were kept or not. In idle moments texts are parsed ahead, and the same processes count their words.
"""

from array import array
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import islice

from zeno.code.extract import apply_rules
from zeno.code.facts import Facts, decode, encode, numbers
from zeno.code.languages import MAX_BYTES, facts_key, grammar_of
from zeno.code.pool import Pool, SourceText
from zeno.ranking.definitions import name_key
from zeno.ranking.word_table import WordTable

# Facts kept in the form that answers use, beside their bytes.
MAX_DECODED = 512
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
        self._decoded: dict[_Key, Facts] = {}
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

    def of(self, path: str, text: bytes, check: Callable[[], object]) -> Facts:
        """Return the facts of a text. `check` is called while waiting, and may raise."""
        return self.of_all([SourceText(path, text)], check)[0]

    def of_all(self, files: Sequence[SourceText], check: Callable[[], object], name: str = "") -> list[Facts]:
        """Return the facts of several texts, parsed side by side.

        Texts without a definition whose name ends in `name` may come without symbols: most texts that have a name do
        not define it, and listing their symbols would take most of the time.
        """
        end = f"{name}\n".encode()
        keys = [_key(file) for file in files]
        found = {key: facts for key in keys if (facts := self._find_kept(key, end)) is not None}
        missing = {key: file for key, file in zip(keys, files, strict=True) if key not in found}
        parsed = {key: file for key, file in missing.items() if _is_parsed(file)}
        for key, answer in zip(parsed, self._pool.parse(list(parsed.values()), check) if parsed else [], strict=True):
            if answer is not None and (facts := self._keep(key, answer.facts)) is not None:
                found[key] = facts
        for key in missing.keys() - found.keys():
            found[key] = apply_rules(missing[key].path, missing[key].text)
            # A process that ended on a text may have been killed for another reason: the next request tries again.
            if key not in parsed:
                self._keep(key, encode(found[key]))
        return [found[key] for key in keys]

    def may_define(self, path: str, number: int, keys: frozenset[int]) -> bool:
        """Whether a file with this content, by number, may define a name with one of these keys."""
        names = self._names.get((facts_key(path), self.words.digest_of(number)))
        return names is None or not keys.isdisjoint(names)

    def parse_ahead(self, files: Iterator[SourceText]) -> bool:
        """Do one short step of parsing texts in idle moments, with the next of `files`; return whether more is left."""
        some = list(islice(files, AHEAD_AT_ONCE - len(self._unknown))) if self._has_room else []
        self._unknown += [file for file in some if not self._is_known(file)]
        unknown, self._unknown = iter(self._unknown), []
        done, busy = self._background.parse_ahead(unknown)
        self._unknown = list(unknown)
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

    def _find_kept(self, key: _Key, end: bytes) -> Facts | None:
        """Return facts that are kept, without symbols if no text in them ends like this."""
        facts = self._decoded.get(key)
        if facts is None and (data := self._encoded.get(key)) is not None:
            if end not in data:
                return decode(data, symbols=False)
            facts = decode(data)
            while len(self._decoded) >= MAX_DECODED:
                del self._decoded[next(iter(self._decoded))]
            self._decoded[key] = facts
        return facts

    def _keep(self, key: _Key, data: bytes) -> Facts | None:
        """Keep encoded facts, and return them; None if they are none."""
        try:
            facts = decode(data)
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
            self._decoded.pop(oldest, None)
        return facts

    def _size_of(self, key: _Key) -> int:
        return len(self._encoded[key]) + self._names[key].itemsize * len(self._names[key]) + OVERHEAD


def _is_parsed(file: SourceText) -> bool:
    """Whether the facts of a text take a process to find."""
    return len(file.text) <= MAX_BYTES and grammar_of(file.path) is not None


def _key(file: SourceText) -> _Key:
    # Many processors have instructions for this digest: it is the fastest that no two texts are known to share.
    return facts_key(file.path), sha256(file.text).digest()
