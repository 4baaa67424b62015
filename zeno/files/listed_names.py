"""The names under which a directory lists a file that was found by another spelling.

Some file systems find `.env` as `.ENV`, `.e\u200cnv`, in another normal form of Unicode, with a dot at the end or by a
short name such as `ENV~1`. A policy goes by names, so it has to judge the name that the directory lists.
"""

import os
import re

_LISTING = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Of such a name a file system can ignore nothing but the case of its letters.
_PLAIN = re.compile(rb"[A-Za-z0-9_.-]*[A-Za-z0-9_-]")


def other_case(name: bytes) -> bytes | None:
    """Return the spelling by which a file system that folds names finds this one too; None if it may fold otherwise."""
    return name.swapcase() if _PLAIN.fullmatch(name) else None


def list_names(directory: int, name: bytes, status: os.stat_result) -> list[bytes]:
    """Return the names, sorted, under which an open directory lists what it finds by a name, given with its status.

    Only that name where it is listed itself. Empty if the directory cannot be listed.
    """
    try:
        other = other_case(name)
        if other is not None and (other == name or not _finds(directory, other, status)):
            return [name]
        listing = os.open(b".", _LISTING, dir_fd=directory)
        try:
            with os.scandir(listing) as entries:
                found = {os.fsencode(entry.name): entry.inode() for entry in entries}
        finally:
            os.close(listing)
    except OSError:
        return []
    return [name] if name in found else sorted(one for one, inode in found.items() if inode == status.st_ino)


def _finds(directory: int, name: bytes, status: os.stat_result) -> bool:
    """Whether a directory finds the same file by this name."""
    try:
        return os.path.samestat(os.stat(name, dir_fd=directory, follow_symlinks=False), status)
    except OSError:
        return False
