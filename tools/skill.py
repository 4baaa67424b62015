"""Write the operations into the skill for agents, or with --check tell whether they are there.

The head of docs/skills/zeno/SKILL.md names them, and a list in it has the first sentence that models are told of each.
"""

import re
import textwrap

from contract_spec.operations import operations

from tools.made_files import ROOT, write_or_check

PAGE = ROOT / "docs" / "skills" / "zeno" / "SKILL.md"
_NAMES = re.compile(r"(?<=retrieval server \()[\w, ]*(?=\))")
_LIST = re.compile(r"(?<=<!-- operations -->\n).*?(?=<!-- end of operations -->)", re.DOTALL)


def with_operations(page: str) -> str:
    """Return the page with the operations of today."""
    rows = (f"- `{op}`: {each.tool['description'].partition('. ')[0]}." for op, each in operations().items())
    listed = "".join(f"{textwrap.fill(row, 100, subsequent_indent='  ')}\n" for row in rows)
    return _LIST.sub(lambda _: listed, _NAMES.sub(", ".join(operations()), page, count=1), count=1)


def main(argv: list[str] | None = None) -> int:
    """Write the page anew, or check it: 0 in step, 1 drifted."""
    return write_or_check(__doc__, argv, {PAGE: with_operations(PAGE.read_text(encoding="utf-8"))}, "nox -s generate")


if __name__ == "__main__":
    raise SystemExit(main())
