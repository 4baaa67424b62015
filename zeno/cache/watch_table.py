"""What is watched, and by which watch: hard links share one, and so does what was moved until its old name is gone."""

from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from zeno.cache.inotify import IGNORED, Event, Watch


class Watchable(Protocol):
    """A file or a directory that remembers the number of its watch; below 0 it has none."""

    watch: int


W = TypeVar("W", bound=Watchable)


class Watched(Generic[W]):
    """Files and directories by their watches. A watch ends when the last one that goes by it lets go of it."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._owners: dict[int, W | tuple[W, ...]] = {}
        """There are as many as files, and mostly each watch is of one thing: then of just that."""

    def __len__(self) -> int:
        """How many watches are taken: an edited file is watched again by the one it has, and so are hard links."""
        return len(self._owners)

    def file(self, owner: W, descriptor: int) -> bool:
        """Watch an open file; False where no more watches are to be had."""
        number = self._watch.file(descriptor, len(self))
        if number is None:
            return False
        self._own(owner, number)
        return True

    def directory(self, owner: W, descriptor: int) -> bool:
        """Watch an open directory; whether it is another one than was watched before."""
        return self._own(owner, self._watch.directory(descriptor))

    def release(self, owner: W) -> None:
        """End the watch of something, unless something else goes by the same."""
        owners = self._of(owner.watch)
        if owners:
            others = tuple(other for other in owners if other is not owner)
            if others:
                self._owners[owner.watch] = others
            else:
                del self._owners[owner.watch]
                self._watch.forget(owner.watch)
        owner.watch = -1

    def events(self) -> Iterator[tuple[Event, tuple[W, ...]]]:
        """All that happened since last asked, each with what it happened to by then."""
        for event in self._watch.events():
            owners = self._of(event.watch)
            if event.kind & IGNORED:
                # The kernel has ended it.
                self._owners.pop(event.watch, None)
                for owner in owners:
                    owner.watch = -1
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
