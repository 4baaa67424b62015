"""The terms on which a session is served: what the server's flags say, for all who must keep to it or tell it."""

from typing import NamedTuple


class Confinement(NamedTuple):
    """What the kernel enforces on this process, whatever its code does."""

    files: bool = False
    """Whether only files below the root, and those that Python itself needs, can be opened, and none for writing."""
    network: bool = False
    """Whether no TCP connection can be made and no further TCP port be listened on."""


class Terms(NamedTuple):
    """Limits and flags in force."""

    max_request_bytes: int = 1 << 20
    max_response_bytes: int = 1 << 24
    max_ops: int | None = None
    max_lines: int | None = None
    max_bytes: int | None = None
    gitignore: bool = False
    """Whether ignore rules hold where a request does not say."""
    log: bool = False
    """Whether a trace is written."""
    confinement: Confinement = Confinement()
    """How far the process is confined."""
