"""The policy: names under the root that a server never shows.

`Tree` applies it to every component of every path it follows, the walk and the cached listing to every name. A path is
denied by its name alone, before the file system is read, so that no answer reveals whether the file exists.

Some file systems find `.env` as `.ENV`, `.e\u200cnv`, in another normal form of Unicode, with a dot at the end or by a
short name such as `ENV~1`. The name that counts is the one that the directory lists: `list_names` finds it.
"""

import json
import os
import re
from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import contract_spec as spec

from zeno.errors import InvalidArgs
from zeno.files.batch_open import LISTING
from zeno.text.globs import reach, subtree_matcher

SECRETS = "secrets"
"""A named list of globs: `rules/deny/secrets.json` of the contract."""
IGNORED = "ignored"
"""Deny names that ignore rules exclude."""

# Of such a name a file system can ignore nothing but the case of its letters.
_PLAIN = re.compile(rb"[A-Za-z0-9_.-]*[A-Za-z0-9_-]")

ALLOWED, DIRECTORY_ONLY, DENIED = "allowed", "directory_only", "denied"


class Policy:
    """Rules that deny names. Without arguments nothing is denied.

    `deny` are globs. One without a slash is matched against the name of every file and directory, one with a slash
    against the whole relative path. Case does not count. Everything below a directory that matches is denied too.
    `lists` are names of lists of such globs.

    With `only`, everything is denied except paths that one of these globs matches as a whole, everything below a
    directory that matches, and the directories above. Here case counts.

    With `ignored`, names that ignore rules leave out are denied; `Tree` and the walk read these rules.

    Raises InvalidArgs for globs that cannot be run.
    """

    def __init__(
        self, deny: Sequence[str] = (), only: Sequence[str] = (), *, lists: Sequence[str] = (), ignored: bool = False
    ) -> None:
        self.deny, self.only, self.lists, self.ignored = list(deny), list(only), list(lists), ignored
        self.active = bool(deny or only or lists or ignored)
        """Whether anything can be denied."""
        denied = [_plain(glob, "--deny") for glob in [*deny, *(glob for name in lists for glob in deny_list(name))]]
        names = [glob for glob in denied if "/" not in glob]
        paths = [glob for glob in denied if "/" in glob]
        self._denied = [
            subtree_matcher(globs, "--deny", case_sensitive=False, anywhere=globs is names)
            for globs in (names, paths)
            if globs
        ]
        allowed = [_plain(glob, "--only") for glob in only]
        self._allowed = subtree_matcher(allowed, "--only", case_sensitive=True) if allowed else None
        self._leads_to_allowed = reach(allowed)
        self.within: list[str] | None = None
        """Directories outside which everything is denied; None where there is no such limit. See `narrowed`."""
        self._above = ""
        """Prefix of the paths that are asked about. See `below`."""

    def below(self, directory: str) -> "Policy":
        """Return this policy for paths relative to a directory."""
        policy = copy(self)
        policy._above = f"{self._above}{directory}/"
        return policy

    def narrow(self, directories: Sequence[str]) -> "Policy":
        """Return this policy with everything denied that is not in one of these directories, or leads to one."""
        policy = copy(self)
        policy.within, policy.active = list(directories), True
        return policy

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the policy that `to_json` described. Raises InvalidArgs if the text describes none."""
        try:
            told = json.loads(text)
            return cls(told["deny"], told["only"], lists=told["lists"], ignored=told["ignored"])
        except (ValueError, KeyError, TypeError, AttributeError, FileNotFoundError):
            raise InvalidArgs("not a policy: give an object with deny, only, lists and ignored") from None

    def to_json(self) -> str:
        """Return the policy as JSON, to be passed on to another process."""
        return json.dumps({"deny": self.deny, "only": self.only, "lists": self.lists, "ignored": self.ignored})

    def verdict(self, path: str) -> str:
        """Return `allowed`, `directory_only` (only a directory is allowed there) or `denied` for a relative path.

        The verdict depends on the path alone. Ignore rules are not part of it.
        """
        path = self._above + path
        if any(matches(path) for matches in self._denied):
            return DENIED
        limits = self._by_only(path), self._by_directories(path)
        return DENIED if DENIED in limits else DIRECTORY_ONLY if DIRECTORY_ONLY in limits else ALLOWED

    def _by_only(self, path: str) -> str:
        if self._allowed is None or self._allowed(path):
            return ALLOWED
        return DIRECTORY_ONLY if self._leads_to_allowed(path + "/") else DENIED

    def _by_directories(self, path: str) -> str:
        if self.within is None or f"{path}/".startswith(tuple(f"{one}/" for one in self.within)):
            return ALLOWED
        return DIRECTORY_ONLY if any(one.startswith(f"{path}/") for one in self.within) else DENIED

    def denies(self, path: str, *, is_directory: bool) -> bool:
        """Whether a name is denied, ignore rules aside."""
        verdict = self.verdict(path)
        return verdict == DENIED or (verdict == DIRECTORY_ONLY and not is_directory)


def deny_list(name: str) -> list[str]:
    """Return the globs of a named list."""
    found: Any = spec.resource(f"rules/deny/{name}.json")
    return list(found["globs"])


def _plain(glob: str, field: str) -> str:
    """Return a glob without empty steps and `.` as a step. Raises InvalidArgs if it cannot match a relative path."""
    steps = [step for step in glob.split("/") if step not in ("", ".")]
    if not steps or glob.startswith("/") or ".." in steps:
        raise InvalidArgs(f"{field} takes a glob over paths relative to the root, such as '*.pem' or 'private/*'")
    return "/".join(steps)


def other_case(name: bytes) -> bytes | None:
    """Return the spelling by which a file system that folds names finds this one too; None if it may fold otherwise."""
    return name.swapcase() if _PLAIN.fullmatch(name) else None


def list_names(directory: int, name: bytes, status: os.stat_result) -> list[bytes]:
    """Return the names, sorted, under which an open directory lists what it finds by a name, given with its status.

    Only that name where it is listed itself. Empty if the directory cannot be listed.
    """
    try:
        other = other_case(name)
        if other is not None and (other == name or not _finds(directory, other, status)):
            return [name]
        listing = os.open(b".", LISTING, dir_fd=directory)
        try:
            with os.scandir(listing) as entries:
                found = {os.fsencode(entry.name): entry.inode() for entry in entries}
        finally:
            os.close(listing)
    except OSError:
        return []
    return [name] if name in found else sorted(one for one, inode in found.items() if inode == status.st_ino)


def _finds(directory: int, name: bytes, status: os.stat_result) -> bool:
    """Whether a directory finds the same file by this name."""
    try:
        return os.path.samestat(os.stat(name, dir_fd=directory, follow_symlinks=False), status)
    except OSError:
        return False
