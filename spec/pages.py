"""The pages of `docs/`, as text. Installed, they lie in this package; in a checkout, beside `spec/`."""

import os

ROOMS = ("tutorials", "guides", "reference", "explanation")
"""The folders of pages, in the order of a reader's questions: learn, do, look up, understand."""
_FOLDER = os.path.dirname(os.path.abspath(__file__))
_DOCS = next(
    (path for path in (os.path.join(_FOLDER, "docs"), os.path.join(_FOLDER, "..", "docs")) if os.path.isdir(path)), ""
)
_SKILL = {"skill": "skills/zeno/SKILL.md"}


def rooms() -> dict[str, list[str]]:
    """Return the names of the pages of each room, sorted. No two pages have the same name."""
    found = {room: _pages_in(room) for room in ROOMS}
    return {**found, "guides": sorted([*found["guides"], *_SKILL])} if _DOCS else {}


def names() -> list[str]:
    """Return the names of all pages, sorted."""
    return sorted(name for pages in rooms().values() for name in pages)


def place(name: str) -> str:
    """Return where the page of that name lies below `docs/`."""
    return _SKILL.get(name) or next(f"{room}/{name}.md" for room, pages in rooms().items() if name in pages)


def text(name: str) -> str:
    """Return the page of that name, as Markdown."""
    with open(os.path.join(_DOCS, *place(name).split("/")), encoding="utf-8") as file:
        return file.read()


def overview() -> str:
    """Return a list of all pages by room, one a line with its title."""
    width = max(map(len, names()), default=0)
    return "\n".join(
        "\n".join([f"{room}:", *(f"  {name:<{width}}  {title(name)}" for name in pages), ""])
        for room, pages in rooms().items()
    )


def title(name: str) -> str:
    """Return the first heading of a page."""
    return next(line[2:] for line in text(name).splitlines() if line.startswith("# "))


def _pages_in(room: str) -> list[str]:
    folder = os.path.join(_DOCS, room)
    if not os.path.isdir(folder):
        return []
    return sorted(name.removesuffix(".md") for name in os.listdir(folder) if name.endswith(".md"))
