"""An operation is added by the recipe of CONTRIBUTING.md, and by nothing else, in a copy of the code."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.patience import PATIENCE
from tests.whole.test_architecture import RECIPES, ROOT, steps

NAME = "count_lines"
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": f"https://specs.example/v1/zeno/ops/{NAME}.json",
    "title": "CountLines",
    "description": "Count the lines of a text file.",
    "type": "object",
    "required": ["args", "result"],
    "additionalProperties": False,
    "properties": {
        "args": {"description": "Which file.", "$ref": "#/$defs/args"},
        "result": {"description": "How many.", "$ref": "#/$defs/result"},
    },
    "x-zeno": {
        "narrow": "ask for another file",
        "words": ["path"],
        "color": ["#123456", "#654321"],
        "tool": {"description": 'Count the lines of a file. Example: {"path": "a.py"}.', "defaults": {}},
    },
    "$defs": {
        "args": {
            "title": "CountLinesArgs",
            "description": "Arguments of count_lines.",
            "type": "object",
            "required": ["path"],
            "additionalProperties": False,
            "properties": {
                "path": {"x-zeno": {"is": "path"}, "description": "Which file.", "type": "string", "minLength": 1}
            },
        },
        "result": {
            "title": "CountLinesResult",
            "description": "Result of count_lines.",
            "type": "object",
            "required": ["path", "total_lines", "metrics"],
            "additionalProperties": False,
            "properties": {
                "path": {"description": "Relative path with links resolved.", "type": "string"},
                "total_lines": {"description": "Number of lines.", "type": "integer", "minimum": 0},
                "metrics": {"description": "Measurements.", "$ref": "../metrics.json"},
            },
        },
    },
    "examples": [
        {
            "args": {"path": "a.txt"},
            "result": {
                "path": "a.txt",
                "total_lines": 9,
                "metrics": {"time_ms": 0, "bytes_read": 40, "files_scanned": 1},
            },
        }
    ],
}
VECTORS = {
    "vectors": [
        {
            "description": "the lines of a file are counted",
            "spec": f"docs/reference/protocol.md#{NAME}",
            "kind": "plain",
            "corpus": "lines",
            "request": {"id": "cl-1", "op": NAME, "args": {"path": "ten.txt"}},
            "result": {"path": "ten.txt", "total_lines": 10},
        },
        {
            "description": "lines of a file that is not there cannot be counted",
            "spec": f"docs/reference/protocol.md#{NAME}",
            "kind": "refusal",
            "corpus": "lines",
            "request": {"id": "cl-2", "op": NAME, "args": {"path": "none.txt"}},
            "error": "not_found",
        },
    ]
}
OPERATION = '''"""count_lines: count the lines of a text file."""

from contract_models.zeno.ops.count_lines import CountLinesArgs, CountLinesResult

from zeno.meter import Meter
from zeno.results.suggestions import suggest_paths
from zeno.search.corpus import Corpus


def count_lines(args: CountLinesArgs, corpus: Corpus, meter: Meter) -> CountLinesResult:
    """Count the lines."""
    with suggest_paths(args.path, corpus, meter), corpus.tree.open(args.path, "args.path") as file:
        file.require_text()
        data = b"".join(file.chunks())
    meter.count_file(len(data))
    lines = data.count(b"\\n") + (not data.endswith(b"\\n") and bool(data))
    return CountLinesResult(path=file.path, total_lines=lines, metrics=meter.stop())
'''
TEXT = '''"""The result of count_lines as text for models."""


def write_text(result, _args):
    """Return the number of lines."""
    return [], f"{result['path']} has {result['total_lines']} lines"
'''
MODEL = """
    def count_lines(self, path: str) -> dict[str, Any]:
        name, lines = self.text(path)
        return {"path": name, "total_lines": len(lines)}

    def peek(self"""
TEST = """from zeno.interfaces.result_text import text_of


def test_lines_are_counted(root, ask):
    (root / "a").write_text("1\\n2")
    result = ask("count_lines", path="a")["result"]
    assert result["total_lines"] == 2
    assert text_of("count_lines", result) == "[a has 2 lines]"
"""


def follow(copy: Path) -> list[str]:
    """Write the files of the recipe, each at its step; return their paths."""
    protocol, model = copy / "docs/reference/protocol.md", copy / "tests/support/request_model.py"
    written = {
        f"spec/schemas/zeno/ops/{NAME}.json": json.dumps(SCHEMA),
        f"tests/conformance/zeno/{NAME}.json": json.dumps(VECTORS),
        f"zeno/ops/{NAME}.py": OPERATION,
        f"zeno/interfaces/texts/{NAME}.py": TEXT,
        "tests/support/request_model.py": model.read_text().replace("\n    def peek(self", MODEL, 1),
        f"tests/zeno/ops/test_{NAME}.py": TEST,
        "docs/reference/protocol.md": f"{protocol.read_text()}\n### {NAME}\n\nCounts lines.\n",
    }
    for path, text in written.items():
        (copy / path).write_text(text)
    return list(written)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the code with one more operation."""
    copy = tmp_path_factory.mktemp("copy")
    for name in ("spec", "zeno", "tools", "tests", "docs"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "img"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    (copy / "path").mkdir()
    for name, folder in (("contract_spec", "spec"), ("contract_models", "generated")):
        (copy / "path" / name).symlink_to(copy / folder)
    follow(copy)
    assert run(copy, "tools.generate").stdout == ""
    return copy


def run(copy: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a module of the copy."""
    environment = {**os.environ, "PYTHONPATH": f"{copy / 'path'}{os.pathsep}{copy}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=PATIENCE * 10)


def test_the_recipe_has_at_most_seven_steps_and_they_are_the_files_that_were_written(copy: Path) -> None:
    _, paths = steps("add an operation")
    assert len(paths) <= 7
    assert [path.replace("extract_symbols", NAME) for path in paths] == follow(copy)
    assert "test_recipe.py" in RECIPES["add an operation"]


def test_the_new_operation_answers_its_vectors_and_passes_its_test(copy: Path) -> None:
    vectors = run(copy, "tools.conformance", "--filter", f"{NAME}:")
    assert vectors.returncode == 0, vectors.stdout + vectors.stderr
    assert "2" in vectors.stdout
    tests = run(copy, "pytest", "-q", "-p", "no:cacheprovider", f"tests/zeno/ops/test_{NAME}.py")
    assert tests.returncode == 0, tests.stdout + tests.stderr


def test_the_new_operation_is_known_everywhere(copy: Path) -> None:
    program = f"""
import sys
from contract_models.client.methods import Methods
from contract_spec.operations import requests
from tests.support.request_model import arguments
from tools.fuzz.protocol import TARGETS
from tools.reference import with_operations
from zeno.interfaces import key_value
from zeno.interfaces.mcp.tool_list import _tool
from zeno.session.dispatch import OPS
from zeno.trace.page.view import _colors, _legend

name = {NAME!r}
assert name in OPS
assert callable(getattr(Methods, name))
assert _tool(name).description.startswith("Count the lines")
assert key_value.arguments(name, ["a.txt"]) == {{"path": "a.txt"}}
assert (name, None) in _legend()
assert "--count_lines: light-dark(#123456, #654321)" in _colors()
assert (name, {{"path": "d/a"}}) in list(requests("d/a", "x"))
assert any(name.encode() in seed for seed in TARGETS["request"].seeds)
assert list(arguments()[name]) == ["path"]
marks = "<!-- operations -->\\n<!-- end of operations -->"
assert "`count_lines`: Count the lines of a file." in with_operations(marks)
"""
    (copy / "known.py").write_text(program)
    done = run(copy, "known")
    assert done.returncode == 0, done.stderr
    described = run(copy, "zeno", "call", "describe", "schemas=false", "--root", ".")
    assert f'"name":"{NAME}"' in described.stdout.replace(" ", "")
    counted = run(copy, "zeno", "call", NAME, "pyproject.toml", "--root", ".")
    assert "total_lines" in counted.stdout, counted.stderr
