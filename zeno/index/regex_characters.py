"""The characters of RE2's syntax as bytes: named classes, escapes, case folding."""

from zeno.index.requirements import NOTHING, ByteSet, Part

_LETTERS = frozenset(range(65, 91)) | frozenset(range(97, 123))
_DIGITS = frozenset(range(48, 58))
PERL = {
    "d": _DIGITS,
    "s": frozenset(b"\t\n\f\r "),
    "w": _LETTERS | _DIGITS | {95},
}
POSIX = {
    "alnum": _LETTERS | _DIGITS,
    "alpha": _LETTERS,
    "ascii": frozenset(range(128)),
    "blank": frozenset(b"\t "),
    "cntrl": frozenset(range(32)) | {127},
    "digit": _DIGITS,
    "graph": frozenset(range(33, 127)),
    "lower": frozenset(range(97, 123)),
    "print": frozenset(range(32, 127)),
    "punct": frozenset(range(33, 127)) - _LETTERS - _DIGITS,
    "space": frozenset(b"\t\n\v\f\r "),
    "upper": frozenset(range(65, 91)),
    "word": _LETTERS | _DIGITS | {95},
    "xdigit": _DIGITS | frozenset(b"abcdefABCDEF"),
}
ESCAPES = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}


def parts_of(code: int, ignore_case: bool) -> list[Part]:
    """One character: its bytes, or a gap where case folding could make other bytes of it."""
    if code < 128:
        return [folded(frozenset([code])) if ignore_case else frozenset([code])]
    if ignore_case or 0xD800 <= code < 0xE000:
        return [NOTHING]
    return [frozenset([byte]) for byte in chr(code).encode()]


def folded(bytes_: ByteSet) -> ByteSet:
    """With the other case of each ASCII letter."""
    return bytes_ | {byte ^ 32 for byte in bytes_ & _LETTERS}
