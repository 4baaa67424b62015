"""The list of decisions has every page, with its title and its status."""

import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "spec" / "decisions"


def test_the_list_has_every_page_with_its_title_and_status():
    listed = re.findall(
        r"^\| \[(\d+)\]\(([^)]+)\) \| (.+) \| (.+) \|$",
        (FOLDER / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    pages = []
    for path in sorted(FOLDER.glob("[0-9]*.md")):
        found = re.match(r"# (\d+)\. (.+)\n\n\*\*Status:\*\* (.+)\.\n", path.read_text(encoding="utf-8"))
        assert found, f"{path.name} does not begin with a number, a title and a status"
        pages.append((found[1], path.name, found[2], found[3]))
    assert listed == pages
