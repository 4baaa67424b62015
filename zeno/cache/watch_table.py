"""The table of watches. Hard links share a watch, and so do the old and new name of a moved file for a while."""

from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from zeno.cache.inotify import IGNORED, Event, Watch

NO_WATCH = -1
"""In place of a watch number, which the kernel counts from 1."""


class Watchable(Protocol):
    """A file or directory with the number of its watch, or `NO_WATCH`."""

    watch: int


W = TypeVar("W", bound=Watchable)


class WatchTable(Generic[W]):
    """Files and directories by watch. A watch ends when its last owner releases it."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._owners: dict[int, W | tuple[W, ...]] = {}
        """Owners by watch number. A single owner, the usual case, is stored without a tuple to save memory."""

    def __len__(self) -> int:
        """Number of watches in use."""
        return len(self._owners)

    def file(self, owner: W, descriptor: int, *, needed: bool = False) -> bool:
        """Watch an open file. Return False if no watch is free. If `needed`, use those kept for other programs too."""
        number = self._watch.file(descriptor, 0 if needed else len(self))
        if number is None:
            return False
        self._own(owner, number)
        return True

    def directory(self, owner: W, descriptor: int) -> bool:
        """Watch an open directory. Return whether it is another one than `owner` had. Raises Unwatchable."""
        return self._own(owner, self._watch.directory(descriptor))

    def release(self, owner: W) -> None:
        """Remove an owner from its watch, and end the watch if it was the last one."""
        owners = self._of(owner.watch)
        if owners:
            others = tuple(other for other in owners if other is not owner)
            if others:
                self._owners[owner.watch] = others
            else:
                del self._owners[owner.watch]
                self._watch.forget(owner.watch)
        owner.watch = NO_WATCH

    def events(self) -> Iterator[tuple[Event, tuple[W, ...]]]:
        """Yield the events since the last call, each with the owners of its watch."""
        for event in self._watch.events():
            owners = self._of(event.watch)
            if event.kind & IGNORED:
                # The kernel has ended the watch.
                self._owners.pop(event.watch, None)
                for owner in owners:
                    owner.watch = NO_WATCH
            yield event, owners

    def _of(self, number: int) -> tuple[W, ...]:
        owners = self._owners.get(number, ())
        return owners if isinstance(owners, tuple) else (owners,)

    def _own(self, owner: W, number: int) -> bool:
        if owner.watch == number:
            return False
        self.release(owner)
        owner.watch = number
        owners = (*self._of(number), owner)
        self._owners[number] = owners if len(owners) > 1 else owner
        return True
