"""The two commands of the README, for a machine with nothing but Python: `demo` and `test`.

Both make the environment `.venv` first, from locks with hashes; `setup` does only that. Standard library only.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ROOT / "tools" / "locks"
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "locks.txt"


def setup(*wanted: str) -> None:
    """Make `.venv` hold what the named locks list, and this project; do nothing where it already does."""
    state = {name: hashlib.sha256((LOCKS / f"{name}.txt").read_bytes()).hexdigest() for name in wanted}
    state["pyproject"] = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    done = dict(line.split() for line in STAMP.read_text().splitlines()) if STAMP.exists() else {}
    if PYTHON.exists() and state.items() <= done.items():
        return
    print(f"setting up {VENV.name} from {', '.join(f'tools/locks/{name}.txt' for name in wanted)}", file=sys.stderr)
    if not PYTHON.exists():
        venv.create(VENV, with_pip=True)
    elif subprocess.run([str(PYTHON), "-c", "import pip"], capture_output=True).returncode:
        subprocess.run([str(PYTHON), "-m", "ensurepip", "--upgrade"], check=True, capture_output=True)
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    for name in wanted:
        if done.get(name) != state[name]:
            subprocess.run([*pip, "--require-hashes", "-r", str(LOCKS / f"{name}.txt")], check=True)
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)], check=True)
    STAMP.write_text("".join(f"{name} {digest}\n" for name, digest in sorted({**done, **state}.items())))


def setup_dev() -> None:
    """Everything the checks need; Spark only where there is a Java to run it."""
    setup("dev", "spark") if shutil.which("java") else setup("dev")


def main(argv: list[str] | None = None) -> int:
    """Set up, then hand over to the demo or to nox; their exit status is ours."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("demo", help="make a small environment; show on two screens what both packages do")
    commands.add_parser("test", help="make the full environment and run every check through nox")
    commands.add_parser("setup", help="make the full environment")
    options, rest = parser.parse_known_args(argv)
    if sys.version_info < (3, 11):  # noqa: UP036 - this very file is what an older Python is given
        parser.error("Python 3.11 or newer is needed")
    if rest and options.command != "test":
        parser.error(f"unknown arguments: {' '.join(rest)}")
    try:
        if options.command == "demo":
            setup("demo")
            return subprocess.run([str(PYTHON), str(ROOT / "tools" / "demo.py")], cwd=ROOT).returncode
        setup_dev()
        if options.command == "test":
            return subprocess.run([str(PYTHON), "-m", "nox", *rest], cwd=ROOT).returncode
    except subprocess.CalledProcessError as error:
        print(f"this failed: {' '.join(map(str, error.cmd))}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
