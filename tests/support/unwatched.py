"""Files beyond the limit of watches: few watches, and change times that settle soon."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.patience import until
from zeno.cache import tree_cache
from zeno.cache.watch import Watches
from zeno.files import batch_open

# More than a tick of any usual kernel's clock.
SETTLED = 12 * 10**6


@contextmanager
def few_watches(count: int) -> Iterator[None]:
    """Allow so many watches of files, and hold other files once they have not changed for some milliseconds."""
    allowed = iter(range(count))
    add = Watches.watch_file

    def limited(watches: Watches, owner: Any, descriptor: int, *, needed: bool = False) -> bool:
        # One that is needed is taken from those of other programs.
        return (needed or next(allowed, None) is not None) and add(watches, owner, descriptor, needed=needed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Watches, "watch_file", limited)
        patch.setattr(batch_open, "SETTLED", SETTLED)
        patch.setattr(tree_cache, "SETTLED", SETTLED)
        yield


def settle(root: Path) -> None:
    """Wait until the last change below a directory is settled."""
    names = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
    last = max((os.lstat(name).st_ctime_ns for name in names), default=0)
    until(lambda: time.time_ns() - last > SETTLED, "the last change is settled")
