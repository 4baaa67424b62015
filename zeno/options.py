"""Options of a session, from the server's flags, and the directories to serve."""

import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from zeno.errors import CannotRun

_NAME = re.compile(r"\w[\w.+@ -]{0,99}")


class Confinement(NamedTuple):
    """Restrictions that the kernel enforces on this process."""

    files: bool = False
    """Whether the process can open only files below the root and those of Python, and write only to its log."""
    network: bool = False
    """Whether the process can make no further socket, so neither connect nor listen."""


class Options(NamedTuple):
    """Limits and flags of a server, from the command line to `describe`."""

    max_request_bytes: int = 1 << 20
    max_response_bytes: int = 1 << 24
    max_ops: int | None = None
    max_lines: int | None = None
    max_bytes: int | None = None
    max_seconds: int | None = None
    """Seconds that one request may take."""
    max_pattern_work: int | None = None
    """Limit on states of a large pattern times bytes of text, for one request; None: the limit of the protocol."""
    max_scan_bytes: int | None = None
    """Limit on bytes of files that one request goes through to count lines; None: the limit of the protocol."""
    gitignore: bool = False
    """Whether ignore rules apply if a request does not set `gitignore`."""
    all_tools: bool = False
    """Whether models are offered tools for all operations."""
    log: bool = False
    """Whether a trace is written."""
    confinement: Confinement = Confinement()
    """How far the process is confined."""


def read_roots(given: Sequence[str]) -> dict[str, str]:
    """Return the directories of `--root NAME=DIR` by name; empty if one directory is given without a name.

    The text before the first `=` is a name unless it has a slash: `./a=b` is a directory. Raises CannotRun for a
    name that cannot begin a path, is given twice, or is missing where there are several roots.
    """
    found: dict[str, str] = {}
    for value in given:
        name, equals, directory = value.partition("=")
        if not equals or "/" in name:
            if len(given) == 1:
                return {}
            raise CannotRun(f"--root {value!r} has no name; where there are several, give each as --root NAME=DIR")
        if _NAME.fullmatch(name) is None:
            raise CannotRun(
                f"--root {value!r}: {name!r} is no name for a root; give up to 100 letters, digits, blanks and "
                "_ . + @ - that begin with a letter, a digit or _ (for a directory with = in its name, give ./DIR)"
            )
        if name in found:
            raise CannotRun(f"--root {value!r}: another root is called {name!r} already; give each its own name")
        if not directory:
            raise CannotRun(f"--root {value!r} has no directory; give --root NAME=DIR")
        found[name] = directory
    return found


def is_without(feature: str) -> bool:
    """Whether the environment variable ZENO_WITHOUT names a feature of the system: inotify, openat2 or fork.

    Then the server acts as on a system without it. Answers stay the same; `nox -s portable` tests that.
    """
    return feature in os.environ.get("ZENO_WITHOUT", "").split(",")
