"""What a pattern says about the bytes that a matching line must hold, and the same pattern for many lines at once.

Reads RE2's syntax after RE2 has accepted it. Whatever this reader does not know it gives up on, and then every line is
asked about: it can cost time, never a hit.

The parts of an expression are sets of bytes, one for each byte that must come next, and gaps: stretches of unknown
content, which may still demand something (`(?:foo|bar)` demands one of two). Parts without a gap between them make
runs, and runs make demands on the index.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from zeno.search.signatures import FOLD, KIND, RUN_SETS, SHAPE_LENGTHS, gram, run, shape

# More alternatives for one sequence of bytes than these cost more to look up than they save.
MAX_COMBINATIONS = 16
MAX_PARTS = 128
# More needles, or shorter ones, are not found sooner than the pattern itself.
MAX_NEEDLES = 8
MIN_NEEDLE = 3


class Demand(NamedTuple):
    """A condition on a piece of text: `rows` are alternatives if `any_of`, else all are demanded; `inner` likewise."""

    any_of: bool
    rows: tuple[int, ...]
    inner: tuple["Demand", ...] = ()
    needles: frozenset[bytes] = frozenset()
    """Where not empty: each matching line holds one of these to the letter."""


NOTHING = Demand(False, ())

ByteSet = frozenset[int]
Part = ByteSet | Demand


class Expression(NamedTuple):
    """A pattern, understood."""

    demand: Demand
    """What the index must know of a piece of text with a matching line."""
    lines: str
    """The same pattern for a text of many lines: what holds at the ends of a text now holds at the ends of lines."""


class NotUnderstood(Exception):
    """The pattern uses something that this reader does not know."""


def literal(text: str, *, case_sensitive: bool) -> Demand:
    """What a literal demands."""
    if text.isascii() and MIN_NEEDLE < len(text) <= MAX_PARTS:
        # The common case, spelled out: the same demand without a detour over sets.
        encoded = text.encode()
        folded = encoded.translate(FOLD)
        rows = {gram(folded[start : start + 4]) for start in range(len(folded) - 3)}
        return Demand(False, tuple(sorted(rows)), (), frozenset([encoded] if case_sensitive else []))
    parts: list[Part] = []
    for char in text[:MAX_PARTS]:
        parts += _char(ord(char), not case_sensitive)
    return _demand(parts)


def expression(pattern: str, *, case_sensitive: bool) -> Expression:
    """A regular expression, understood."""
    reader = _Reader(pattern)
    parts = reader.alternatives(not case_sensitive)
    if reader.position < len(pattern):
        raise NotUnderstood
    return Expression(_demand(parts), "".join(reader.out))


# From parts to demands


def _demand(parts: list[Part]) -> Demand:
    rows: set[int] = set()
    inner: list[Demand] = []
    parts_in_a_row: list[ByteSet] = []
    for part in [*parts, NOTHING]:
        if isinstance(part, Demand):
            _run(parts_in_a_row, rows, inner)
            parts_in_a_row = []
            if part != NOTHING:
                inner.append(part)
        else:
            parts_in_a_row.append(part)
    needles = min(_needles(parts), key=_cost, default=frozenset())
    return Demand(False, tuple(sorted(rows)), tuple(dict.fromkeys(inner)), needles)


def _needles(parts: list[Part]) -> Iterator[frozenset[bytes]]:
    """What the lines that match must hold to the letter, in several ways."""
    needle = bytearray()
    for part in [*parts, NOTHING]:
        if isinstance(part, frozenset) and len(part) == 1:
            needle += bytes(part)
            continue
        if len(needle) >= MIN_NEEDLE:
            yield frozenset([bytes(needle)])
        needle.clear()
        if isinstance(part, Demand) and part.needles:
            yield part.needles


def _cost(needles: frozenset[bytes]) -> int:
    """Few and long ones are found soonest."""
    return len(needles) * 8 - min(map(len, needles))


def _run(parts: list[ByteSet], rows: set[int], inner: list[Demand]) -> None:
    folded = [frozenset(FOLD[byte] for byte in part) for part in parts]
    known = [False] * len(parts)
    for length in (4, 3):
        for start in range(len(parts) - length + 1):
            # Of three bytes that are part of four known ones nothing new is to be learned.
            if all(known[start : start + length]) and length == 3:
                continue
            found = _combined(folded[start : start + length])
            if found is not None:
                known[start : start + length] = [True] * length
                _either({gram(sequence) for sequence in found}, rows, inner)
    # Where the bytes themselves are known, their kinds say nothing more.
    if all(known):
        return
    kinds = [frozenset(KIND[byte] for byte in part) for part in parts]
    for length in SHAPE_LENGTHS:
        for window in dict.fromkeys(tuple(kinds[start : start + length]) for start in range(len(kinds) - length + 1)):
            found = _combined(window)
            if found is not None:
                _either({shape(sequence) for sequence in found}, rows, inner)
    for members, chars in enumerate(RUN_SETS):
        longest = current = 0
        for part in parts:
            current = current + 1 if part.issubset(chars) else 0
            longest = max(longest, current)
        row = run(members, longest)
        if row is not None:
            rows.add(row)


def _combined(window: Sequence[ByteSet]) -> list[tuple[int, ...]] | None:
    count = 1
    for part in window:
        count *= len(part)
    return list(product(*window)) if count <= MAX_COMBINATIONS else None


def _either(found: set[int], rows: set[int], inner: list[Demand]) -> None:
    if len(found) == 1:
        rows |= found
    else:
        inner.append(Demand(True, tuple(sorted(found))))


# From a pattern to parts

_ASCII_LETTERS = frozenset(range(65, 91)) | frozenset(range(97, 123))
_DIGITS = frozenset(range(48, 58))
_PERL = {
    "d": _DIGITS,
    "s": frozenset(b"\t\n\f\r "),
    "w": _ASCII_LETTERS | _DIGITS | {95},
}
_POSIX = {
    "alnum": _ASCII_LETTERS | _DIGITS,
    "alpha": _ASCII_LETTERS,
    "ascii": frozenset(range(128)),
    "blank": frozenset(b"\t "),
    "cntrl": frozenset(range(32)) | {127},
    "digit": _DIGITS,
    "graph": frozenset(range(33, 127)),
    "lower": frozenset(range(97, 123)),
    "print": frozenset(range(32, 127)),
    "punct": frozenset(range(33, 127)) - _ASCII_LETTERS - _DIGITS,
    "space": frozenset(b"\t\n\v\f\r "),
    "upper": frozenset(range(65, 91)),
    "word": _ASCII_LETTERS | _DIGITS | {95},
    "xdigit": _DIGITS | frozenset(b"abcdefABCDEF"),
}
_ESCAPES = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}


def _char(code: int, ignore_case: bool) -> list[Part]:
    """One character: its bytes, or a gap where case folding could make other bytes of it."""
    if code < 128:
        return [_folded(frozenset([code])) if ignore_case else frozenset([code])]
    if ignore_case or 0xD800 <= code < 0xE000:
        return [NOTHING]
    return [frozenset([byte]) for byte in chr(code).encode()]


def _folded(bytes_: ByteSet) -> ByteSet:
    return bytes_ | {byte ^ 32 for byte in bytes_ & _ASCII_LETTERS}


class _Reader:
    """A recursive descent over the pattern. `out` collects the pattern for many lines."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.out: list[str] = []
        self._depth = 0

    def alternatives(self, ignore_case: bool) -> list[Part]:
        """Branches up to a closing parenthesis or the end. Flags set in one branch hold in those after it."""
        self._depth += 1
        if self._depth > 50:
            raise NotUnderstood
        branches: list[list[Part]] = []
        while True:
            branch, ignore_case = self._branch(ignore_case)
            branches.append(branch)
            if not self._take("|"):
                break
            self.out.append("|")
        self._depth -= 1
        if len(branches) == 1:
            return branches[0]
        single = [branch[0] for branch in branches if len(branch) == 1 and isinstance(branch[0], frozenset)]
        if len(single) == len(branches):
            return [frozenset[int]().union(*single)]
        demands = tuple(dict.fromkeys(_demand(branch) for branch in branches))
        if NOTHING in demands:
            return [NOTHING]
        if len(demands) == 1:
            return [demands[0]]
        needles: frozenset[bytes] = frozenset()
        if all(demand.needles for demand in demands):
            needles = needles.union(*(demand.needles for demand in demands))
        return [Demand(True, (), demands, needles if len(needles) <= MAX_NEEDLES else frozenset())]

    def _branch(self, ignore_case: bool) -> tuple[list[Part], bool]:
        parts: list[Part] = []
        while self.position < len(self.pattern) and self.pattern[self.position] not in "|)":
            if self._take(r"\Q"):
                parts += self._quoted(ignore_case)
                continue
            start, before = self.position, len(self.out)
            flags = self._flags()
            if flags is not None:
                on, _, off = flags.partition("-")
                ignore = (ignore_case or "i" in on) and "i" not in off
                self.out.append(self.pattern[start : self.position])
                if flags.endswith(")"):
                    ignore_case = ignore
                    continue
                atom = self.alternatives(ignore)
                self._expect(")")
                self.out.append(")")
            else:
                atom = self._atom(ignore_case)
            if len(self.out) == before:
                self.out.append(self.pattern[start : self.position])
            parts += self._repeated(atom)
            if len(parts) > MAX_PARTS:
                # What comes after is not looked at: fewer demands are still right ones.
                parts = [*parts[:MAX_PARTS], NOTHING]
        return parts, ignore_case

    def _flags(self) -> str | None:
        """What stands between the parenthesis that opens a group and its content, or None where none opens."""
        if not self._take("("):
            return None
        if not self._take("?"):
            return ":"
        for name in ("P<", "<"):
            if self._take(name):
                self._until(">")
                return ":"
        start = self.position
        while self._peek() in tuple("imsU-"):
            self.position += 1
        if not (self._take(":") or self._take(")")):
            raise NotUnderstood
        return self.pattern[start : self.position]

    def _atom(self, ignore_case: bool) -> list[Part]:
        char = self.pattern[self.position]
        self.position += 1
        if char == "^":
            self.out.append("(?m:^)")
            return [NOTHING]
        if char == "$":
            self.out.append("(?m:$)")
            return [NOTHING]
        if char == ".":
            return [NOTHING]
        if char == "[":
            return self._set(ignore_case)
        if char == "\\":
            return self._escape(ignore_case)
        if char in "*+?":
            raise NotUnderstood
        return _char(ord(char), ignore_case)

    def _quoted(self, ignore_case: bool) -> list[Part]:
        r"""Text between `\Q` and `\E` or the end. A repetition after it holds for its last character alone."""
        end = self.pattern.find(r"\E", self.position)
        text = self.pattern[self.position : end if end >= 0 else len(self.pattern)]
        self.position = end + 2 if end >= 0 else len(self.pattern)
        self.out.append(rf"\Q{text}\E")
        if self._peek() in tuple("*+?{"):
            raise NotUnderstood
        return [part for char in text[:MAX_PARTS] for part in _char(ord(char), ignore_case)]

    def _escape(self, ignore_case: bool) -> list[Part]:
        char = self._peek()
        self.position += 1
        if char in ("A", "z"):
            self.out.append("(?m:^)" if char == "A" else "(?m:$)")
            return [NOTHING]
        if char in ("b", "B"):
            return [NOTHING]
        if char in _PERL:
            return [_PERL[char]]
        if char in ("D", "S", "W"):
            return [NOTHING]
        if char in ("p", "P"):
            if self._take("{"):
                self._until("}")
            else:
                self.position += 1
            return [NOTHING]
        return _char(self._code(char), ignore_case)

    def _code(self, char: str) -> int:
        """The character that an escape stands for; `char` is what came after the backslash."""
        if char in _ESCAPES:
            return _ESCAPES[char]
        if char == "x":
            digits = self._until("}") if self._take("{") else self.pattern[self.position : self.position + 2]
            if not digits or any(digit not in "0123456789abcdefABCDEF" for digit in digits):
                raise NotUnderstood
            if self.pattern[self.position - 1] != "}":
                self.position += 2
            return int(digits, 16)
        if char and char < "\x7f" and not char.isalnum():
            return ord(char)
        raise NotUnderstood

    def _set(self, ignore_case: bool) -> list[Part]:
        """A character class. One that may hold more than ASCII is a gap."""
        negated = self._take("^")
        members: set[int] = set()
        wide = negated
        first = True
        while first or self._peek() != "]":
            first = False
            if self._take("[:"):
                name = self._until(":]")
                if name.startswith("^"):
                    wide = True
                elif name in _POSIX:
                    members |= _POSIX[name]
                else:
                    raise NotUnderstood
                continue
            low = self._member()
            if isinstance(low, frozenset):
                members |= low
                continue
            if low is None:
                wide = True
                continue
            high = low
            if self._peek() == "-" and self.pattern[self.position + 1 : self.position + 2] not in ("]", ""):
                self.position += 1
                end = self._member()
                if not isinstance(end, int):
                    raise NotUnderstood
                high = end
            wide = wide or high > 127
            members |= set(range(low, min(high, 127) + 1))
        self.position += 1
        if wide or not members:
            return [NOTHING]
        return [_folded(frozenset(members)) if ignore_case else frozenset(members)]

    def _member(self) -> int | ByteSet | None:
        """One member of a class: a character, a set of ASCII, or None for a set that is wider."""
        char = self._peek()
        if not char:
            raise NotUnderstood
        self.position += 1
        if char != "\\":
            return ord(char)
        char = self._peek()
        self.position += 1
        if char in _PERL:
            return _PERL[char]
        if char in ("D", "S", "W"):
            return None
        if char in ("p", "P"):
            if self._take("{"):
                self._until("}")
            else:
                self.position += 1
            return None
        return self._code(char)

    def _repeated(self, atom: list[Part]) -> list[Part]:
        bounds = self._repetition()
        if bounds is None:
            return atom
        least, most = bounds
        if least == 0:
            return [NOTHING]
        times = min(least, max(1, MAX_PARTS // 2 // max(1, len(atom))))
        if times == least == most:
            return atom * times
        # However often it is repeated, it stands so often at the beginning and at the end.
        return [*atom * times, NOTHING, *atom * times]

    def _repetition(self) -> tuple[int, int] | None:
        start = self.position
        bounds = None
        if self._take("*"):
            bounds = (0, -1)
        elif self._take("+"):
            bounds = (1, -1)
        elif self._take("?"):
            bounds = (0, 1)
        elif self._peek() == "{":
            end = self.pattern.find("}", self.position)
            least, comma, most = self.pattern[self.position + 1 : max(end, 0)].partition(",")
            digits = [text for text in (least, most) if text]
            if end > 0 and least and all(text.isascii() and text.isdigit() for text in digits):
                self.position = end + 1
                bounds = (int(least), int(most) if most else -1 if comma else int(least))
        if bounds is not None:
            self._take("?")
            self.out.append(self.pattern[start : self.position])
            if self._peek() in tuple("*+?"):
                raise NotUnderstood
        return bounds

    def _peek(self) -> str:
        return self.pattern[self.position : self.position + 1]

    def _take(self, text: str) -> bool:
        taken = self.pattern.startswith(text, self.position)
        self.position += len(text) * taken
        return taken

    def _expect(self, text: str) -> None:
        if not self._take(text):
            raise NotUnderstood

    def _until(self, text: str) -> str:
        end = self.pattern.find(text, self.position)
        if end < 0:
            raise NotUnderstood
        found = self.pattern[self.position : end]
        self.position = end + len(text)
        return found
