"""The policy: names under the root that a server never shows.

`Tree` applies it to every component of every path it follows, the walk and the cached listing to every name. A path is
denied by its name alone, before the file system is read, so that no answer reveals whether the file exists.
"""

from collections.abc import Sequence
from typing import Any

import contract_spec as spec

from zeno.errors import InvalidArgs
from zeno.text.globs import matcher, reach

SECRETS = "secrets"
"""A named list of globs: `rules/deny/secrets.json` of the contract."""
IGNORED = "ignored"
"""Deny names that ignore rules exclude."""

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
        anywhere = [f"**/{glob}" for glob in denied if "/" not in glob]
        self._denied = matcher(_with_below([*denied, *anywhere]), "--deny", case_sensitive=False) if denied else None
        allowed = [_plain(glob, "--only") for glob in only]
        self._allowed = matcher(_with_below(allowed), "--only") if allowed else None
        self._leads_to_allowed = reach(allowed)

    def verdict(self, path: str) -> str:
        """Return `allowed`, `directory_only` (only a directory is allowed there) or `denied` for a relative path.

        The verdict depends on the path alone. Ignore rules are not part of it.
        """
        if self._denied is not None and self._denied(path):
            return DENIED
        if self._allowed is None or self._allowed(path):
            return ALLOWED
        return DIRECTORY_ONLY if self._leads_to_allowed(path + "/") else DENIED

    def denies(self, path: str, *, is_directory: bool) -> bool:
        """Whether a name is denied, ignore rules aside."""
        verdict = self.verdict(path)
        return verdict == DENIED or (verdict == DIRECTORY_ONLY and not is_directory)


def deny_list(name: str) -> list[str]:
    """Return the globs of a named list."""
    found: Any = spec.resource(f"rules/deny/{name}.json")
    return list(found["globs"])


def _plain(glob: str, field: str) -> str:
    """Return a glob without `./` and trailing slashes. Raises InvalidArgs if it cannot match a relative path."""
    while glob.startswith("./"):
        glob = glob[2:]
    glob = glob.rstrip("/")
    if glob in ("", ".") or glob.startswith("/") or ".." in glob.split("/"):
        raise InvalidArgs(f"{field} takes a glob over paths relative to the root, such as '*.pem' or 'private/*'")
    return glob


def _with_below(globs: list[str]) -> list[str]:
    """Return the globs, and for each one another that matches everything below."""
    return [*globs, *(f"{glob}/*" for glob in globs)]
