"""The command that adds an extra of this distribution to the environment it runs in, from where it came.

`pip install` does nothing for commands that were installed with `uv tool` or `pipx`, and both keep only the extras that
are named last. So the extras that are there are named again.
"""

import os
import re
import sys

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
    return f"pip install '{source}[{extra}]'"


def install_source() -> str | None:
    """Return the folder or file that this distribution was installed from, or None if that was a package index."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlsplit

    try:
        origin = urlsplit(json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")["url"])
    except (PackageNotFoundError, LookupError, TypeError, ValueError):
        return None
    return unquote(origin.path) if origin.scheme == "file" else None


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
