"""The terms on which a session is served: what the server's flags say, for all who must keep to it or tell it."""

from typing import NamedTuple


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
