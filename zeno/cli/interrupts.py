"""Ctrl-C while a program loads: an exception would not do.

Native modules that import others panic at one, and print that; and one that comes while an object is being forgotten is
forgotten with it, so that the program goes on.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def deadly() -> Iterator[None]:
    """While this lasts an interrupt ends the process at once, without a word, as it does most programs."""
    raising = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if raising:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        if raising:
            signal.signal(signal.SIGINT, signal.default_int_handler)
