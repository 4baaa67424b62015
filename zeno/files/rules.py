"""Which names of a directory the rules of a request leave out: hidden, ignored and excluded ones.

The walk, the cached listing and several roots ask here. Names that the policy denies are not asked about: they are as
good as absent. Globs are about whole paths; `zeno.search.selection` applies them.
"""

import os
from collections.abc import Iterable
from typing import NamedTuple

from zeno.text.gitignore import REPOSITORY, Ignores
from zeno.text.path_names import printed_entry

HIDDEN, IGNORED, EXCLUDED = LEFT_OUT = ("hidden", "ignored", "excluded")
"""Rules that can leave a name out, in the order in which they are tried."""


class NameRules(NamedTuple):
    """The rules of a request that decide about single names."""

    include_hidden: bool = False
    exclude_dirs: frozenset[str] = frozenset()
    """Names of directories, as results print them."""
    gitignore: bool = False

    @property
    def leave_all(self) -> bool:
        """Whether no name is left out."""
        return self.include_hidden and not self.exclude_dirs and not self.gitignore

    def begin(self) -> Ignores | None:
        """Return the ignore rules outside the root: none yet, or None where they are not asked for."""
        return Ignores() if self.gitignore else None

    def left_out(
        self, entries: Iterable[tuple[str, bool]], base: bytes = b"", ignores: Ignores | None = None
    ) -> dict[str, str]:
        """Return those names of a directory that a rule leaves out, with the rule.

        Names are given as `os.scandir` decodes them, each with whether it is a directory. `base` is the path of the
        directory with a slash at the end, and `ignores` are the ignore rules inside it.
        """
        if self.leave_all:
            return {}
        include_hidden, exclude_dirs = self.include_hidden, self.exclude_dirs
        found: dict[str, str] = {}
        for name, is_directory in entries:
            if name[0] == "." and not include_hidden:
                found[name] = HIDDEN
            elif ignores is not None and (
                name == REPOSITORY or ignores.leave_out(base + os.fsencode(name), is_directory)
            ):
                found[name] = IGNORED
            elif is_directory and exclude_dirs and printed_entry(name) in exclude_dirs:
                found[name] = EXCLUDED
        return found
