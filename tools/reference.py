"""Write the pages of docs/ that are made from spec/, or with --check say whether they are what would be made.

docs/errors.md lists every error code of Zeno, and every reason code and flag of normalizer.
"""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

import contract_spec as spec

ROOT = Path(__file__).resolve().parent.parent
BANNER = "<!-- Made from spec/ by `nox -s generate`. Do not edit: change the spec and make it anew. -->\n"
BLAMES = {"audit": "the file", "bundle": "the bundle", "entry": "the entry"}


def errors_page() -> str:
    """Return the page of codes: of refusals, of INVALID records, and of what must be said of a number."""
    code = spec.schema("zeno/error.json")["properties"]["code"]
    meanings = dict(re.findall(r"(\w+): (.+?)(?=\. \w+: |\.$)", code["description"]))
    statuses = spec.resource("rules/http.json")["statuses"]
    refusals = [(f"`{name}`", str(statuses[name]), meanings[name]) for name in code["enum"]]
    reasons = [
        (f"`{name}`", BLAMES.get(row["blames"], row["blames"]), row["clause"], row["sentence"])
        for name, row in spec.resource("rules/reasons.json").items()
    ]
    flags = [(f"`{name}`", text) for name, text in spec.resource("rules/flags.json").items()]
    return "\n".join(
        [
            BANNER,
            "# Error codes, reason codes and flags\n",
            "## Zeno: why a request has no result\n",
            "The message of an error says what would be right this time; the code is for programs.\n",
            *_table(("code", "HTTP status", "meaning"), refusals),
            "\n## normalizer: why a record is INVALID\n",
            "Each reason has a code, a pointer into the raw document and a message; `clause` is of the protocol.\n",
            *_table(("code", "blames", "clause", "because"), reasons),
            "\n## normalizer: what must be said of a number\n",
            *_table(("flag", "meaning"), flags),
            "",
        ]
    )


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    lines = [head, ("---",) * len(head), *(tuple(cell.replace("|", "\\|") for cell in row) for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def main(argv: list[str] | None = None) -> int:
    """Write the pages, or check them: 0 in step, 1 drifted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing; exit 1 on drift")
    options = parser.parse_args(argv)
    status = 0
    for name, text in {"errors.md": errors_page()}.items():
        path = ROOT / "docs" / name
        if not options.check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"docs/{name} is not what spec/ makes: run `nox -s generate`")
            status = 1
    return status


if __name__ == "__main__":
    raise SystemExit(main())
