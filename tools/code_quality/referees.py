"""Ask others what files define: CPython's ast for Python, ctags where it knows the language well, else a walk."""

import ast
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tools.code_quality.ctags import COVERED, comparable, ctags_command, plain
from tools.code_quality.walks import Defined, definitions, parse

# Languages that ctags 5.9 does not know, or not well: no present JavaScript, arrays of shells taken for functions.
WALKED = ("javascript", "kotlin", "scala", "shell", "swift", "typescript")


def ask_extents(language: str, path: Path) -> list[Defined]:
    """Return the definitions of a file with their extents, by ast or by a walk of the syntax tree."""
    text = path.read_bytes()
    return list(_ask_ast(text) if language == "python" else definitions(parse(path.name, text), language))


def _ask_ast(text: bytes) -> Iterator[Defined]:
    stack: list[tuple[ast.AST, str]] = [(ast.parse(text), "")]
    while stack:
        node, container = stack.pop()
        inner = container
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            inner = node.name
            yield Defined(inner, node.lineno, node.end_lineno or 0, container)
        stack += [(child, inner) for child in ast.iter_child_nodes(node)]


def ask_ctags(language: str, paths: list[Path]) -> dict[str, list[Defined]]:
    """Return the definitions of each file, by its path, as ctags knows them."""
    cover = COVERED[language]
    listing = "\n".join(map(str, paths)).encode()
    output = subprocess.run(ctags_command(cover, "NFKneZ"), input=listing, capture_output=True, check=True).stdout
    found: dict[str, list[Defined]] = {}
    for line in output.decode(errors="replace").strip().split("\n"):
        tag = json.loads(line)
        if tag["kind"] in cover.theirs.split() and comparable(cover, tag["kind"], tag["name"]):
            scope = tag.get("scope", "")
            # Names that ctags invents for what has none say nothing about containers.
            container = None if "__anon" in scope else plain(scope)
            one = Defined(plain(tag["name"]), tag["line"], tag.get("end", 0), container)
            found.setdefault(tag["path"], []).append(one)
    return found
