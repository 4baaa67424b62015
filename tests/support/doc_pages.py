"""Read the fenced blocks of a Markdown page, and compare output with what a page shows.

`sh` blocks can be pasted as they are; a `text` block right behind one is its output. `...` inside a line stands for any
text in that line, a line `...` for any number of lines. A block that cannot run is preceded by a comment:
`<!-- not run: REASON -->`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SKIPPED = {".venv", "build", "dist", ".git", "node_modules", "site"}

FENCE = re.compile(
    r"^(?P<indent> *)(?:<!-- not run: (?P<reason>[^\n]*?) -->\n+ *)?```(?P<language>[\w-]*)\n(?P<text>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, its first line in the page, and why it is not run, if so."""

    language: str
    text: str
    line: int
    span: tuple[int, int]
    not_run: str | None


@dataclass(frozen=True)
class Step:
    """The commands of an `sh` block and the output shown below it; `span` is where that output is in the page."""

    command: str
    shown: str
    line: int
    span: tuple[int, int]


def blocks(page: str) -> list[Block]:
    """All fenced blocks of a page, in order."""
    return [
        Block(
            match["language"],
            match["text"],
            page.count("\n", 0, match.start("text")) + 1,
            match.span("text"),
            match["reason"],
        )
        for match in FENCE.finditer(page)
    ]


def steps(page: str, unshown: str = "") -> Iterator[Block | Step]:
    """Yield the blocks of a page that run: `python` as blocks, `sh` as steps.

    A `text` block right behind an `sh` block is its output. One that has none prints `unshown`.
    """
    found = [block for block in blocks(page) if block.not_run is None]
    for block, behind in zip(found, [*found[1:], None], strict=False):
        if block.language == "python":
            yield block
        elif block.language == "sh":
            shown, span = unshown, (0, 0)
            if behind is not None and behind.language == "text":
                between = page[block.span[1] : behind.span[0]].replace("```text", "").strip("`\n ")
                shown, span = (shown, span) if between else (behind.text, behind.span)
            yield Step(block.text.rstrip("\n"), shown, block.line, span)


def matches(shown: str, printed: str) -> bool:
    """Whether the output is the one shown, blanks aside. White space at the ends of lines does not count."""
    pattern = ""
    for line in shown.rstrip().splitlines():
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += r"[^\n]*?".join(map(re.escape, line.rstrip().split("..."))) + r"[ \t]*\n"
    text = printed.rstrip()
    return re.fullmatch(pattern, text + "\n" if text else "") is not None


def pages() -> list[Path]:
    """Every Markdown page of the repository, conformance corpora and the example tree aside."""
    found = [path for path in ROOT.rglob("*.md") if not SKIPPED & set(path.relative_to(ROOT).parts)]
    return sorted(
        path for path in found if not path.is_relative_to(ROOT / "docs/investigation/tree") and _is_page(path)
    )


def _is_page(path: Path) -> bool:
    """Whether a Markdown file is documentation and not an artifact that some example judges."""
    return "artifacts" not in path.parts
