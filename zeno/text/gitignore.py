"""Match paths against ignore rules, given the text of ignore files. No file is opened here.

`gitignore_syntax` reads the rules. They are compiled to RE2, so that matching takes time linear in the name: at worst a
step for each byte of it and of all rules.
"""

import errno
import re
from collections.abc import Iterator
from typing import NamedTuple

from zeno.text.gitignore_syntax import IgnoreRule, parse
from zeno.text.regex import Matches, bytes_matcher

IGNORE_FILES = (".gitignore", ".ignore")
REPOSITORY, EXCLUDE = ".git", "exclude"

# Larger ignore files count as unreadable: a hostile tree must not make reading slow.
MAX_FILE_BYTES = 1 << 18
# Ignore files in force in one directory may have so many bytes in all: compiled they take a hundred times as many.
MAX_BYTES_IN_FORCE = 1 << 20
# Compiled files are kept up to this size; each counts as its text and so much besides.
_KEPT_BYTES, _OVERHEAD = 2 * MAX_BYTES_IN_FORCE, 1 << 12
# Bytes of rules with wildcards count so many times: matching may take a step for each of them and each byte of a name.
_WEIGHT, _WILD_LINE = 32, re.compile(rb"(?m)^(?!#)[^\n]*[*?\[][^\n]*")
# Rules are compiled together up to this size.
_BATCH_BYTES = 1 << 15
_Batch = tuple[Matches, list[IgnoreRule]]


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
