"""The wheel as users get it, built once for each test session, and commands that install it."""

import atexit
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from tests.support.lacking import lacking

ROOT = Path(__file__).parents[2]
INDEX = ("PIP_", "UV_", "SSL_", "REQUESTS_", "HTTP", "http", "NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy")
# uv has certificates of its own, which an index behind a mirror may not be signed by.
CERTIFICATES = ("SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt")


@cache
def wheel() -> Path:
    """The wheel, built from a copy of the sources, in a folder that has nothing else in it."""
    source = Path(mkdtemp(prefix="zeno-wheel-"))
    atexit.register(shutil.rmtree, source, ignore_errors=True)
    for name in ("docs", "generated", "normalizer", "spec", "tools/packaging/scripts", "zeno"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("LICENSE", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "--quiet", "wheel", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", str(source / "dist"), str(source)], check=True, capture_output=True)
    (made,) = (source / "dist").glob("*.whl")
    return made


def empty_environment(home: Path, *, published: bool = True) -> dict[str, str]:
    """A new user with an empty home, uv and Python in PATH, and an index that has our wheel too, if it is published."""
    home.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if name.startswith(INDEX)}
    kept.setdefault(*CERTIFICATES)
    if published:
        kept["UV_FIND_LINKS"] = str(wheel().parent)
        kept["PIP_FIND_LINKS"] = f"{kept['UV_FIND_LINKS']} {kept.get('PIP_FIND_LINKS', '')}".strip()
    tools = home / "bin"
    tools.mkdir(exist_ok=True)
    for name in ("uv", "uvx"):
        found = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        if found is None:
            lacking(f"needs {name}")
        if not (tools / name).exists():
            (tools / name).symlink_to(found)
    for name in ("python", "python3"):
        if not (tools / name).exists():
            (tools / name).symlink_to(Path(sys.base_prefix) / "bin" / "python3")
    return {
        **kept,
        "HOME": str(home),
        "PATH": f"{home}/.local/bin:{tools}:/usr/bin:/bin",
        "LC_ALL": "C.UTF-8",
        "UV_PYTHON": sys.executable if sys.prefix == sys.base_prefix else f"{sys.base_prefix}/bin/python3",
        "COLUMNS": "80",
        "TERM": "dumb",
    }


def require_index(environment: dict[str, str]) -> None:
    """Skip the test where no package index can be reached."""
    command = ["uv", "pip", "compile", "--quiet", "-", "--no-header"]
    done = subprocess.run(command, input="click\n", env=environment, capture_output=True, text=True)
    if done.returncode:
        lacking("needs a package index")
