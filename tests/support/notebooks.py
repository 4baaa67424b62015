"""Run the code cells of a notebook in order and tell what each prints, without Jupyter.

A cell's output is what it writes to standard output, then the value of its last line where that is an expression.
"""

import ast
import contextlib
import io
import json
import os
from pathlib import Path
from typing import Any


def cells(path: Path) -> list[dict[str, Any]]:
    """The code cells of a notebook."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(path: Path) -> list[str]:
    """What each code cell prints, run in the notebook's folder."""
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = []
    before = Path.cwd()
    os.chdir(path.parent)
    try:
        for number, cell in enumerate(cells(path)):
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                _run("".join(cell["source"]), f"{path.name}, code cell {number}", names)
            printed.append(out.getvalue())
    finally:
        os.chdir(before)
    return printed


def _run(source: str, named: str, names: dict[str, Any]) -> None:
    tree = ast.parse(source, named)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, named, "exec"), names)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), named, "eval"), names)
        if value is not None:
            print(repr(value))


def shown(cell: dict[str, Any]) -> str:
    """The output that a code cell was saved with."""
    return "".join("".join(output["text"]) for output in cell["outputs"] if output["output_type"] == "stream")


def with_outputs(path: Path, printed: list[str]) -> str:
    """The notebook's text with these outputs."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    outputs = iter(printed)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            text = next(outputs)
            stream = {"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}
            cell["outputs"] = [stream] if text else []
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
