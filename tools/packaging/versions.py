"""Keep version and owner equal to those of pyproject.toml: nox -s release -- --check, or --write."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACEHOLDER = "OWNER"
PACKAGING = ("tools/packaging/server.json", "tools/packaging/mcpb/manifest.json", "tools/packaging/mcpb/pyproject.toml")
# A version stands after "version", after the name of the distribution with its extra, or after the name of a tag.
VERSION = re.compile(
    r'(?P<before>(?<!_)\bversion"?\s*[:=]\s*"|zeno-normalizer\[mcp\]==|/actions/[\w-]+@v|rev: v)(?P<value>\d[^"\s]*)'
)
# The owner stands in addresses of the repository, and in the name that the MCP registry derives from it.
OWNER = re.compile(r"(?P<before>github\.com/|uses: |io\.github\.)(?P<value>[\w-]+)(?=/zeno)")
PLACES: dict[str, tuple[re.Pattern[str], ...]] = {
    **dict.fromkeys(PACKAGING, (VERSION, OWNER)),
    "docs/guides/ci.md": (VERSION, OWNER),
    "README.md": (OWNER,),
}
"""Files, and which of the two each of them says."""


def _project() -> dict[str, object]:
    project: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project


def version() -> str:
    """The version of the distribution."""
    return str(_project()["version"])


def owner() -> str:
    """Who owns the repository, by the address in pyproject.toml."""
    urls = _project()["urls"]
    assert isinstance(urls, dict)
    return str(urls["Repository"]).removeprefix("https://github.com/").partition("/")[0]


def build_packages() -> set[str]:
    """The packages that only a build needs. They are in every lock."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {re.split(r"[^\w.-]", line)[0] for line in project["dependency-groups"]["build"]}


def readme_for_registries() -> str:
    """The README with the addresses of this version's files for links and pictures. A package index has no files."""
    urls = _project()["urls"]
    assert isinstance(urls, dict)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for mark, kind in (("!", "raw"), ("", "blob")):
        before = r"(?<!!)" if not mark else ""
        link = re.compile(before + re.escape(mark) + r"\[([^\]\n]*)\]\((?![a-z]+:|#)([^)\s]+)\)")
        text = link.sub(rf"{mark}[\1]({urls['Repository']}/{kind}/v{version()}/\2)", text)
    return text


def problems(*, publish: bool = False) -> list[str]:
    """Return what does not agree with pyproject.toml, and with `publish` what is not ready, one sentence each."""
    wanted = {VERSION: version(), OWNER: owner()}
    found = []
    for name, patterns in PLACES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        for pattern in patterns:
            wrong = {match["value"] for match in pattern.finditer(text)} - {wanted[pattern]}
            if wrong:
                found.append(
                    f"{name} has {', '.join(sorted(wrong))}, not {wanted[pattern]}: run nox -s release -- --write"
                )
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = f"## [{version()}]" in changelog
    if not released and (publish or "## [Unreleased]" not in changelog):
        found.append(f"CHANGELOG.md has no section [{version()}]")
    if publish and owner() == PLACEHOLDER:
        found.append(f"the owner in pyproject.toml is still {PLACEHOLDER}: set project.urls, then run with --write")
    return found


def write() -> None:
    """Put version and owner of pyproject.toml into all files."""
    wanted = {VERSION: version(), OWNER: owner()}
    for name, patterns in PLACES.items():
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        for pattern in patterns:
            text = pattern.sub(rf"\g<before>{wanted[pattern]}", text)
        path.write_text(text, encoding="utf-8")
