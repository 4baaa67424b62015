"""Make the pictures of docs/trace.md anew: lead the investigation, make its page, photograph it in a real browser.

Where pngquant is installed, they are made small with it.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.browser import Browser, Page, executable  # noqa: E402 - the repository is no package of its own

EXAMPLE = ROOT / "docs" / "investigation"


def investigate(folder: Path) -> Path:
    """Run the example as docs/trace.md tells it; the page it ends in."""
    trace, page = folder / "trace.jsonl", folder / "trace.html"
    tree = str(EXAMPLE / "tree")
    zeno = [sys.executable, "-m", "zeno", "trace"]
    task = ["--task", "why are readers signed out?"]
    agent = [sys.executable, str(EXAMPLE / "agent.py")]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {**os.environ, "PATH": path}
    subprocess.run(
        [*zeno, "record", "--root", tree, "--log", str(trace), *task, "--", *agent], check=True, env=environment
    )
    title = ["--title", "Why are readers signed out?"]
    subprocess.run([*zeno, "view", str(trace), "--root", tree, "--out", str(page), *title], check=True)
    return page


def photograph(page: Page, document: Path, out: Path) -> None:
    """One picture for each thing that the text speaks of."""
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
        if shrink := shutil.which("pngquant"):
            subprocess.run([shrink, "--ext", ".png", "--force", *map(str, sorted(options.out.glob("trace-*.png")))])
    finally:
        browser.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
