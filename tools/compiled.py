"""Find compiled modules that Python would run though their source does not make them."""

import importlib.util
import marshal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

_HEADER = 16  # magic number, flags, then time and size of the source, or its hash
_HASHED, _CHECKED = 1, 2
_LEVELS = {"": 0, ".opt-1": 1, ".opt-2": 2}


def unproven(folder: Path) -> Iterator[Path]:
    """Yield each file of every `__pycache__` below a folder that cannot be shown to be what its source makes.

    A file that this Python would not run, because its source is gone or has changed, is left out. One that another
    Python made is told: only that Python could check it.
    """
    for path in sorted(folder.rglob("__pycache__/*.pyc")):
        if path.is_file() and not _is_proven(path):
            yield path


def _is_proven(path: Path) -> bool:
    stem, _, rest = path.name.removesuffix(".pyc").partition(".")
    tag = str(sys.implementation.cache_tag)
    level = _LEVELS.get(rest.removeprefix(tag)) if rest.startswith(tag) else None
    if level is None:
        return False
    data, source = path.read_bytes(), path.parent.with_name(f"{stem}.py")
    if not source.is_file() or data[:4] != importlib.util.MAGIC_NUMBER or not _would_run(data[:_HEADER], source):
        return True
    try:
        found = marshal.loads(data[_HEADER:])
    except (EOFError, ValueError, TypeError):
        return False
    made = compile(source.read_bytes(), str(source), "exec", dont_inherit=True, optimize=level)
    return isinstance(found, CodeType) and _same(found, made)


def _would_run(header: bytes, source: Path) -> bool:
    """Whether Python takes a compiled module for that of its source."""
    flags = int.from_bytes(header[4:8], "little")
    if flags & _HASHED:
        return not flags & _CHECKED or header[8:] == importlib.util.source_hash(source.read_bytes())
    status = source.stat()
    told = (int(status.st_mtime) & 0xFFFFFFFF, status.st_size & 0xFFFFFFFF)
    return told == (int.from_bytes(header[8:12], "little"), int.from_bytes(header[12:16], "little"))


def _same(one: CodeType, other: CodeType) -> bool:
    """Whether two code objects are equal, their stack sizes included, which `==` leaves out."""
    inner = ([const for const in code.co_consts if isinstance(const, CodeType)] for code in (one, other))
    return one == other and one.co_stacksize == other.co_stacksize and all(map(_same, *inner))
