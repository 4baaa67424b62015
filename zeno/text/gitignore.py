"""Match paths against ignore rules, given the text of ignore files. No file is opened here.

Syntax and corner cases are those of gitignore(5) and of git's own matching, by bytes and case-sensitive. Rules are
compiled to RE2, so that matching takes time linear in the name: at worst a step for each byte of it and of all rules.
"""

import errno
import re
from collections.abc import Iterator
from functools import cached_property
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits, hexdigits, punctuation
from typing import NamedTuple

from zeno.text.regex import Matches, bytes_matcher

IGNORE_FILES = (".gitignore", ".ignore")
REPOSITORY, EXCLUDE = ".git", "exclude"

# Larger ignore files count as unreadable: a hostile tree must not make reading slow.
MAX_FILE_BYTES = 1 << 18
# Ignore files in force in one directory may have so many bytes in all: compiled they take a hundred times as many.
MAX_BYTES_IN_FORCE = 1 << 20
# Compiled files are kept up to this size; each counts as its text and so much besides.
_KEPT_BYTES, _OVERHEAD = 2 * MAX_BYTES_IN_FORCE, 1 << 12
# Longer lines are ignored, though git has no such limit: RE2 must be able to compile every rule.
MAX_RULE_BYTES = 1024
# Bytes of rules with wildcards count so many times: matching may take a step for each of them and each byte of a name.
_WEIGHT, _WILD_LINE = 32, re.compile(rb"(?m)^(?!#)[^\n]*[*?\[][^\n]*")
# Rules are compiled together up to this size.
_BATCH_BYTES = 1 << 15
_ANY = b"(?s:.*)"
_SPECIAL = re.compile(rb"[*?\[\\]")
_NAMED = re.compile(rb"\[:([^\]]*):\]")
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
_Batch = tuple[Matches, list["IgnoreRule"]]


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


class IgnoreRules:
    """The rules of one ignore file. Of those that match the last one decides."""

    def __init__(self, data: bytes, base: bytes = b"") -> None:
        self.weight = len(data) + (_WEIGHT - 1) * sum(map(len, _WILD_LINE.findall(data)))
        self._base = len(base)
        self._batches = _compiled.get(data)

    def verdict(self, path: bytes, is_directory: bool) -> bool | None:
        """Return True if a path is ignored, False if it is included again, None if no rule matches."""
        name = path[self._base :]
        for any_matches, batch in self._batches:
            if any_matches(name):
                for rule in batch:
                    if (is_directory or not rule.only_directories) and rule.matches(name):
                        return not rule.negated
        return None


class _CompiledRules:
    """Compiles ignore files and keeps those used last: a policy asks for the same ones with every path.

    Threads share it without a lock: at worst a file is compiled twice.
    """

    def __init__(self) -> None:
        self._kept: dict[bytes, list[_Batch]] = {}

    def get(self, data: bytes) -> list[_Batch]:
        """Return the rules of an ignore file in batches, last rule first, with one expression for each batch."""
        batches = self._kept.pop(data, None)
        if batches is None:
            batches = [
                (bytes_matcher(b"|".join(b"(?:%b)" % rule.expression for rule in batch)), batch)
                for batch in _batches(parse(data)[::-1])
            ]
            self._make_room(_KEPT_BYTES - len(data))
        self._kept[data] = batches
        return batches

    def _make_room(self, room: int) -> None:
        """Drop files, those used longest ago first, until the rest takes no more than `room`."""
        kept = list(self._kept)
        size = sum(len(data) + _OVERHEAD for data in kept)
        for data in kept:
            if size <= room:
                break
            self._kept.pop(data, None)
            size -= len(data) + _OVERHEAD


_compiled = _CompiledRules()


def _batches(rules: list[IgnoreRule]) -> Iterator[list[IgnoreRule]]:
    batch: list[IgnoreRule] = []
    size = 0
    for rule in rules:
        if batch and size + len(rule.expression) > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(rule)
        size += len(rule.expression)
    if batch:
        yield batch


class Ignores(NamedTuple):
    """The rules in force in one directory, nearest first. Begin with an empty one and `enter` each directory."""

    general: tuple[IgnoreRules, ...] = ()
    """From `.ignore`: tried before git's rules, and in force in nested repositories too."""
    per_directory: tuple[IgnoreRules, ...] = ()
    """From `.gitignore`."""
    repository: tuple[IgnoreRules, ...] = ()
    """From `.git/info/exclude`."""

    def enter(self, base: bytes, texts: dict[str, bytes], exclude: bytes | None, *, is_repository: bool) -> "Ignores":
        """Return the rules inside the directory `base` (empty or ending in a slash), given its ignore files.

        In a nested repository git's rules of the outer repository do not apply. Raises OSError if the ignore files that
        would be in force are too large together.
        """
        general, per_directory, repository = self
        if is_repository:
            per_directory = repository = ()
        if exclude is not None:
            repository = (IgnoreRules(exclude, base),)
        if ".gitignore" in texts:
            per_directory = (IgnoreRules(texts[".gitignore"], base), *per_directory)
        if ".ignore" in texts:
            general = (IgnoreRules(texts[".ignore"], base), *general)
        inside = Ignores(general, per_directory, repository)
        if sum(rules.weight for group in inside for rules in group) > MAX_BYTES_IN_FORCE:
            raise OSError(errno.EFBIG, "ignore files that are too large together")
        return inside

    def leave_out(self, path: bytes, is_directory: bool) -> bool:
        """Whether git would ignore this file or directory, if the directories above it are not ignored."""
        for group in self:
            for rules in group:
                verdict = rules.verdict(path, is_directory)
                if verdict is not None:
                    return verdict
        return False


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
        elif char == b"[" and (named := _NAMED.match(glob, index)):
            if named[1] not in _CLASSES:
                return None
            members.update(_CLASSES[named[1]])
            index = named.end() - 1
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


def _one_of(members: set[int]) -> bytes:
    if not members:
        return rb"[^\x00-\xff]"
    starts = sorted(byte for byte in members if byte - 1 not in members)
    ends = sorted(byte for byte in members if byte + 1 not in members)
    return b"[%b]" % b"".join(rb"\x%02x-\x%02x" % span for span in zip(starts, ends, strict=True))


def _literal(text: bytes) -> bytes:
    return b"".join(rb"\x%02x" % byte for byte in text)
