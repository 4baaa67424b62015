"""Run the blocks of a Markdown page as its reader would, in one shell and one fresh folder.

Standard output and error are one text, as in a terminal. Ports 8717 and 8718 stand for free ports, since tests run side
by side. A command that ends in `&` goes on in the background; the next one starts when it has printed what the page
shows.
"""

import os
import secrets
import selectors
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.doc_pages import ROOT, Block, Step, matches, steps
from tests.support.lacking import lacking
from tests.support.patience import PATIENCE
from tests.support.wheel import CERTIFICATES, empty_environment, require_index

PORTS = ("8717", "8718")
LIMIT = 5 * PATIENCE
"""Seconds after which a command is taken to be stuck. Some commands install packages over a network."""
KEPT = {"CI", "LD_LIBRARY_PATH", "JAVA_HOME", "CHROMIUM", "NO_PROXY", "no_proxy", "SSL_CERT_FILE"}


@dataclass
class Shell:
    """One bash in one folder, fed command by command."""

    folder: Path
    environment: dict[str, str]
    ports: dict[str, str] = field(default_factory=dict)

    def __enter__(self) -> "Shell":
        self._reserved = [_reserved_port() for _ in PORTS]
        self.ports |= {port: str(kept.getsockname()[1]) for port, kept in zip(PORTS, self._reserved, strict=True)}
        self._process = subprocess.Popen(
            ["bash", "--norc", "--noprofile"],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)
        self._waiting = selectors.DefaultSelector()
        self._waiting.register(self._process.stdout, selectors.EVENT_READ)
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.close()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, 9)  # what the page left running in the background, too
        self._process.communicate()
        for kept in self._reserved:
            kept.close()

    def run(self, command: str, shown: str = "") -> str:
        """Run a command and return all it printed. `shown` is what one in the background must print first."""
        mark = f"done-{secrets.token_hex(8)}"
        assert self._process.stdin is not None
        printed = ""
        for port, free in self.ports.items():
            command = command.replace(port, free)
        self._process.stdin.write(f"{{ {command}\n}} </dev/null\n".encode())
        if command.rstrip().endswith("&"):
            self._process.stdin.flush()
            printed = self._read(lambda text: matches(shown, self._with_known_ports(text)))
        self._process.stdin.write(f"__status=$?; printf '\\n%s\\n' {mark}; (exit $__status)\n".encode())
        self._process.stdin.flush()
        printed += self._read(lambda text: f"\n{mark}\n" in text).partition(f"\n{mark}\n")[0]
        return self._with_known_ports(printed)

    def _with_known_ports(self, text: str) -> str:
        for port, free in self.ports.items():
            text = text.replace(free, port)
        return text

    def _read(self, enough: Callable[[str], bool]) -> str:
        data, until = b"", time.monotonic() + LIMIT
        while not enough(data.decode(errors="replace")):
            left = until - time.monotonic()
            assert left > 0, f"no end after {LIMIT:g} s: {data.decode(errors='replace')}"
            if self._waiting.select(left):
                assert self._process.stdout is not None
                piece = self._process.stdout.read()
                assert piece != b"", f"the shell ended: {data.decode(errors='replace')}"
                data += piece or b""
        return data.decode(errors="replace")


@dataclass(frozen=True)
class Outcome:
    """A step and what it printed. For blocks of Python, `printed` is empty when all went well."""

    step: Step
    printed: str

    @property
    def as_shown(self) -> bool:
        # A server in the background may end a line of its own on the terminal just before the command prints.
        return matches(self.step.shown, self.printed) or matches(self.step.shown, self.printed.lstrip("\r\n"))


def run_file(path: Path, folder: Path) -> list[Outcome]:
    """Run a page of the repository in a fresh folder.

    Pages run at the top of a checkout, with its commands in PATH. README.md runs as a new user would paste it: at the
    top of a clone, with an empty home, Python and uv, and an index that does not have our package.
    """
    page = path.read_text(encoding="utf-8")
    if path == ROOT / "README.md":
        user = empty_environment(folder / "home", published=False)
        require_index(user)
        clone(folder / "clone")
        return run_pasted(page, folder / "clone", user)
    (folder / "checkout").mkdir()
    checkout(folder / "checkout")
    user = environment(folder / "home")
    if "pip download" in page:
        require_index(user)
    return run_page(page, folder / "checkout", user)


def run_pasted(page: str, folder: Path, environment: dict[str, str]) -> list[Outcome]:
    """Paste the `sh` blocks of README into one shell. A block that fails has its status in what it printed."""
    outcomes = []
    with Shell(folder, environment) as shell:
        for step in steps(page, unshown="...\n"):
            assert isinstance(step, Step), "README has commands only"
            printed = shell.run(step.command)
            status = shell.run("echo $?").strip()
            outcomes.append(Outcome(step, printed if status == "0" else f"status {status}: {printed}\0"))
    return outcomes


def clone(folder: Path) -> None:
    """Copy what git knows, or would know, of this checkout."""
    listed = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listed, capture_output=True, text=True)
    if done.returncode:
        lacking("needs a git checkout")
    for name in filter(None, done.stdout.split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)


def run_page(page: str, folder: Path, environment: dict[str, str]) -> list[Outcome]:
    """Run all `sh` and `python` blocks of a page in order, in one shell that starts in `folder`.

    Commands print what is shown behind them, or nothing. Blocks of Python show no output: they must end with status 0;
    what a failing one printed is its outcome.
    """
    outcomes = []
    with Shell(folder, environment) as shell:
        for each in steps(page):
            if isinstance(each, Block):
                command = f"python >block.out 2>&1 <<'END-OF-BLOCK'\n{each.text}END-OF-BLOCK"
                printed = shell.run(f"{command}\n[ $? = 0 ] || cat block.out")
                outcomes.append(Outcome(Step(each.text, "", each.line, (0, 0)), printed))
            else:
                outcomes.append(Outcome(each, shell.run(each.command, each.shown)))
    return outcomes


def checkout(folder: Path) -> None:
    """Put into a fresh folder what pages use of a checkout: the docs with their examples, the tools, the spec."""
    for name in ("docs", "tools", "spec"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))


def environment(home: Path) -> dict[str, str]:
    """The environment of a user whose terminal is 80 columns wide, with the commands of this checkout first in PATH.

    They are written here: in the environment of the tests another package may have replaced the command `normalizer`.
    """
    (home / "bin").mkdir(parents=True, exist_ok=True)
    for name, start in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "scripts"
    ].items():
        module, _, function = start.partition(":")
        program = f"#!{sys.executable}\nimport sys\nfrom {module} import {function} as start\nsys.exit(start())\n"
        (home / "bin" / name).write_text(program, encoding="utf-8")
        (home / "bin" / name).chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if name in KEPT or name.startswith(("PIP_", "UV_"))}
    kept.setdefault(*CERTIFICATES)
    path = os.pathsep.join([str(home / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    plain = {"COLUMNS": "80", "TERM": "dumb", "LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONUNBUFFERED": "1"}
    return {**kept, **plain, "PATH": path, "HOME": str(home)}


def _reserved_port() -> socket.socket:
    """A free port, bound so that nobody else is given it. A server that reuses addresses can listen on it."""
    kept = socket.socket()
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    kept.bind(("127.0.0.1", 0))
    return kept
