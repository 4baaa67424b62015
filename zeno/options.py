"""The terms on which a session is served: what the server's flags say, for all who must keep to it or tell it."""

import os
from typing import NamedTuple


class Confinement(NamedTuple):
    """Restrictions that the kernel enforces on this process."""

    files: bool = False
    """Whether only files below the root and those of Python can be opened, and none but the log to write."""
    network: bool = False
    """Whether no TCP connection can be made and no further TCP port be listened on."""


class Terms(NamedTuple):
    """Limits and flags in force."""

    max_request_bytes: int = 1 << 20
    max_response_bytes: int = 1 << 24
    max_ops: int | None = None
    max_lines: int | None = None
    max_bytes: int | None = None
    max_seconds: int | None = None
    """Seconds that one request may take."""
    gitignore: bool = False
    """Whether ignore rules hold where a request does not say."""
    log: bool = False
    """Whether a trace is written."""
    confinement: Confinement = Confinement()
    """How far the process is confined."""


def is_without(feature: str) -> bool:
    """Whether the environment variable ZENO_WITHOUT names a feature of the system: inotify, openat2 or fork.

    Then the server does as on a system that lacks it. Answers stay the same; `nox -s portable` tests that.
    """
    return feature in os.environ.get("ZENO_WITHOUT", "").split(",")
