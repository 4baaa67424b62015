"""Trees described as JSON become files: with links, odd names, FIFOs, sockets, permissions and fixed times."""

import base64
import os
import re
import shutil
import socket
import stat
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

MTIME = 1_700_000_000
"""Every file and directory whose entry names no time was last changed then: 2023-11-14T22:13:20Z."""

Entry = Mapping[str, Any]
_BYTE = re.compile("\0([0-9a-f]{2})")


class Site:
    """A planted corpus: the root to serve, and what stands beside it and must never be seen."""

    def __init__(self, beside: Path) -> None:
        self.beside = beside
        self.root = beside / "root"

    def fill(self, text: str) -> str:
        """A text with its placeholders replaced by real paths."""
        return text.replace("{root}", str(self.root)).replace("{beside}", str(self.beside))

    def change(self, entries: Sequence[Entry]) -> None:
        """Write entries over what is there. Directories above them keep the time that the change gives them."""
        for entry in entries:
            _write(self, self.root, entry)
        for entry in entries:
            _settle(self.root, entry)


def plant(corpus: Mapping[str, Any], beside: Path) -> Site:
    """Make a corpus in an existing empty directory."""
    site = Site(beside.resolve())
    site.root.mkdir()
    plots = [(site.beside, corpus.get("beside", [])), (site.root, corpus["tree"])]
    for top, entries in plots:
        for entry in entries:
            _write(site, top, entry)
    if "repository" in corpus:
        from tools.kit.repositories import write_repository

        write_repository(corpus["repository"], site.root / ".git")
    # Times and permissions come last and from the leaves up: making a file changes the time of its directory.
    for folder, _, _ in os.walk(os.fsencode(site.beside), topdown=False):
        os.utime(folder, (MTIME, MTIME))
    for top, entries in reversed(plots):
        for entry in sorted(entries, key=lambda entry: -len(entry["path"])):
            _settle(top, entry)
    return site


def uproot(site: Site) -> None:
    """Remove a planted corpus, whatever its permissions."""
    for folder, names, _ in os.walk(os.fsencode(site.beside)):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                os.chmod(path, 0o700)
    shutil.rmtree(site.beside)


def raw(name: str) -> bytes:
    """The bytes of a name: U+0000 and two hexadecimal digits stand for a byte that is not UTF-8."""
    return _BYTE.sub(lambda found: chr(0xDC00 + int(found[1], 16)), name).encode("utf-8", "surrogateescape")


def content(entry: Entry) -> bytes:
    """The bytes of a file: `text`, `base64`, or pieces of both one after the other, some of them repeated."""
    if "pieces" in entry:
        return b"".join(content(piece) * piece.get("times", 1) for piece in entry["pieces"])
    return base64.b64decode(entry["base64"]) if "base64" in entry else entry.get("text", "").encode()


def _write(site: Site, top: Path, entry: Entry) -> None:
    path = os.path.join(os.fsencode(top), raw(entry["path"]))
    if entry["type"] != "directory":
        os.makedirs(os.path.dirname(path), exist_ok=True)
        _remove(path)
    match entry["type"]:
        case "file":
            with open(path, "wb") as file:
                file.write(content(entry))
        case "directory":
            os.makedirs(path, exist_ok=True)
        case "link":
            os.symlink(raw(site.fill(entry["target"])), path)
        case "hard_link":
            os.link(os.path.join(os.fsencode(top), raw(entry["target"])), path)
        case "fifo":
            os.mkfifo(path)
        case "socket":
            _bind(path)


def _bind(path: bytes) -> None:
    """Make a socket. Its address has room for about a hundred bytes, and a temporary folder may need more."""
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        short = b"/proc/self/fd/%d/%b" % (folder, os.path.basename(path))
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(short if os.path.exists("/proc/self/fd") else path)
    finally:
        os.close(folder)


def _remove(path: bytes) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def _settle(top: Path, entry: Entry) -> None:
    path = os.path.join(os.fsencode(top), raw(entry["path"]))
    if entry["type"] in ("link", "absent") or not os.path.lexists(path):
        return
    moment = int(Decimal(entry.get("mtime", MTIME)) * 10**9)
    os.utime(path, ns=(moment, moment))
    if "mode" in entry:
        os.chmod(path, int(entry["mode"], 8))
    elif not stat.S_ISDIR(os.lstat(path).st_mode):
        os.chmod(path, 0o644)
