"""The policy: which names under the root a server never shows, whatever a request asks for.

`Tree` consults it for every step of every path it follows, the walk and the cached listing for every name they meet. A
path is denied by its name alone, before anything is looked at, so that no answer tells whether something is there.
"""

from collections.abc import Sequence
from typing import Any

import contract_spec as spec

from zeno.errors import InvalidArgs
from zeno.text.globs import matcher, reach

SECRETS = "secrets"
"""A named list of globs: `rules/deny/secrets.json` of the contract."""
IGNORED = "ignored"
"""Names that ignore rules leave out."""

ALLOWED, DIRECTORY_ONLY, DENIED = "allowed", "directory_only", "denied"


class Policy:
    """What is denied. Without arguments nothing is.

    `deny` are globs. One without a slash is matched against the name of every file and directory, one with a slash
    against the whole relative path. Case does not count. What is below a directory that matches is denied too. `lists`
    are names of lists of such globs.

    With `only`, everything is denied but what one of these globs matches by its whole relative path, what is below a
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
        """What may be at a relative path: anything (`allowed`), a directory (`directory_only`), or nothing (`denied`).

        Only the path is looked at. Ignore rules are not part of it.
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
    """The globs of a named list."""
    found: Any = spec.resource(f"rules/deny/{name}.json")
    return list(found["globs"])


def _plain(glob: str, field: str) -> str:
    """A glob as it is matched with relative paths."""
    while glob.startswith("./"):
        glob = glob[2:]
    glob = glob.rstrip("/")
    if glob in ("", ".") or glob.startswith("/") or ".." in glob.split("/"):
        raise InvalidArgs(f"{field} takes a glob over paths relative to the root, such as '*.pem' or 'private/*'")
    return glob


def _with_below(globs: list[str]) -> list[str]:
    """The same globs, and all that is below what they match."""
    return [*globs, *(f"{glob}/*" for glob in globs)]
