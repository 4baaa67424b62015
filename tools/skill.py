"""Write the operations into the skill for agents, or with --check tell whether they are there.

The head of docs/skills/zeno/SKILL.md names them, and a list in it has the first sentence that models are told of each.
"""

import argparse
import re
import textwrap
from pathlib import Path

from contract_spec.operations import operations

PAGE = Path(__file__).resolve().parent.parent / "docs" / "skills" / "zeno" / "SKILL.md"
_NAMES = re.compile(r"(?<=retrieval server \()[\w, ]*(?=\))")
_LIST = re.compile(r"(?<=<!-- operations -->\n).*?(?=<!-- end of operations -->)", re.DOTALL)


def with_operations(page: str) -> str:
    """Return the page with the operations of today."""
    rows = (f"- `{op}`: {each.tool['description'].partition('. ')[0]}." for op, each in operations().items())
    listed = "".join(f"{textwrap.fill(row, 100, subsequent_indent='  ')}\n" for row in rows)
    return _LIST.sub(lambda _: listed, _NAMES.sub(", ".join(operations()), page, count=1), count=1)


def main(argv: list[str] | None = None) -> int:
    """Write the page anew, or check it: 0 in step, 1 drifted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing; exit 1 on drift")
    options = parser.parse_args(argv)
    page = PAGE.read_text(encoding="utf-8")
    fresh = with_operations(page)
    if not options.check:
        PAGE.write_text(fresh, encoding="utf-8")
    elif fresh != page:
        print(f"{PAGE.name} does not have the operations of spec/: run `nox -s generate`")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
