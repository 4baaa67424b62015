"""Watch the tree with inotify. The queue is read before each request is answered.

An event is queued before the system call that caused it returns, so an answer always includes changes made before the
request. Directories are watched for changes of their entries. Files are watched for changes of their content, because
an edit through a hard link in another directory causes no event in this one.

Hard links share a watch, and so do the old and new name of a moved file for a while. Only file systems whose changes
all go through this kernel are watched. Nothing here opens anything under the root.
"""

import ctypes
import errno
import os
import select
import struct
import sys
from collections.abc import Iterator
from fcntl import ioctl
from termios import FIONREAD
from typing import NamedTuple

from zeno.errors import lacks_descriptor
from zeno.files.tree import Tree
from zeno.options import is_without

MODIFY, ATTRIB, CLOSE_WRITE = 0x2, 0x4, 0x8
MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x40, 0x80, 0x100, 0x200
UNMOUNT, OVERFLOW, IGNORED = 0x2000, 0x4000, 0x8000
NAMES = MOVED_FROM | MOVED_TO | CREATE | DELETE

# Changes of a file's content are reported by its own watch, which exists once something of it is cached; changes of a
# closed directory's mode by its parent's watch. Writes through a memory map are reported only when it is unmapped.
_FILE = MODIFY | ATTRIB | CLOSE_WRITE
_DIRECTORY = ATTRIB | NAMES
_EVENT = struct.Struct("iIII")

# ext2 to 4, xfs, btrfs, tmpfs, ramfs, overlay, f2fs, zfs, bcachefs, jfs, nilfs, squashfs, erofs, iso9660. Network and
# user-space file systems can change without an event in this kernel.
_LOCAL = {
    *(0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0x858458F6, 0x794C7630, 0xF2F52010, 0x2FC12FC1, 0xCA451A4E),
    *(0x3153464A, 0x3434, 0x73717368, 0xE0F5E1E2, 0x9660),
}
# tmpfs and ramfs: stores through a memory map never set the change time of a file.
_WITHOUT_CHANGE_TIME = {0x01021994, 0x858458F6}

NO_WATCH = -1
"""In place of a watch number, which the kernel counts from 1."""


class Unwatchable(Exception):
    """Changes cannot be watched: no inotify, a network file system, or too few watches."""


class Lost(Exception):
    """Events were lost: the queue overflowed, or a file system was mounted or unmounted. A new cache can be built."""


class Shortage(Exception):
    """No descriptor is left for now. A new cache can be built when there is one."""


def to_watch_error(error: OSError) -> Shortage | Unwatchable:
    """Return the exception for an error of the system while a cache is built or updated."""
    return Shortage() if lacks_descriptor(error) else Unwatchable()


class Watched:
    """A file or directory with the number of its watch."""

    __slots__ = ("watch",)

    def __init__(self) -> None:
        self.watch = NO_WATCH


class Event(NamedTuple):
    """An inotify event: watch number, kind of change, and the entry's name for a watched directory."""

    watch: int
    kind: int
    name: bytes


