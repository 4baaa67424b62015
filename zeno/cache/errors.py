"""Exceptions raised when changes cannot be watched."""

from zeno.errors import lacks_descriptor


class Unwatchable(Exception):
    """Changes cannot be watched: no inotify, a network file system, or too few watches."""


class Lost(Exception):
    """Events were lost: the queue overflowed, or a file system was mounted or unmounted. A new cache can be built."""


class Shortage(Exception):
    """No descriptor is left for now. A new cache can be built when there is one."""


def refused(error: OSError) -> Shortage | Unwatchable:
    """Return the exception for an error of the system while a cache is built or updated."""
    return Shortage() if lacks_descriptor(error) else Unwatchable()
