"""Exceptions raised when changes cannot be watched."""


class Unwatchable(Exception):
    """Changes cannot be watched: no inotify, a network file system, or too few watches."""


class Lost(Exception):
    """Events were lost: the queue overflowed, or a file system was mounted or unmounted. A new cache can be built."""
