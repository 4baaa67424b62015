"""The limit on open files: a deep tree needs a descriptor for every level of directories."""

import resource
from contextlib import suppress


def raise_descriptor_limit() -> None:
    """Raise the soft limit of this process to the hard one. Where the system refuses, it stays as it is."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        # macOS has a lower limit than the one it tells.
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
