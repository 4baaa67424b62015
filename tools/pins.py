"""Check the form of the locks: python -m tools.pins. Exit status 1 if a lock has anything but pins with hashes.

Installers also obey other lines of such a file: another index, a package from an address, another file, a pin without
hash. Whether a hash is that of its package, the installer finds out (`--require-hashes`).
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.licences import LOCKS, NAMES

_PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9.+!_-]+( ; [^\\#]+)? \\")
_HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")


def findings(lock: Path) -> Iterator[str]:
    """Yield what is wrong with a lock: line number and line."""
    if lock.is_symlink() or not lock.is_file():
        yield "is no regular file"
        return
    within = False  # whether the line before ends with a backslash: a hash must follow
    for number, line in enumerate(lock.read_text(encoding="utf-8").split("\n"), 1):
        expected = _HASH if within else _PIN
        if not within and not line:
            continue
        if not expected.fullmatch(line):
            yield f"line {number} is no {'hash' if within else 'pin that hashes follow'}: {ascii(line)[1:-1]}"
        within = line.endswith("\\")


def main(folder: Path = LOCKS) -> int:
    """Tell what is wrong on standard error."""
    found = [f"{folder.name}/{name}.txt {what}" for name in NAMES for what in findings(folder / f"{name}.txt")]
    for line in found:
        print(line, file=sys.stderr)
    if found:
        print("the locks must have pins with hashes and nothing else; run: nox -s lock", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
