"""Docstrings, comments, help texts, schemas and pages are written in plain words, as CONTRIBUTING asks.

Checked are the habits that came back most often: sentences that begin with "What" or "The same", and words that make
the reader guess who or what is meant.
"""

import io
import json
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "RELEASE.md",
    "SECURITY.md",
    "AGENTS.md",
    "llms.txt",
    "spec/README.md",
    "tests/README.md",
]
OPENING = re.compile(r"(?:^|(?<=[.;:!?] ))(?:What|The same)\s[^.?!]*(?:[.?!]|$)")
WORD = re.compile(r"\b(?:doorman|entrance|beneath|somebody|whoever|nobody)\b", re.IGNORECASE)
MEANT = {"docs/guides/ci.md": "`nobody` is the name of a user"}


def test_code_is_described_in_plain_words():
    found = [
        f"{path.relative_to(ROOT)}:{line}: {wrong}"
        for folder in ("zeno", "normalizer", "tools")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, text in prose_of_code(path.read_text())
        for wrong in habits(text)
    ]
    assert found == []


def test_pages_are_written_in_plain_words():
    folders = ("docs", "spec/decisions")
    pages = [ROOT / page for page in PAGES]
    pages += [page for folder in folders for page in sorted((ROOT / folder).rglob("*.md"))]
    found = [
        f"{path.relative_to(ROOT)}: {wrong}"
        for path in pages
        if str(path.relative_to(ROOT)) not in MEANT
        for paragraph in prose_of_page(path.read_text())
        for wrong in habits(paragraph)
    ]
    assert found == []


def test_schemas_are_described_in_plain_words():
    found = [
        f"{path.relative_to(ROOT)}: {wrong}"
        for path in sorted((ROOT / "spec" / "schemas").rglob("*.json"))
        for text in descriptions(json.loads(path.read_text(encoding="utf-8")))
        for wrong in habits(text)
    ]
    assert found == []


def test_the_habits_are_recognized():
    assert list(habits("It reads. What it finds is kept.")) == ["What it finds is kept."]
    assert list(habits("The same for one request")) == ["The same for one request"]
    assert list(habits("Ask whoever is beneath.")) == ["whoever", "beneath"]
    assert list(habits("What makes a record INVALID? See what the same rules say.")) == []


def habits(text: str) -> Iterator[str]:
    """Openings and words in a text that CONTRIBUTING asks to avoid. A question may begin with What."""
    yield from (found[0] for found in OPENING.finditer(text) if not found[0].endswith("?"))
    yield from (found[0] for found in WORD.finditer(text))


def descriptions(schema: Any) -> Iterator[str]:
    """Every description in a schema, those of its parts included."""
    parts = schema if isinstance(schema, list) else schema.values() if isinstance(schema, dict) else ()
    if isinstance(schema, dict) and isinstance(schema.get("description"), str):
        yield schema["description"]
    for part in parts:
        yield from descriptions(part)


def prose_of_code(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each docstring, comment and help text of a module."""
    before = ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")
        elif token.type == tokenize.STRING and (token.string.lstrip("r").startswith('"""') or before == "help="):
            yield token.start[0], " ".join(token.string.strip("r\"'").split())
        before = (before + token.string)[-5:]


def prose_of_page(text: str) -> Iterator[str]:
    """Paragraphs, list items and table cells of a page, without code blocks, headings and code spans."""
    text = re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(#.*|<!--.*?-->)$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^ *(?:[-*]|\d+\.) ", "\n\n", text, flags=re.MULTILINE)
    text = re.sub(r"`[^`\n]+`", "`code`", text)
    for part in re.split(r"\n\s*\n|\|", text):
        if part.strip():
            yield " ".join(part.replace("**", "").split())
