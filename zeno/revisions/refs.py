"""Names of commits: branches, tags and ids. A name is data: never an option, a path or an expression."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import NamedTuple

from zeno.files.sealed_folder import LeadsAway, SealedFolder
from zeno.revisions.objects import Objects, Unavailable
from zeno.revisions.packs import COMMIT, TAG
from zeno.revisions.trees import MAX_COMMIT

HEAD = "HEAD"
MIN_DIGITS = 10
"""Digits of an id that is abbreviated, at least."""
MAX_NAME = 1024
"""Characters of a name, at most."""
# A reference that refers to another, and a tag of a tag.
_MAX_STEPS = 10
_MAX_REF_BYTES = 1 << 12
_MAX_PACKED_BYTES = 1 << 28
# Git refuses this in names of references.
_NOT_IN_NAMES = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|\Z)|\.(?:/|\Z)|\A[./-]|/\Z")
_DIGITS = re.compile(r"[0-9a-fA-F]+")
# As git looks for a name: the first of these that exists.
_PLACES = ("{}", "refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")
_TARGET = re.compile(rb"object ([0-9a-f]+)\ntype (commit|tag)\n")


class Unknown(Exception):
    """A name that no commit has. The message says why."""


class Named(NamedTuple):
    """A commit and the reference that was found for its name."""

    commit: bytes
    ref: str | None
    """The full name of the reference; None where an id was given."""


class Refs:
    """The references of a repository, read anew for every question."""

    def __init__(self, folder: SealedFolder, common: SealedFolder, objects: Objects) -> None:
        """Take the directory that has HEAD and the one that has the references: in a worktree they are two."""
        self._folder = folder
        self._common = common
        self._objects = objects

    def find(self, name: str) -> Named:
        """Return the commit that a name stands for. Raises Unknown and Unavailable."""
        name = HEAD if name == "@" else name
        if len(name) > MAX_NAME or _NOT_IN_NAMES.search(name):
            raise Unknown(
                "it is neither an id nor the name of a branch or a tag; expressions such as HEAD~1 are not taken"
            )
        digits = 2 * self._objects.id_bytes
        is_id = _DIGITS.fullmatch(name) is not None
        if is_id and len(name) == digits:
            return Named(self.peel(bytes.fromhex(name)), None)
        for place in _PLACES:
            ref = place.format(name)
            if ref == HEAD or ref.startswith("refs/"):
                found = self._read(ref)
                if found is not None:
                    return Named(self.peel(found), ref)
        if is_id and MIN_DIGITS <= len(name) < digits:
            ids = self._objects.find_by_prefix(name.lower())
            if len(ids) == 1:
                return Named(self.peel(ids[0]), None)
            raise Unknown("several objects begin with these digits" if ids else "no object begins with these digits")
        if is_id and len(name) < MIN_DIGITS:
            raise Unknown(f"no branch or tag has this name, and an id needs {MIN_DIGITS} digits or more")
        raise Unknown("the repository has no branch, tag or commit of this name")

    def has_match(self, globs: list[str], commit: bytes) -> bool:
        """Whether a reference that one of some globs matches stands for a commit."""
        for ref, found in self._all():
            if any(is_matched(ref, glob) for glob in globs):
                try:
                    if found == commit or self.peel(found) == commit:
                        return True
                except (Unknown, Unavailable):
                    continue
        return False

    def peel(self, object_id: bytes) -> bytes:
        """Return the commit that an object is, or that a tag leads to. Raises Unknown and Unavailable."""
        for _ in range(_MAX_STEPS):
            found = self._objects.read(object_id, MAX_COMMIT)
            if found.kind == COMMIT:
                return object_id
            target = _TARGET.match(found.data) if found.kind == TAG else None
            if target is None:
                raise Unknown(f"it leads to a {found.kind}, not to a commit")
            object_id = bytes.fromhex(target[1].decode())
        raise Unknown("it is a tag of too many tags")

    def _read(self, ref: str) -> bytes | None:
        """Return the id that a reference has; None if there is no such reference. Raises Unknown."""
        for _ in range(_MAX_STEPS):
            try:
                folder = self._folder if ref == HEAD else self._common
                data = folder.read(os.fsencode(ref), _MAX_REF_BYTES)
            except LeadsAway as error:
                # A branch `a` and a name `a/b`: there is no such reference.
                if self._is_below_a_file(ref):
                    return self._find_packed(ref)
                raise Unknown(f"{str(error)!r} in the repository is a link or cannot be read") from None
            if data is None:
                return self._find_packed(ref)
            text = data.decode("utf-8", "replace").strip()
            if not text.startswith("ref:"):
                return self._id(text, ref)
            ref = text.removeprefix("ref:").strip()
            if not ref.startswith("refs/") or _NOT_IN_NAMES.search(ref):
                raise Unknown("it refers to something that is no reference")
        raise Unknown("it is a reference to too many references")

    def _is_below_a_file(self, ref: str) -> bool:
        steps = os.fsencode(ref).split(b"/")
        for end in range(1, len(steps)):
            try:
                status = self._common.status(b"/".join(steps[:end]))
                if status is not None and stat.S_ISREG(status.st_mode):
                    return True
            except LeadsAway:
                return False
        return False

    def _id(self, text: str, ref: str) -> bytes:
        if len(text) != 2 * self._objects.id_bytes or not _DIGITS.fullmatch(text):
            raise Unknown(f"the reference {ref} holds no id")
        return bytes.fromhex(text)

    def _read_packed(self) -> bytes:
        try:
            data = self._common.read(b"packed-refs", _MAX_PACKED_BYTES)
        except LeadsAway:
            raise Unknown("'packed-refs' in the repository is a link or cannot be read") from None
        return b"\n" + data if data else b""

    def _find_packed(self, ref: str) -> bytes | None:
        data = self._read_packed()
        end = data.find(b" %b\n" % os.fsencode(ref))
        digits = 2 * self._objects.id_bytes
        if end < digits or data[end - digits - 1 : end - digits] != b"\n":
            return None
        return self._id(data[end - digits : end].decode("ascii", "replace"), ref)

    def _all(self) -> Iterator[tuple[str, bytes]]:
        """Yield all references with their ids, those in files of their own first: they hold for packed ones too."""
        known: set[str] = set()
        todo = [b"refs"]
        while todo:
            place = todo.pop()
            for name in self._names(place):
                path = place + b"/" + name
                ref = os.fsdecode(path)
                # One that cannot be read, such as the lock of a writer, hides no other.
                with suppress(LeadsAway, Unknown):
                    status = self._common.status(path)
                    if status is not None and stat.S_ISDIR(status.st_mode):
                        todo.append(path)
                        continue
                    known.add(ref)
                    found = self._read(ref)
                    if found is not None:
                        yield ref, found
        for line in self._read_packed().split(b"\n"):
            digits, _, name = line.partition(b" ")
            ref = os.fsdecode(name)
            if ref.startswith("refs/") and ref not in known and len(digits) == 2 * self._objects.id_bytes:
                with suppress(Unknown):
                    yield ref, self._id(digits.decode("ascii", "replace"), ref)

    def _names(self, place: bytes) -> list[bytes]:
        try:
            return self._common.names(place)
        except LeadsAway:
            return []


def is_matched(ref: str, glob: str) -> bool:
    """Whether a glob matches a reference, by its full name or by what is left of it without `refs/heads/` and such."""
    short = re.sub(r"\Arefs/(?:heads/|tags/|remotes/)?", "", ref)
    return fnmatchcase(ref, glob) or fnmatchcase(short, glob)
