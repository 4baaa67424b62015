"""Make the pictures of the docs anew: run the examples, make their pages, photograph them in a real browser.

Where pngquant is installed, it makes the pictures smaller.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.browser import Browser, Page, executable  # noqa: E402 - the repository is no package of its own
from tools.demo import ENVIRONMENT, run  # noqa: E402

EXAMPLE = ROOT / "docs" / "investigation"
STUDY = ROOT / "docs" / "example-study"
RECORD = "b14f7e47"
"""A record of the example study with a score that its scale does not allow."""


def investigate(folder: Path) -> Path:
    """Run the example of docs/guides/trace.md, and return the page that it makes."""
    tree, agent = str(EXAMPLE / "tree"), [sys.executable, str(EXAMPLE / "agent.py")]
    task = "why are readers signed out?"
    run(folder, "zeno", "trace", "record", "--root", tree, "--log", "trace.jsonl", "--task", task, "--", *agent)
    title = ["--title", "Why are readers signed out?"]
    run(folder, "zeno", "trace", "view", "trace.jsonl", "--root", tree, "--out", "trace.html", *title)
    return folder / "trace.html"


def report(folder: Path) -> Path:
    """Normalize the example study and make its report, as docs/guides/report.md does; the page."""
    subprocess.run(["sh", str(STUDY / "all-runs.sh"), str(folder / "ledger")], check=True, env=ENVIRONMENT)
    options = ["--where", "phase=1", "--artifacts", str(STUDY / "artifacts"), "--out", "report.html"]
    run(folder, "normalizer", "report", "ledger", *options)
    return folder / "report.html"


def photograph_report(browser: Browser, document: Path, out: Path) -> None:
    """The top of the report, and one record with the lines of its raw bundle."""
    for fragment, name in (("", "report-headline.png"), (f"#r-{RECORD}", "report-record.png")):
        page = browser.page(1240, 780)  # a fragment alone would load nothing anew
        page.open(document, fragment)
        page.picture(out / name)


def photograph(page: Page, document: Path, out: Path) -> None:
    """One picture for each thing that docs/guides/trace.md speaks of."""
    page.open(document)
    page.click("#claim-1 .cite")
    page.picture(out / "trace-claims.png")
    page.scheme("dark")
    page.key("2")
    page.picture(out / "trace-map.png")
    for _ in range(6):
        page.key("c")
    page.picture(out / "trace-unread.png")


def main(argv: list[str] | None = None) -> int:
    """Write the pictures into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "img", help="folder (default: docs/img)")
    options = parser.parse_args(argv)
    program = executable()
    if program is None:
        print("pictures: no Chromium found; install it, or name it in CHROMIUM", file=sys.stderr)
        return 2
    options.out.mkdir(parents=True, exist_ok=True)
    browser = Browser(program)
    try:
        with tempfile.TemporaryDirectory() as folder:
            photograph(browser.page(1240, 780), investigate(Path(folder)), options.out)
            photograph_report(browser, report(Path(folder)), options.out)
        if shrink := shutil.which("pngquant"):
            subprocess.run([shrink, "--ext", ".png", "--force", *map(str, sorted(options.out.glob("*.png")))])
    finally:
        browser.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
