"""Run the commands of the docs and put what they print now into the pages: python -m tools.refresh_docs [PAGE...].

Only output that does not match is replaced, with a blank for metrics. Look at the difference before you commit it:
other blanks (`...`) in replaced output are lost and must be written again. A notebook (.ipynb) is run cell by cell.
"""

import argparse
import re
import tempfile
from pathlib import Path

from tests.support.doc_pages import ROOT, pages
from tests.support.notebooks import run, with_outputs
from tests.support.transcripts import run_file

METRICS = re.compile(r'"metrics":\{[^{}]*(?:\{[^{}]*\}[^{}]*)?\}')


def refreshed(path: Path, folder: Path) -> str:
    """The text of a page with today's output below its commands."""
    if path.suffix == ".ipynb":
        return with_outputs(path, run(path))
    page = path.read_text(encoding="utf-8")
    for outcome in reversed(run_file(path, folder)):
        start, end = outcome.step.span
        if not outcome.as_shown and end:
            printed = METRICS.sub('"metrics":{...}', outcome.printed).rstrip()
            page = page[:start] + (printed + "\n" if printed else "") + page[end:]
    return page


def main(argv: list[str] | None = None) -> int:
    """Rewrite pages in place; print the names of those that changed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "pages", nargs="*", type=Path, metavar="PAGE", help="Markdown files and notebooks (default: all pages)"
    )
    for path in parser.parse_args(argv).pages or pages():
        text = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            new = refreshed(path.resolve(), Path(folder))
        if new != text:
            path.write_text(new, encoding="utf-8")
            print(path.resolve().relative_to(ROOT))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
