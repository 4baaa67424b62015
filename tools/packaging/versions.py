"""Keep the versions in tools/packaging equal to that of pyproject.toml: python -m tools.packaging.versions [--write].

Without --write it fails where they differ, or where CHANGELOG.md has no section for the version.
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = ("server.json", "mcpb/manifest.json", "mcpb/pyproject.toml")
# A version stands after "version" or after the name of the distribution with its extra.
VERSION = re.compile(r'(?P<before>(?<!_)\bversion"?\s*[:=]\s*"|zeno-normalizer\[mcp\]==)(?P<version>\d[^"]*)')


def version() -> str:
    """The version of the distribution."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])


def problems() -> list[str]:
    """What does not agree with the version, one sentence each."""
    wanted = version()
    found = []
    for name in FILES:
        text = (ROOT / "tools" / "packaging" / name).read_text(encoding="utf-8")
        wrong = {match["version"] for match in VERSION.finditer(text)} - {wanted}
        if wrong:
            found.append(f"tools/packaging/{name} has version {', '.join(sorted(wrong))}, not {wanted}")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if f"## [{wanted}]" not in changelog and "## [Unreleased]" not in changelog:
        found.append(f"CHANGELOG.md has neither [{wanted}] nor [Unreleased]")
    return found


def write() -> None:
    """Put the version of pyproject.toml into all files."""
    for name in FILES:
        path = ROOT / "tools" / "packaging" / name
        text = path.read_text(encoding="utf-8")
        path.write_text(VERSION.sub(lambda match: match["before"] + version(), text), encoding="utf-8")


def main(argv: list[str] | None = None) -> int:
    """Check or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="change the files instead of checking them")
    if parser.parse_args(argv).write:
        write()
    for problem in problems():
        print(problem, file=sys.stderr)
    return 1 if problems() else 0


if __name__ == "__main__":
    raise SystemExit(main())
