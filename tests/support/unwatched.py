"""Files beyond the limit of watches: few watches, and change times that settle soon."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.patience import until
from zeno.cache import unsettled_files
from zeno.cache.inotify import Watch
from zeno.files import batch_open

# More than a tick of any usual kernel's clock.
SETTLED = 12 * 10**6


@contextmanager
def few_watches(count: int) -> Iterator[None]:
    """Allow so many watches of files, and hold other files once they have not changed for some milliseconds."""
    allowed = iter(range(count))
    add = Watch.file

    def limited(watch: Watch, descriptor: int, taken: int) -> int | None:
        # With `taken` 0 the watch is needed, and taken from those of other programs.
        return add(watch, descriptor, taken) if taken == 0 or next(allowed, None) is not None else None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Watch, "file", limited)
        patch.setattr(batch_open, "SETTLED", SETTLED)
        patch.setattr(unsettled_files, "SETTLED", SETTLED)
        yield


def settle(root: Path) -> None:
    """Wait until the last change below a directory is settled."""
    names = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
    last = max((os.lstat(name).st_ctime_ns for name in names), default=0)
    until(lambda: time.time_ns() - last > SETTLED, "the last change is settled")