class Watches:
    """An inotify instance, the owners of its watches, and the mount table, since a mount can cover a directory.

    A watch ends when its last owner releases it. Raises Unwatchable or Shortage.
    """

    def __init__(self, tree: Tree) -> None:
        if not sys.platform.startswith("linux") or is_without("inotify"):
            raise Unwatchable
        try:
            self._libc = ctypes.CDLL(None, use_errno=True)
            self.descriptor = self._call("inotify_init1", os.O_NONBLOCK | os.O_CLOEXEC)
        except AttributeError:
            raise Unwatchable from None
        except OSError as error:
            raise to_watch_error(error) from None
        self._tree = tree
        try:
            self._mounts = os.open("/proc/self/mountinfo", os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            os.close(self.descriptor)
            raise to_watch_error(error) from None
        self._poll = select.poll()
        self._poll.register(self._mounts, select.POLLPRI)
        self._poll.register(self.descriptor, select.POLLIN)
        self._mounted = self._read_mounts()
        self._devices: dict[int, int] = {}
        """The kind of the file system on each device with a watched directory."""
        # All programs of a user share the watches: use at most half of them.
        self._most = _limit() // 2
        self._owners: dict[int, Watched | tuple[Watched, ...]] = {}
        """Owners by watch number. A single owner, the usual case, is stored without a tuple to save memory."""

    def close(self) -> None:
        os.close(self.descriptor)
        os.close(self._mounts)

    def watch_directory(self, owner: Watched, descriptor: int) -> bool:
        """Watch an open directory. Return whether it is another one than `owner` had. Raises Unwatchable."""
        device = os.fstat(descriptor).st_dev
        if device not in self._devices:
            buffer = ctypes.create_string_buffer(512)
            self._call("fstatfs", descriptor, buffer)
            kind = int.from_bytes(buffer.raw[:4], sys.byteorder)
            if kind not in _LOCAL:
                raise Unwatchable
            self._devices[device] = kind
        number = self._add(descriptor, _DIRECTORY)
        if number is None:
            raise Unwatchable
        return self._own(owner, number)

    def watch_file(self, owner: Watched, descriptor: int, *, needed: bool = False) -> bool:
        """Watch an open file. Return False if no watch is free. If `needed`, use those kept for other programs too."""
        number = self._add(descriptor, _FILE) if needed or len(self._owners) < self._most else None
        if number is not None:
            self._own(owner, number)
        return number is not None

    def has_change_times(self, device: int) -> bool:
        """Whether every change of a file on a device sets its change time, as far as is known."""
        return device in self._devices and self._devices[device] not in _WITHOUT_CHANGE_TIME

    def release(self, owner: Watched) -> None:
        """Remove an owner from its watch, and end the watch if it was the last one."""
        owners = self._owners_of(owner.watch)
        if owners:
            others = tuple(other for other in owners if other is not owner)
            if others:
                self._owners[owner.watch] = others
            else:
                del self._owners[owner.watch]
                # It may have ended already.
                self._libc.inotify_rm_watch(self.descriptor, owner.watch)
        owner.watch = NO_WATCH

    def events(self) -> Iterator[tuple[Event, tuple[Watched, ...]]]:
        """Yield the events since the last call, each with the owners of its watch."""
        for event in self._read():
            owners = self._owners_of(event.watch)
            if event.kind & IGNORED:
                # The kernel has ended the watch.
                self._owners.pop(event.watch, None)
                for owner in owners:
                    owner.watch = NO_WATCH
            yield event, owners

    def _owners_of(self, number: int) -> tuple[Watched, ...]:
        owners = self._owners.get(number, ())
        return owners if isinstance(owners, tuple) else (owners,)

    def _own(self, owner: Watched, number: int) -> bool:
        if owner.watch == number:
            return False
        self.release(owner)
        owner.watch = number
        owners = (*self._owners_of(number), owner)
        self._owners[number] = owners if len(owners) > 1 else owner
        return True

    def _read(self) -> list[Event]:
        """Return the events since the last call. A change of mounts below the root is reported as an unmount."""
        found: list[Event] = []
        # Usually there are no events.
        ready = {descriptor for descriptor, _ in self._poll.poll(0)}
        if self.descriptor in ready:
            # Read only what is queued now: with a constant writer a loop would not end.
            data = os.read(self.descriptor, self._count_queued())
            position = 0
            while position < len(data):
                watch, kind, _, length = _EVENT.unpack_from(data, position)
                position += _EVENT.size
                found.append(Event(watch, kind, data[position : position + length].rstrip(b"\0")))
                position += length
        if self._mounts in ready:
            before, self._mounted = self._mounted, self._read_mounts()
            if before != self._mounted:
                found.append(Event(-1, UNMOUNT, b""))
        return found

    def _count_queued(self) -> int:
        """Return the number of bytes in the queue."""
        size = bytearray(ctypes.sizeof(ctypes.c_int))
        ioctl(self.descriptor, FIONREAD, size)
        return int.from_bytes(size, sys.byteorder)

    def _add(self, descriptor: int, mask: int) -> int | None:
        # By descriptor, so that the opened file is watched and not whatever is at its path now.
        try:
            return self._call("inotify_add_watch", self.descriptor, b"/proc/self/fd/%d" % descriptor, mask)
        except OSError:
            return None

    def _read_mounts(self) -> list[bytes]:
        root = self._tree.current_path().rstrip(b"/") + b"/"
        # By the open descriptor: a forked copy of a confined server may not open this file again.
        table = b""
        while piece := os.pread(self._mounts, 1 << 16, len(table)):
            table += piece
        lines = [line.split(b" ") for line in table.split(b"\n") if line]
        return [b" ".join(line) for line in lines if _unescape(line[4]).startswith(root)]

    def _call(self, name: str, *args: object) -> int:
        result: int = getattr(self._libc, name)(*args)
        if result < 0:
            number = ctypes.get_errno() or errno.EIO
            raise OSError(number, os.strerror(number))
        return result


def _limit() -> int:
    try:
        with open("/proc/sys/fs/inotify/max_user_watches") as limit:
            return int(limit.read())
    except (OSError, ValueError):
        return 8192


def _unescape(path: bytes) -> bytes:
    """Decode a path of the mount table, which escapes white space and backslashes as octal."""
    for octal, char in ((b"\\040", b" "), (b"\\011", b"\t"), (b"\\012", b"\n"), (b"\\134", b"\\")):
        path = path.replace(octal, char)
    return path
