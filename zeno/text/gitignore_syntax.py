"""Read the rules of an ignore file, each as an RE2 expression.

Syntax and corner cases are those of gitignore(5) and of git's own matching, by bytes and case-sensitive.
"""

import re
from functools import cached_property
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits, hexdigits, punctuation

from zeno.text.regex import Matches, bytes_matcher

# Longer lines are ignored, though git has no such limit: RE2 must be able to compile every rule.
MAX_RULE_BYTES = 1024
_ANY = b"(?s:.*)"
_SPECIAL = re.compile(rb"[*?\[\\]")
_CLASSES = {
    b"alnum": (ascii_letters + digits).encode(),
    b"alpha": ascii_letters.encode(),
    b"blank": b" \t",
    b"cntrl": bytes([*range(32), 127]),
    b"digit": digits.encode(),
    b"graph": bytes(range(33, 127)),
    b"lower": ascii_lowercase.encode(),
    b"print": bytes(range(32, 127)),
    b"punct": punctuation.encode(),
    b"space": b" \t\r\n",  # git's own notion: no form feed, no vertical tab
    b"upper": ascii_uppercase.encode(),
    b"xdigit": hexdigits.encode(),
}


class IgnoreRule:
    """One line of an ignore file."""

    def __init__(self, expression: bytes, *, negated: bool, only_directories: bool) -> None:
        self.expression = expression
        """RE2 expression for the whole path relative to the directory of the ignore file."""
        self.negated = negated
        self.only_directories = only_directories

    @cached_property
    def matches(self) -> Matches:
        """Test for a path, compiled on first use."""
        return bytes_matcher(self.expression)


def parse(data: bytes) -> list[IgnoreRule]:
    """Return the rules of an ignore file in order."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    # A line feed is added to the end of the file, so a carriage return before it is part of a line end too.
    return [rule for line in lines if (rule := _rule(line.removesuffix(b"\r"))) is not None]


def _rule(line: bytes) -> IgnoreRule | None:
    """Return the rule of a line; None if it is blank, a comment, or can match nothing."""
    if line.startswith(b"#") or len(line) > MAX_RULE_BYTES:
        return None
    text = _without_trailing_spaces(line.partition(b"\0")[0])
    negated = text.startswith(b"!")
    text = text[negated:]
    only_directories = text.endswith(b"/")
    text = text[: len(text) - only_directories]
    if not text:
        return None
    if b"/" in text:
        expression = _path_glob(text.removeprefix(b"/"))
    else:
        name = _glob(text, paths=False)
        expression = None if name is None else b"(?:%b/)?%b" % (_ANY, name)
    return None if expression is None else IgnoreRule(expression, negated=negated, only_directories=only_directories)


def _without_trailing_spaces(line: bytes) -> bytes:
    """Remove spaces at the end that are not escaped by a backslash."""
    end = index = 0
    while index < len(line):
        step = 2 if line[index : index + 1] == b"\\" else 1
        if line[index : index + 1] != b" ":
            end = index + step
        index += step
    return line[:end]


def _path_glob(text: bytes) -> bytes | None:
    """A rule with a slash: git compares what stands before the first wildcard, then takes only the rest as a glob.

    So in `a**/b` the asterisks stand at the start of a glob, and it matches `ab` and `ax/b`.
    """
    wildcard = _SPECIAL.search(text)
    start = wildcard.start() if wildcard else len(text)
    rest = _glob(text[start:], paths=True)
    return None if rest is None else _literal(text[:start]) + rest


def _glob(glob: bytes, *, paths: bool) -> bytes | None:
    """The expression of a glob, or None where it can match nothing. Only in `paths` can two asterisks match slashes."""
    out: list[bytes] = []
    index = 0
    while index < len(glob):
        char = glob[index : index + 1]
        if char == b"*":
            expression, index = _star(glob, index, paths=paths)
        elif char == b"?":
            expression, index = b"[^/]", index + 1
        elif char == b"[":
            found = _class(glob, index + 1)
            if found is None:
                return None
            expression, index = found
        else:
            escaped = char == b"\\"
            expression, index = _literal(glob[index + escaped : index + escaped + 1]), index + escaped + 1
            if not expression:
                return None
        out.append(expression)
    return b"".join(out)


def _star(glob: bytes, start: int, *, paths: bool) -> tuple[bytes, int]:
    """Translate one or more asterisks. Return the expression and the offset after them."""
    end = start
    while glob[end : end + 1] == b"*":
        end += 1
    if paths and end - start > 1 and glob[max(0, start - 1) : start] in (b"", b"/"):
        if glob[end : end + 1] == b"/":
            return b"(?:%b/)?" % _ANY, end + 1
        if end == len(glob) or glob[end : end + 2] == b"\\/":
            return _ANY, end
    return b"[^/]*", end


def _class(glob: bytes, index: int) -> tuple[bytes, int] | None:
    """Translate a bracket expression and return the offset after it; None if malformed, which matches nothing."""
    negated = glob[index : index + 1] in (b"!", b"^")
    index += negated
    members: set[int] = set()
    previous = b""  # what a range could begin with
    first = True
    while first or glob[index : index + 1] != b"]":
        first = False
        char = glob[index : index + 1]
        if char == b"-" and previous and glob[index + 1 : index + 2] not in (b"", b"]"):
            index += 2 if glob[index + 1 : index + 2] == b"\\" else 1
            char = glob[index : index + 1]
            members.update(range(previous[0], char[0] + 1) if char else ())
            previous = b""
        elif char == b"[" and (name := _class_name(glob, index)) is not None:
            if name not in _CLASSES:
                return None
            members.update(_CLASSES[name])
            index += len(b"[:") + len(name) + len(b":")
            previous = b""
        else:
            index += char == b"\\"
            char = previous = glob[index : index + 1]
            members.update(char)
        if not char:
            return None
        index += 1
    kept = (set(range(256)) - members if negated else members) - {ord("/")}
    return _one_of(kept), index + 1


def _class_name(glob: bytes, index: int) -> bytes | None:
    """Return the name in `[:name:]`, which begins at the index; None if no such thing does."""
    end = glob.find(b"]", index + 2) if glob[index + 1 : index + 2] == b":" else -1
    name = glob[index + 2 : max(end, 0)]
    return name[:-1] if name.endswith(b":") else None


def _one_of(members: set[int]) -> bytes:
    if not members:
        return rb"[^\x00-\xff]"
    starts = sorted(byte for byte in members if byte - 1 not in members)
    ends = sorted(byte for byte in members if byte + 1 not in members)
    return b"[%b]" % b"".join(rb"\x%02x-\x%02x" % span for span in zip(starts, ends, strict=True))


def _literal(text: bytes) -> bytes:
    return b"".join(rb"\x%02x" % byte for byte in text)
