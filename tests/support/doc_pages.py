"""Read the fenced blocks of a Markdown page, and compare output with what a page shows.

`console` blocks have commands after `$ ` (continued after `> `), each with its output below it. `...` inside a line
stands for any text in that line, a line `...` for any number of lines. A block that cannot run is preceded by a
comment: `<!-- not run: REASON -->`.
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
    """A command of a console block and the output shown below it; `span` is where that output stands in the page."""

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


def steps(block: Block) -> Iterator[Step]:
    """The commands of a console block. Text before the first command is an error in the page."""
    offset, line = block.span[0], block.line
    command: list[str] = []
    shown: list[str] = []
    start, began, in_command = offset, line, False
    for text in block.text.splitlines(keepends=True):
        if text.startswith("$ "):
            if command:
                yield Step("\n".join(command), "".join(shown), began, (start, offset))
            command, shown, began, in_command = [text[2:].rstrip("\n")], [], line, True
            start = offset + len(text)
        elif in_command and (text.startswith("> ") or text == ">\n"):
            command.append(text[2:].rstrip("\n"))
            start = offset + len(text)
        elif not command:
            raise ValueError(f"line {line}: a console block begins with `$ `")
        else:
            in_command = False
            shown.append(text)
        offset += len(text)
        line += 1
    if command:
        yield Step("\n".join(command), "".join(shown), began, (start, offset))


def pasted_steps(page: str) -> Iterator[Step]:
    """Yield the `sh` blocks of a page that is pasted block by block; a `text` block right behind one is its output."""
    found = [block for block in blocks(page) if block.not_run is None]
    for block, behind in zip(found, [*found[1:], None], strict=True):
        if block.language == "sh":
            shown, span = "...\n", (0, 0)
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
