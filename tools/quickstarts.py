"""Type both quickstarts of the README as a new user would: python -m tools.quickstarts [--out TRANSCRIPT].

Run as root it makes a user and removes it again; otherwise it only makes an empty home, and says so. The user has
Python, uv, an empty home, and no variables but those that lead to a package index, which also has the wheel that is
built here. Status 1 if a command prints something else than the README shows.
"""

import argparse
import hashlib
import os
import pwd
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.doc_pages import Step, blocks, matches, steps  # noqa: E402 - the repository is no package of its own
from tests.support.wheel import INDEX  # noqa: E402
from tools import release  # noqa: E402

HEADING = re.compile(r"^## (Quickstart: .+)$", re.MULTILINE)
PATIENCE = 600


def sections() -> dict[str, list[Step]]:
    """The quickstarts of the README with their commands."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    found: dict[str, list[Step]] = {}
    for match in HEADING.finditer(page):
        end = page.find("\n## ", match.end())
        inside = [block for block in blocks(page) if match.end() < block.span[0] < end and block.not_run is None]
        found[match[1]] = [step for block in inside if block.language == "console" for step in steps(block)]
    return found


class User:
    """A new user with an empty home. Removed with everything it made."""

    def __init__(self, folder: Path) -> None:
        self.is_new = os.geteuid() == 0 and shutil.which("useradd") is not None
        self.name = f"quickstart-{secrets.token_hex(3)}" if self.is_new else pwd.getpwuid(os.geteuid()).pw_name
        self.home = folder / "home"
        if self.is_new:
            command = [
                "useradd",
                "--no-log-init",
                "--create-home",
                "--skel",
                "/nonexistent",
                "--home-dir",
                str(self.home),
            ]
            subprocess.run([*command, "--shell", "/bin/bash", self.name], check=True, capture_output=True)
        else:
            self.home.mkdir()

    def __enter__(self) -> "User":
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_new:
            subprocess.run(["userdel", self.name], check=True, capture_output=True)

    def run(self, script: str, links: Path) -> str:
        """Run a script in an empty folder of the home, with almost no variables; return all it printed."""
        kept = {name: value for name, value in os.environ.items() if name.startswith(INDEX)}
        kept.setdefault("SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt")
        kept |= {"HOME": str(self.home), "PATH": f"{self.home}/.local/bin:{links}/bin:/usr/bin:/bin"}
        kept |= {"LC_ALL": "C.UTF-8", "TERM": "dumb", "COLUMNS": "80", "UV_FIND_LINKS": str(links)}
        kept |= {"UV_PYTHON": "/usr/bin/python3"}
        words = ["env", "-i", *(f"{name}={value}" for name, value in kept.items()), "bash", "--norc", "-c"]
        inner = shlex.join([*words, f"cd {shlex.quote(str(self.home))}\n{script}"])
        command = ["su", self.name, "-s", "/bin/bash", "-c", inner] if self.is_new else ["bash", "-c", inner]
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=PATIENCE,
        )
        return done.stdout


def typed(user: User, title: str, todo: list[Step], links: Path) -> tuple[list[str], int]:
    """Type the commands of a section; the transcript, and how many commands printed something else than is shown."""
    mark = f"done-{secrets.token_hex(8)}"
    parts = [f"mkdir {secrets.token_hex(4)} && cd $_"]
    parts += [f"{{ {step.command}\n}} </dev/null 2>&1; printf '%s\\n' {mark}" for step in todo]
    printed = user.run("\n".join(parts), links).split(f"{mark}\n")
    lines, wrong = [f"## {title}", ""], 0
    for step, output in zip(todo, [*printed, *[""] * len(todo)], strict=False):
        lines.append("$ " + step.command.replace("\n", "\n> "))
        lines += output.rstrip("\n").splitlines()
        if not matches(step.shown, output):
            wrong += 1
            lines.append("!! the README shows something else")
    return [*lines, ""], wrong


def size(user: User, package: str, links: Path) -> str:
    """Install a package into an environment of its own; its size and number of packages."""
    script = (
        "rm -rf env && uv venv --quiet env && "
        f"uv pip install --quiet --python env/bin/python {shlex.quote(package)} && "
        "du -sm env/lib | cut -f1 && uv pip list --quiet --format freeze --python env/bin/python | wc -l"
    )
    *_, megabytes, packages = ["?", "?", *user.run(script, links).split()]
    return f"{package}: {megabytes} MB, {packages} packages"


def main(argv: list[str] | None = None) -> int:
    """Write the transcript."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="file for the transcript (default: standard output)")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="quickstarts-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        links = folder / "links"
        (links / "bin").mkdir(parents=True)
        for name in ("uv", "uvx"):
            found = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
            shutil.copy(found or name, links / "bin")
        release.build(links)
        [wheel] = links.glob("*.whl")
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        with User(folder) as user:
            who = f"new user {user.name}" if user.is_new else f"user {user.name} (not new: not run as root)"
            lines = [f"{who}, empty home", f"{wheel.name} {wheel.stat().st_size} bytes sha256 {digest}"]
            lines += [user.run("id; ls -A | wc -l; python3 --version; uv --version; python3 -m pip --version", links)]
            wrong = count = 0
            for title, todo in sections().items():
                section, bad = typed(user, title, todo, links)
                lines += section
                wrong, count = wrong + bad, count + len(todo)
            lines += ["## Sizes", ""]
            lines += [size(user, package, links) for package in ("zeno-normalizer", "zeno-normalizer[all]")]
            lines += ["", f"{count} commands typed, {count - wrong} printed what the README shows"]
    text = "\n".join(lines) + "\n"
    if options.out is None:
        print(text, end="")
    else:
        options.out.write_text(text, encoding="utf-8")
        print(lines[-1])
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    raise SystemExit(main())
