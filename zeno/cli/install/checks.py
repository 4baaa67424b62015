"""Facts about the installation and the system, one function for each. They read and report; they change nothing."""

import importlib.util
import os
import platform
import re
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from hashlib import sha256
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from typing import Literal, NamedTuple

from contract_spec.extras import DISTRIBUTION, install_command, install_source

from zeno.confinement import landlock, seccomp

PACKAGES = ("contract_models", "contract_spec", "normalizer", "zeno")
SCRIPTS = {"normalizer": "eval-normalizer is ours alone", "zeno": "zeno-mcp is ours alone"}
"""Commands that other distributions also install, and an alternative that only this one has."""
EXTRAS = {
    "mcp": ("mcp",),
    "http": ("starlette", "uvicorn"),
    "judge": ("httpx",),
    "index": ("numpy",),
    "report": ("altair", "duckdb", "numpy", "pypdf", "scipy", "vl_convert"),
    "export": ("pyarrow",),
    "zstd": ("zstandard",),
    "spark": ("pyspark",),
}
"""Modules that each extra brings; `tests/zeno/cli/install/test_checks.py` compares it with pyproject.toml."""

MIN_WATCHES = 65536
_APART = f"keep {DISTRIBUTION} in an environment of its own: uv tool install {DISTRIBUTION}"


class Fact(NamedTuple):
    """One line of the report. `note` is worth knowing; `problem` means that something does not work."""

    level: Literal["ok", "note", "problem"]
    topic: str
    message: str


def versions() -> Iterator[Fact]:
    """Check the versions of Python, this distribution and its dependencies."""
    yield Fact("ok", "python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    try:
        own = distribution(DISTRIBUTION)
    except PackageNotFoundError:
        yield Fact("problem", "version", f"{DISTRIBUTION} is not installed: these files were copied here by hand")
        return
    yield Fact("ok", "version", f"{DISTRIBUTION} {own.version}, installed from {install_source() or 'a package index'}")
    needed = [one for one in own.requires or () if "extra ==" not in one]
    for name in sorted(re.split(r"[^\w.-]", one)[0] for one in needed):
        try:
            yield Fact("ok", "needs", f"{name} {distribution(name).version}")
        except PackageNotFoundError:
            yield Fact("problem", "needs", f"{name} is missing; install {DISTRIBUTION} again")


def names() -> Iterator[Fact]:
    """Check whether another distribution has our packages or commands, or has replaced our files."""
    found: list[Fact] = []
    for other in sorted(distributions(), key=lambda one: str(one.name)):
        if other.name == DISTRIBUTION:
            continue
        top = {file.parts[0] for file in other.files or () if len(file.parts) > 1}
        scripts = {entry.name for entry in other.entry_points if entry.group == "console_scripts"}
        by = f"{other.name} {other.version} also installs"
        for name in sorted(top.intersection(PACKAGES)):
            found.append(Fact("problem", "names", f"{by} a package {name}; {_APART}"))
        for name in sorted(scripts.intersection(SCRIPTS)):
            found.append(Fact("note", "names", f"{by} a command {name}: the last one installed runs; {SCRIPTS[name]}"))
    replaced = _find_replaced()
    if replaced:
        count = "1 file of ours was" if len(replaced) == 1 else f"{len(replaced)} files of ours were"
        found.append(Fact("problem", "names", f"{count} changed or removed: {replaced[0]}; {_APART}"))
    yield from found or [Fact("ok", "names", "no other distribution has our packages or commands")]


def _find_replaced() -> list[str]:
    """Return the files of this distribution that are missing or were changed since they were installed."""
    try:
        own: Distribution = distribution(DISTRIBUTION)
    except PackageNotFoundError:
        return []
    changed = []
    for file in own.files or ():
        if file.parts[0] not in PACKAGES or file.hash is None or file.hash.mode != "sha256":
            continue
        try:
            data = file.read_binary()
        except OSError:
            data = b""
        if urlsafe_b64encode(sha256(data).digest()).rstrip(b"=").decode() != file.hash.value:
            changed.append(str(file))
    return changed


def extras() -> Iterator[Fact]:
    """Check which extras are installed."""
    for name, modules in EXTRAS.items():
        missing = [module for module in modules if importlib.util.find_spec(module) is None]
        if missing:
            message = f"{name} is not installed ({', '.join(missing)}); {install_command(name)}"
            yield Fact("note", "extra", message)
        else:
            yield Fact("ok", "extra", name)


def system() -> Iterator[Fact]:
    """Check the operating system for inotify, openat2, Landlock, seccomp and a second core."""
    if sys.platform != "linux":
        yield Fact("note", "watches", "no inotify on this system: nothing is cached, every request reads the disk")
        return
    limit = _read("/proc/sys/fs/inotify/max_user_watches")
    if not limit.isdecimal():
        yield Fact("note", "watches", "the limit of inotify watches cannot be read")
    elif int(limit) < MIN_WATCHES:
        advice = "sysctl fs.inotify.max_user_watches=524288"
        yield Fact(
            "note",
            "watches",
            f"{limit} inotify watches; files of larger trees are compared with the disk before each search: {advice}",
        )
    else:
        yield Fact("ok", "watches", f"{limit} inotify watches")
    release = tuple(int(part) for part in platform.release().split("-")[0].split(".")[:2] if part.isdecimal())
    if release >= (5, 6):
        yield Fact("ok", "openat2", "the kernel has openat2")
    else:
        yield Fact("note", "openat2", "no openat2 before Linux 5.6: paths are opened step by step, which is slower")
    try:
        landlock.version()
    except landlock.NotPossible as error:
        yield Fact("note", "landlock", f"{error}: servers can open all files, and --confine require is refused")
    else:
        yield Fact("ok", "landlock", "servers confine themselves to the files of their root (Landlock)")
    if seccomp.possible():
        yield Fact("ok", "seccomp", "servers can make no connections (seccomp)")
    else:
        yield Fact("note", "seccomp", "no seccomp: servers can make connections, and --confine require is refused")
    cores = len(os.sched_getaffinity(0))
    yield Fact("ok", "cores", f"{cores}" if cores > 1 else "1: a first search is not shared by two processes")


def _read(path: str) -> str:
    """Return the text of a small file of the kernel; empty if it cannot be read."""
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""
