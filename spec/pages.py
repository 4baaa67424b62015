"""The pages of `docs/`, as text. Installed, they lie in this package; in a checkout, beside `spec/`."""

import os

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_DOCS = next(
    (path for path in (os.path.join(_FOLDER, "docs"), os.path.join(_FOLDER, "..", "docs")) if os.path.isdir(path)), ""
)
# Pages in folders, by the name they are asked for. All pages at the top of `docs/` have the name of their file.
_INSIDE = {
    "dialects": "dialects/README.md",
    "tutorial": "dialects/tutorial.md",
    "example": "example-study/README.md",
    "skill": "skills/zeno/SKILL.md",
}


def names() -> list[str]:
    """The names of all pages, sorted."""
    top = [name.removesuffix(".md") for name in os.listdir(_DOCS) if name.endswith(".md")] if _DOCS else []
    return sorted([*top, *_INSIDE])


def text(name: str) -> str:
    """The page of that name, as Markdown."""
    with open(os.path.join(_DOCS, *_INSIDE.get(name, f"{name}.md").split("/")), encoding="utf-8") as file:
        return file.read()


def title(name: str) -> str:
    """The first heading of a page."""
    return next(line[2:] for line in text(name).splitlines() if line.startswith("# "))
