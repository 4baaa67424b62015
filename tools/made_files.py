"""Files that a program makes: write them, or with --check say which are not what it would make."""

import argparse
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def write_or_check(about: str | None, argv: list[str] | None, files: Mapping[Path, str], cure: str) -> int:
    """Write texts into their files, or compare them: 0 in step, 1 drifted; `cure` makes the files anew."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing; exit 1 on drift")
    is_check = parser.parse_args(argv).check
    status = 0
    for path, text in files.items():
        if not is_check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            place = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
            print(f"{place} is not what would be made: run `{cure}`")
            status = 1
    return status
