"""Why nothing can be held: changes that nobody tells of."""


class Unwatchable(Exception):
    """This system, this file system or the number of watches does not allow to see every change."""


class Lost(Exception):
    """Changes were not told: too many at once, or something was mounted or unmounted. One can start anew."""
