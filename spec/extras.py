"""The command that adds an extra of this distribution to the environment it runs in, from where it came.

`pip install` does nothing for commands that were installed with `uv tool` or `pipx`, and both keep only the extras that
are named last. So the extras that are there are named again.
"""

import os
import re
import sys
from typing import Any

DISTRIBUTION = "zeno-normalizer"


def install_command(extra: str) -> str:
    """Return what to type to add `extra`, in the words of the tool that made this environment."""
    source = install_source() or DISTRIBUTION
    for name, command, installed in (
        ("uv-receipt.toml", "uv tool install", _of_uv),
        ("pipx_metadata.json", "pipx install --force", _of_pipx),
    ):
        try:
            with open(os.path.join(sys.prefix, name), encoding="utf-8") as file:
                extras = sorted({*installed(file.read()), extra})
        except (OSError, ValueError, LookupError, TypeError):
            continue
        return f"{command} '{source}[{','.join(extras)}]'"
    kept = "--editable " if _is_editable() else ""  # a clone's stays one
    return f"{_pip_install()} {kept}'{source}[{extra}]'"


def _pip_install() -> str:
    """Return the pip of this environment as it is typed: another one would install into another environment."""
    from importlib.util import find_spec
    from shlex import quote
    from shutil import which

    here = os.path.dirname(sys.executable)
    if os.path.dirname(which("pip") or "") == here:
        return "pip install"
    if find_spec("pip") is None:  # as in an environment that uv made
        return f"uv pip install --python {quote(sys.executable)}"
    return f"{quote(sys.executable)} -m pip install"


def install_source() -> str | None:
    """Return the folder or file that this distribution was installed from, or None if that was a package index."""
    from urllib.parse import unquote, urlsplit

    try:
        origin = urlsplit(_read_origin()["url"])
    except (LookupError, TypeError, ValueError):
        return None
    return unquote(origin.path) if origin.scheme == "file" else None


def _is_editable() -> bool:
    about = _read_origin().get("dir_info")
    return isinstance(about, dict) and about.get("editable") is True


def _read_origin() -> dict[str, Any]:
    """Return what the installer wrote about where the distribution came from."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        origin = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return {}
    return origin if isinstance(origin, dict) else {}


def _of_uv(receipt: str) -> list[str]:
    """The extras that `uv tool install` was given."""
    import tomllib

    requirements = tomllib.loads(receipt)["tool"]["requirements"]
    return [extra for one in requirements if one["name"] == DISTRIBUTION for extra in one.get("extras", ())]


def _of_pipx(metadata: str) -> list[str]:
    """The extras that `pipx install` was given."""
    import json

    found = re.search(r"\[([\w,. -]+)\]", json.loads(metadata)["main_package"]["package_or_url"])
    return re.split(r"[, ]+", found[1].strip()) if found else []
