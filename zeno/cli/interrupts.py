"""Ctrl-C while the program loads must end the process, not raise KeyboardInterrupt.

Native modules that import others panic at the exception and print a message. Raised while an object is being deleted,
it is ignored, and the program goes on.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def sigint_ends_process() -> Iterator[None]:
    """In this block SIGINT ends the process at once and silently."""
    raising = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if raising:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        if raising:
            signal.signal(signal.SIGINT, signal.default_int_handler)
