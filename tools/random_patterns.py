"""Search random texts for random patterns with every shortcut there is, and compare with RE2's verdict on each line.

Patterns are made to reach the shortcuts: anchors and repetitions before literals, several literals, alternatives,
flags, either case, characters beyond ASCII. Texts are made of the same words. For each pattern and text all scans, the
index, and the sieve for bytes that are not in normal form must find every line that RE2 matches, and the search in
memory exactly those. All follows from the seed.
"""

import io
import random
from collections.abc import Iterator
from unittest.mock import patch

from zeno.cache.located import scan_segment
from zeno.cache.text_store import HeldText, Store
from zeno.errors import InvalidPattern
from zeno.index import piece_index, signatures
from zeno.index.piece_index import Block
from zeno.meter import Scan
from zeno.search.query import Plan
from zeno.text.file_lines import normal
from zeno.text.regex import Matches, searcher

TEXTS = 40
PIECE = 150
# Number of patterns that are tried on one set of texts.
PATTERNS = 250

WORDS = ["foo", "Foo", "bar", "get_field", "class ", "def ", "return", " = ", "TODO", "ab", "K", "kiss", "x42", "é"]
WORDS += ["ß", "\u017f", "\u212a", "(", ")", ".", "_", " ", "  ", "0", "42", ";", "a" * 13, "\ufffd"]
RAW = [b"\n", b"\n", b"\r\n", b"\r", b"\xff", b"\xe2\x82", b"\xef\xbb\xbf", b"\t"]
GAPS = [r"\w+", r"\w*", r"\s*", r"\s+", ".*", ".", r"\d", r"\d+", "[a-f]", "[^a]", r"\b", r"\B", "^", "$", r"\A", r"\z"]
GAPS += ["(?m:^)", r"\pL", r"\C", "[[:upper:]]", "o?", "o+", "(?i)", "(?s)", r"\n", "[fF]", "(?:)"]
# One byte with restricted bytes after it: a tail may begin there.
GAPS += ["[_]{1}[a-z]{5}", r"[.]\d{2}[(]{1}\w+", r"=\s+\w+\.\w", "[a-z]{3}[_]{1}[a-z]{5}", "[oO]{2}"]
REPETITIONS = ["?", "*", "+", "{2}"]


def pattern(dice: random.Random, depth: int = 0) -> str:
    """A random regular expression, mostly one that RE2 accepts."""
    parts: list[str] = []
    for _ in range(dice.randint(1, 5)):
        kind = dice.random()
        if parts and kind < 0.04:
            # Whatever stands before it is repeated: also what stands before a group that only sets flags.
            parts.append(dice.choice(["(?i)", "(?s)(?-i)", r"\Q\E", ""]) + dice.choice(REPETITIONS))
            continue
        if kind < 0.45:
            parts.append(_escaped(dice.choice(WORDS)))
        elif kind < 0.75:
            parts.append(dice.choice(GAPS))
        elif kind < 0.8:
            parts.append(rf"\Q{dice.choice(WORDS)}\E")
        elif depth < 2:
            group = "|".join(pattern(dice, depth + 1) for _ in range(dice.randint(1, 3)))
            opening, times = dice.choice(["", "?:", "?i:", "?-i:"]), dice.choice(["", "", *REPETITIONS])
            parts.append(f"({opening}{group}){times}")
    made = "".join(parts)
    return f"{made}|{pattern(dice, 2)}" if depth == 0 and dice.random() < 0.15 else made


def _escaped(word: str) -> str:
    return "".join(f"\\{char}" if char in "().[]{}*+?^$|\\" else char for char in word)


def text(dice: random.Random) -> bytes:
    """The bytes of a random file."""
    # A file has few of the words, so that the index can rule it out.
    words = dice.sample([word.encode() for word in WORDS], dice.randint(1, 8))
    return b"".join(dice.choice(RAW if dice.random() < 0.25 else words) for _ in range(dice.randint(0, 60)))


def run(pairs: int, seed: int) -> Iterator[tuple[int, list[str]]]:
    """Yield for each pattern how many texts it was tried on, and what differed."""
    done = number = 0
    while done < pairs:
        dice = random.Random(f"{seed} {number}")
        number += 1
        files = [text(dice) for _ in range(TEXTS)]
        store, entries = hold_texts(files)
        for _ in range(PATTERNS):
            if done >= pairs:
                return
            asked, regex, case_sensitive = pattern(dice), dice.random() < 0.9, dice.random() < 0.7
            asked = asked if regex else dice.choice(WORDS) + dice.choice(WORDS)
            try:
                matches = searcher(asked, "pattern", case_sensitive=case_sensitive, literal=not regex)
            except InvalidPattern:
                continue
            done += TEXTS
            planned = Plan(asked, regex=regex, case_sensitive=case_sensitive)
            found = [
                f"{asked!r} regex={regex} case_sensitive={case_sensitive}: {what}"
                for what in find_differences(planned, matches, files, store, entries)
            ]
            yield TEXTS, found


def hold_texts(files: list[bytes]) -> tuple[Store, list[HeldText]]:
    """Texts as a warm server holds them, with an index."""
    store = Store(1 << 30)
    entries = [store.hold(f"{number:03}", normal(data)) for number, data in enumerate(files)]
    store.seal()
    request, reply = io.BytesIO(), io.BytesIO()
    # Pieces of a few lines, so that the index tells files apart.
    with patch.object(piece_index, "PIECE", PIECE), patch.object(piece_index, "BLOCK", 1 << 20):
        (pieces,) = store.index.cut_unindexed()
    signatures.send((piece.text for piece in pieces), len(pieces), request)
    request.seek(0)
    signatures.main(request, reply)
    reply.seek(0)
    bits = signatures.receive(len(pieces), reply)
    if bits is not None:
        store.index.add_block(Block(pieces, bits))
    return store, entries


def find_differences(
    planned: Plan, matches: Matches, files: list[bytes], store: Store, entries: list[HeldText]
) -> Iterator[str]:
    """Yield each way of searching that does not find just the lines that RE2 matches."""
    wanted = [
        (entry.path, index)
        for entry, data in zip(entries, files, strict=True)
        for index, line in enumerate(normal(data).split(b"\n")[:-1])
        if matches(line)
    ]
    segment = entries[0].segment
    if segment is None:
        raise AssertionError("texts were not held")
    ranges = store.index.narrow(planned.demand).ranges(segment)
    scans: list[Scan | None] = [planned.scan, planned.scan_of([segment.text])]
    scans += [make() for _, make in planned._choices(b"")]
    for number, scan in enumerate(scans):
        found = []
        for path, _, matching in scan_segment(segment.text, segment.held, ranges, scan, matches):
            found += [(path, index) for index in matching]
        if found != wanted:
            yield f"scan {number} found {found[:5]}, RE2 matches {wanted[:5]}"
    sift = planned.sift
    having = {path for path, _ in wanted}
    for entry, data in zip(entries, files, strict=True):
        if sift is not None and entry.path in having and sift(bytearray(data), 0, len(data))[0] < 0:
            yield f"the sieve rules out {data!r}"
