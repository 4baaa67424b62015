"""List the licence of every locked package: python -m tools.licences [--check].

Versions come from the locks, licences from the metadata of the packages that are installed. The list is
tools/locks/LICENCES.md. For a package of another system, which is not installed, the list keeps what it has for that
version; write it there by hand once. With --check nothing is written; exit status 1: the list is out of date.
"""

import re
from importlib.metadata import Distribution, distributions
from pathlib import Path

from tools.made_files import write_or_check

LOCKS = Path(__file__).resolve().parent / "locks"
LIST = LOCKS / "LICENCES.md"
NAMES = {
    "run": "a plain install",
    "demo": "the extras mcp and report",
    "dev": "development",
    "spark": "the extra spark",
}
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)")
_HEAD = """# Licences of locked packages

Made by `python -m tools.licences` from the locks beside this file and the packages' own metadata.
A package stands in the first table whose lock has it.
"""


def pins(lock: str) -> set[tuple[str, str]]:
    """Return names and versions of the packages that a lock has; for other systems it may have other versions."""
    lines = (LOCKS / f"{lock}.txt").read_text(encoding="utf-8").splitlines()
    return {(found[1], found[2]) for line in lines if (found := _PIN.match(line))}


def licence(package: Distribution) -> str:
    """Return what a package says of its licence: expression, classifiers, field, or the first line of its file."""
    about = package.metadata
    if expression := about.get_all("License-Expression"):
        return str(expression[0])
    found = [
        line.rpartition(" :: ")[2]
        for line in about.get_all("Classifier") or []
        if line.startswith("License :: ") and line != "License :: OSI Approved"
    ]
    stated = "".join(about.get_all("License") or []).strip().splitlines()
    if not found and not stated:
        texts = [path.read_text() for path in package.files or () if path.name.startswith("LICENSE")]
        stated = [line for text in texts for line in text.split("\n") if line.strip()]
    return " and ".join(sorted(found)) or (stated[0].strip()[:80] if stated else "not stated")


def text(known: dict[str, str], before: dict[tuple[str, str], str]) -> str:
    """Return the list: licences of installed packages, and for others what the list had for the same version."""
    parts, told = [_HEAD], set[tuple[str, str]]()
    for lock, what in NAMES.items():
        rows = []
        for name, version in sorted(pins(lock)):
            if (name, version) not in told:
                told.add((name, version))
                said = known.get(f"{_plain(name)}=={version}") or before.get((name, version), "not installed here")
                rows.append(f"| {name} | {version} | {said} |\n")
        if rows:
            parts.append(f"\n## {lock}.txt: {what}\n\n| package | version | licence |\n|---|---|---|\n" + "".join(rows))
    return "".join(parts)


def listed() -> dict[tuple[str, str], str]:
    """Return the licences that the list has, by name and version."""
    if not LIST.exists():
        return {}
    rows = (line.strip("| \n").split(" | ") for line in LIST.read_text(encoding="utf-8").splitlines() if "|" in line)
    return {(row[0], row[1]): row[2] for row in rows if len(row) == 3}


def installed() -> dict[str, str]:
    """Return the licences of installed packages by `name==version`."""
    return {f"{_plain(one.metadata['Name'])}=={one.version}": licence(one) for one in distributions()}


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main(argv: list[str] | None = None) -> int:
    """Write the list, or compare it."""
    return write_or_check(__doc__, argv, {LIST: text(installed(), listed())}, "python -m tools.licences")


if __name__ == "__main__":
    raise SystemExit(main())
