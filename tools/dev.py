"""Run this project from a clone, on a machine with nothing but Python.

`demo` shows what both packages do, `test` runs every check, `zeno ...` and `normalizer ...` run either command as it
would run when installed. All make the environment `.venv` first, from locks with hashes; `setup` does only that.
Standard library only.
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
PACKAGES = ("zeno", "normalizer")


def setup(*wanted: str) -> None:
    """Make `.venv` hold what the named locks list, and this project; do nothing where it already does."""
    state = {name: _digest(LOCKS / f"{name}.txt") for name in wanted}
    state["pyproject"] = _digest(ROOT / "pyproject.toml")
    done = dict(line.split() for line in STAMP.read_text().splitlines()) if STAMP.exists() else {}
    if PYTHON.exists() and state.items() <= done.items():
        return
    print(f"setting up {VENV.name} from {', '.join(f'tools/locks/{name}.txt' for name in wanted)}", file=sys.stderr)
    if not PYTHON.exists():
        venv.create(VENV, with_pip=True)
    elif subprocess.run([str(PYTHON), "-c", "import pip"], capture_output=True).returncode:
        subprocess.run([str(PYTHON), "-m", "ensurepip", "--upgrade"], check=True, capture_output=True)
    for name in wanted:
        if done.get(name) != state[name]:
            lock = LOCKS / f"{name}.txt"
            _install(["--require-hashes", "-r", str(lock)], _count_packages(lock))
    _install(["--no-deps", "--no-build-isolation", "--editable", str(ROOT)], 1)
    STAMP.write_text("".join(f"{name} {digest}\n" for name, digest in sorted({**done, **state}.items())))


def setup_dev() -> None:
    """Everything the checks need; Spark only where there is a Java to run it."""
    setup("dev", "spark") if shutil.which("java") else setup("dev")


def setup_run() -> None:
    """Make an environment that both commands run in; one that was made for the checks will do."""
    done = dict(line.split() for line in STAMP.read_text().splitlines()) if STAMP.exists() else {}
    setup("dev" if done.get("dev") == _digest(LOCKS / "dev.txt") else "demo")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _count_packages(lock: Path) -> int:
    """Return how many packages a lock lists."""
    return sum(1 for line in lock.read_text().splitlines() if line[:1].isalnum())


def _install(what: list[str], count: int) -> None:
    """Run pip, and show on a terminal how many packages it has looked at."""
    words = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install", *what]
    shown = sys.stderr.isatty()
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:
        assert pip.stdout is not None
        printed, looked = [], 0
        for line in pip.stdout:
            printed.append(line)
            if line.startswith("Collecting "):
                looked += 1
                if shown:
                    name = line.split()[1].partition("=")[0]
                    print(f"\r\033[K  {min(looked, count)} of {count} packages: {name}", end="", file=sys.stderr)
            elif line.startswith("Installing") and shown:
                print("\r\033[K  installing", end="", file=sys.stderr)
        if shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
    if pip.returncode:
        sys.stderr.write("".join(printed[-20:]))
        raise subprocess.CalledProcessError(pip.returncode, words)


def run_package(name: str, arguments: list[str]) -> int:
    """Become `zeno` or `normalizer`, in the folder and with the streams of the caller."""
    words = [str(PYTHON), "-P", "-m", name, *arguments]  # -P: no module of the current folder is imported
    if os.name == "nt":
        return subprocess.run(words).returncode
    os.execv(words[0], words)


def main(argv: list[str] | None = None) -> int:
    """Set up, then hand over to the demo, a command or nox; their exit status is ours."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("demo", help="make a small environment; show on two screens what both packages do")
    for name in PACKAGES:
        commands.add_parser(name, add_help=False, help=f"make a small environment; run {name} with the words behind it")
    commands.add_parser("test", help="make the full environment and run every check through nox")
    commands.add_parser("setup", help="make the full environment")
    options, rest = parser.parse_known_args(argv)
    if sys.version_info < (3, 11):  # noqa: UP036 - this very file is what an older Python is given
        parser.error("Python 3.11 or newer is needed")
    words = sys.argv[1:] if argv is None else argv
    if rest and options.command not in (*PACKAGES, "test"):
        parser.error(f"unknown arguments: {' '.join(rest)}")
    try:
        if options.command == "demo" or options.command in PACKAGES:
            setup_run()
            if options.command in PACKAGES:
                return run_package(options.command, words[words.index(options.command) + 1 :])
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
