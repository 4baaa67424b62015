"""The limit on open files: a deep tree needs a descriptor for every level of directories."""

import resource
from contextlib import suppress


def raise_descriptor_limit() -> None:
    """Raise the soft limit of this process to the hard one. If the system refuses, nothing changes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        # macOS allows less than the hard limit it reports.
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
