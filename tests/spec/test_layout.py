"""The folders are as described: one name in five places, imports that point one way, packages listed whole."""

import ast
import tomllib
from pathlib import Path

import contract_spec as spec
import pytest

from zeno.dispatch import OPS
from zeno.errors import ZenoError

ROOT = Path(__file__).parents[2]
FOLDERS = {"contract_models": "generated", "contract_spec": "spec", "normalizer": "normalizer", "zeno": "zeno"}

# Who may import whom. Tools and tests may import anything, and nothing imports them.
ALLOWED = {
    "spec": {"contract_spec"},
    "generated": {"contract_models", "contract_spec"},
    "zeno": {"contract_models", "contract_spec", "zeno"},
    "normalizer": {"contract_models", "contract_spec", "normalizer"},
}

# The modules of zeno from the outside in: each may import only from lines below its own.
LAYERS = [
    {"__main__"},
    {"cli"},
    {"commands"},
    {"client", "http", "mcp", "shell"},
    {"doorman", "turns"},
    {"server"},
    {"trace"},
    {"pairs", "problems"},
    {"wire", "dispatch"},
    {"ops"},
    {"budget", "citations", "clip", "cursors", "hints"},
    {"search"},
    {"walk", "symbols", "meter"},
    {"blanking", "globs", "ignore", "terms", "tree"},
    {"beneath", "file", "follow"},
    {"entrance"},
    {"descent"},
    {"lines", "names", "patterns", "plain", "text"},
    {"errors", "flags", "interrupts"},
]

# The modules of zeno that open, list or look at files: below the root and on the way to it, and elsewhere, namely what
# the user named and what the system tells of itself.
OPENS_THE_TREE = {"descent", "entrance", "follow", "tree", "walk"}
OPENS_OTHER_FILES = {"cli", "doorman", "search.halves", "search.watch", "trace.log", "trace.printing"}
OPENS_OTHER_FILES |= {"trace.record", "trace.recorder", "trace.report", "trace.source"}
OPENING = {"open", *(f"os.{name}" for name in ("open", "scandir", "listdir", "walk", "stat", "lstat", "readlink"))}


def names(folder: str, suffix: str) -> list[str]:
    return sorted(path.stem for path in (ROOT / folder).glob(f"*{suffix}") if path.stem != "__init__")


def test_one_name_in_five_places():
    ops = sorted(OPS)
    assert names("spec/schemas/zeno/ops", ".json") == ops
    assert names("generated/zeno/ops", ".py") == ops
    assert names("zeno/ops", ".py") == ops
    assert [name for name in names("tests/conformance/zeno", ".json") if name in ops] == ops
    assert [name for name in names("tests/zeno", ".py") if name.removeprefix("test_") in ops] == [
        f"test_{op}" for op in ops
    ]


def test_every_error_code_has_exactly_one_class():
    codes = spec.schema("zeno/error.json")["properties"]["code"]["enum"]
    assert sorted(kind.code for kind in ZenoError.__subclasses__()) == sorted(codes)


def test_packages_are_listed_whole():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    found = []
    for package, folder in FOLDERS.items():
        for init in sorted((ROOT / folder).rglob("__init__.py")):
            found.append(".".join([package, *init.parent.relative_to(ROOT / folder).parts]))
    assert sorted(listed) == sorted(found)


def imported(path: Path) -> set[str]:
    """The absolute module names that a file imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


@pytest.mark.parametrize("folder", sorted(ALLOWED))
def test_imports_point_one_way(folder):
    ours = {*FOLDERS, "generated", "spec", "tests", "tools"}
    for path in (ROOT / folder).rglob("*.py"):
        tops = {name.partition(".")[0] for name in imported(path)} & ours
        assert tops <= ALLOWED[folder], path


def test_a_module_of_zeno_imports_only_from_lines_below_it():
    level = {name: number for number, layer in enumerate(LAYERS) for name in layer}
    for path in (ROOT / "zeno").rglob("*.py"):
        parts = path.relative_to(ROOT / "zeno").with_suffix("").parts
        if parts == ("__init__",):
            continue
        assert parts[0] in level, f"{path} has no place in LAYERS"
        for name in imported(path):
            inner = name.split(".")
            if inner[0] == "zeno" and len(inner) > 1 and inner[1] in level and inner[1] != parts[0]:
                assert level[inner[1]] >= level[parts[0]], f"{path} imports {name} from above"


def test_few_modules_of_zeno_open_anything():
    found = set()
    for path in (ROOT / "zeno").rglob("*.py"):
        calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
        if OPENING & {ast.unparse(call.func) for call in calls}:
            found.add(".".join(path.relative_to(ROOT / "zeno").with_suffix("").parts))
    assert found == OPENS_THE_TREE | OPENS_OTHER_FILES


def test_only_known_folders_stand_at_the_top():
    tracked = {"spec", "generated", "zeno", "normalizer", "tests", "tools", "docs", "build", "dist"}
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith((".", "__"))}
    assert {name for name in folders if not name.endswith(".egg-info")} <= tracked
