"""The rooms of both packages and the arrows between them, stated once and enforced.

A package is a row of rooms. A module imports only from its own room and from rooms to the right of it, wherever in the
module the import stands, and no two modules import each other, lazy imports included. `test_root_boundary.py` enforces
that `zeno/files` is the only room that opens anything under the root.
"""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping, Set
from functools import cache
from pathlib import Path

import contract_spec as spec
import pytest

from zeno.errors import ZenoError
from zeno.session.dispatch import OPS

ROOT = Path(__file__).parents[2]
FOLDERS = {"contract_models": "generated", "contract_spec": "spec", "normalizer": "normalizer", "zeno": "zeno"}

# Who may import whom. Tools and tests may import anything, and nothing imports them.
ALLOWED = {
    "spec": {"contract_spec"},
    "generated": {"contract_models", "contract_spec"},
    "zeno": {"contract_models", "contract_spec", "zeno"},
    "normalizer": {"contract_models", "contract_spec", "normalizer"},
}

# The rooms of each package. Imports point to the right. A room is a folder or, at the top, a module.
ROOMS = {
    "zeno": (
        "__main__ → cli → client → interfaces → trace → session → ops → results → revisions → cache → search → code"
        " → ranking → index → files → text → confinement → meter → forked → options → errors"
    ),
    "normalizer": (
        "__main__ → cli → commands → terminal → api → report → export → tables → checks → gate → calibration"
        " → preferences → noise → statistics → aggregate → estimation → judge → batch → guess → screening → containers"
        " → ledger → documents → regular_files → errors"
    ),
}

# A string that names a module: what import_module may be given somewhere else in the source.
MODULE_NAME = re.compile(
    "|".join(rf"{package}\.(?:{'|'.join(ROOMS[package].split(' → '))})(?:\.\w+)*" for package in ROOMS)
)

MAX_MODULES = 14
MAX_LINES = 300
MAX_FUNCTION_LINES, MAX_PARAMETERS = 60, 6
# Folders whose modules have the names of operations and commands, and the packages, whose rooms ARCHITECTURE.md lists.
NAMED_BY_THEMSELVES = {"zeno", "zeno/ops", "zeno/interfaces/texts", "normalizer"}


def modules(package: str) -> Iterator[tuple[str, Path]]:
    """Dotted name and file of every module of a package, packages under their own name."""
    for path in sorted((ROOT / FOLDERS[package]).rglob("*.py")):
        parts = path.relative_to(ROOT / FOLDERS[package]).with_suffix("").parts
        yield ".".join([package, *(part for part in parts if part != "__init__")]), path


@cache
def imported(path: Path) -> frozenset[str]:
    """The absolute names that a file imports, wherever in the file, type-checking blocks aside."""
    return frozenset(imports_of(path.read_text(encoding="utf-8")))


def imports_of(source: str, *, for_types: bool = False) -> set[str]:
    """The absolute names that a source imports, lazily or not; `for_types` includes type-checking blocks."""
    tree = ast.parse(source)
    typing_only = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
        for part in node.body
        for inner in ast.walk(part)
    }
    found = set()
    for node in ast.walk(tree):
        if node in typing_only and not for_types:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            found |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__"):
            found |= set(map(_beginning, node.args[:1]))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and MODULE_NAME.fullmatch(node.value):
            # partial(import_module, name): the names are strings.
            found |= {node.value} if "import_module" in source else set()
    return found


def _beginning(name: ast.expr) -> str:
    """The name of a module as far as it is written out: all of "a.b", and `a.b` of f"a.b.{c}"."""
    if isinstance(name, ast.JoinedStr):
        name = name.values[0]
    return name.value.rstrip(".") if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""


def names(folder: str, suffix: str) -> list[str]:
    return sorted(path.stem for path in (ROOT / folder).glob(f"*{suffix}") if path.stem != "__init__")


def test_one_name_in_five_places():
    ops = sorted(OPS)
    assert names("spec/schemas/zeno/ops", ".json") == ops
    assert names("generated/zeno/ops", ".py") == ops
    assert names("zeno/ops", ".py") == ops
    assert [name for name in names("tests/conformance/zeno", ".json") if name in ops] == ops
    assert [name for name in names("tests/zeno/ops", ".py") if name.removeprefix("test_") in ops] == [
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
    assert sorted(listed) == sorted([*found, "contract_spec.docs", "zeno_normalizer"])  # pages, and the console scripts


@pytest.mark.parametrize("folder", sorted(ALLOWED))
def test_packages_import_only_what_they_may(folder):
    ours = {*FOLDERS, "generated", "spec", "tests", "tools"}
    for path in (ROOT / folder).rglob("*.py"):
        tops = {name.partition(".")[0] for name in imported(path)} & ours
        assert tops <= ALLOWED[folder], path


@pytest.mark.parametrize("package", sorted(ROOMS))
def test_a_room_imports_only_rooms_to_its_right(package):
    for module, path in modules(package):
        if module != package:
            assert list(to_the_left(module, path.read_text(encoding="utf-8"))) == [], path


def to_the_left(module: str, source: str) -> Iterator[str]:
    """Names that a module imports from rooms to its left, for types too, and all relative imports."""
    package, room = module.split(".")[:2]
    place = {room: number for number, room in enumerate(ROOMS[package].split(" → "))}
    assert room in place, f"{module} is in no room: add it to ROOMS"
    for name in sorted(imports_of(source, for_types=True)):
        other = name.split(".")[1] if name.startswith(f"{package}.") else ""
        if name.startswith(".") or (other and place.get(other, -1) < place[room]):
            yield name


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("zeno.files.walk", "from zeno.cache import listing"),
        ("zeno.files.walk", "def f():\n    import zeno.cli.parser"),
        ("zeno.files.walk", "from importlib import import_module\nimport_module('zeno.ops.grep')"),
        ("zeno.files.walk", "import importlib\nimportlib.import_module(f'zeno.ops.{name}')"),
        ("zeno.files.walk", "__import__('zeno.ops.grep')"),
        ("zeno.files.walk", "from importlib import import_module\nfor name in ('zeno.ops.grep',): import_module(name)"),
        ("zeno.files.walk", "if TYPE_CHECKING:\n    from zeno.cache.listing import Listing"),
        ("normalizer.documents.rubric", "from normalizer.ledger.reader import Ledger"),
        ("normalizer.documents.rubric", "def f():\n    from normalizer import open"),
        ("normalizer.errors", "import normalizer.documents"),
        ("normalizer.errors", "from . import documents"),
        ("normalizer.documents.rubric", "from ..ledger.reader import Ledger"),
    ],
)
def test_an_import_to_the_left_is_seen(module, source):
    assert list(to_the_left(module, source))


@pytest.mark.parametrize("package", sorted(ROOMS))
def test_no_modules_import_each_other_in_a_circle(package):
    files = dict(modules(package))
    assert circle({module: imported(path) for module, path in files.items()}) == []


def circle(imports: Mapping[str, Set[str]]) -> list[str]:
    """Modules that import each other in a circle, the first again at the end; empty if there is no circle."""
    done: set[str] = set()

    def visit(module: str, way: list[str]) -> list[str]:
        if module in way:
            return [*way[way.index(module) :], module]
        if module not in done:
            for target in sorted(imports[module]):
                # Importing a name from a module also imports the packages that it is in.
                if target in imports and target != module and (found := visit(target, [*way, module])):
                    return found
            done.add(module)
        return []

    return next((found for module in sorted(imports) if (found := visit(module, []))), [])


def test_a_circle_of_lazy_imports_is_seen():
    sources = {
        "zeno.files.walk": "def f():\n    from zeno.files.tree import Tree",
        "zeno.files.tree": "import zeno.files.resolve",
        "zeno.files.resolve": "class A:\n    def f(self):\n        from zeno.files import walk",
        "zeno.files.policy": "",
    }
    found = circle({module: imports_of(source) for module, source in sources.items()})
    assert found == ["zeno.files.resolve", "zeno.files.walk", "zeno.files.tree", "zeno.files.resolve"]


@pytest.mark.parametrize("package", sorted(ROOMS))
def test_every_room_says_what_lives_there(package):
    for init in (ROOT / package).rglob("__init__.py"):
        words = ast.get_docstring(ast.parse(init.read_text())) or ""
        assert len(words) > 40, f"{init} has no docstring that says what lives there"
        if init.parent.relative_to(ROOT).as_posix() not in NAMED_BY_THEMSELVES:
            lives = [path.stem for path in init.parent.glob("*.py")] + [
                path.parent.name for path in init.parent.glob("*/*.py")
            ]
            unnamed = {name for name in lives if f"`{name}" not in words} - {"__init__"}
            assert not unnamed, f"{init} does not say what these are for: {sorted(unnamed)}"


@pytest.mark.parametrize("package", sorted(ROOMS))
def test_rooms_and_modules_are_small(package):
    for folder in {path.parent for _, path in modules(package)}:
        count = len([path for path in folder.glob("*.py") if path.stem != "__init__"])
        assert count <= MAX_MODULES, f"{folder} has {count} modules"
    for _, path in modules(package):
        assert path.read_text().count("\n") <= MAX_LINES, f"{path} is longer than {MAX_LINES} lines"


@pytest.mark.parametrize("room", ["cache", "code", "files", "index", "ops", "results", "search", "session", "text"])
def test_functions_are_short_and_take_few_arguments(room):
    large = []
    for path in sorted((ROOT / "zeno" / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                names = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                parameters = len(names) - (names[:1] in (["self"], ["cls"]))
                if lines > MAX_FUNCTION_LINES or parameters > MAX_PARAMETERS:
                    large.append(f"{path.relative_to(ROOT)}: {node.name} has {lines} lines and {parameters} parameters")
    assert large == []


@pytest.mark.parametrize("package", sorted(ROOMS))
def test_a_public_class_or_type_has_its_name_for_itself(package):
    """One word, one meaning: a reader who meets a type need not look up which module it is from."""
    homes: dict[str, list[str]] = {}
    for module, path in modules(package):
        for name in types_of(ast.parse(path.read_text())):
            homes.setdefault(name, []).append(module)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def types_of(tree: ast.Module) -> Iterator[str]:
    """Names of the public classes, type aliases and type variables that a module defines."""
    for node in tree.body:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        names = (
            [node.name] if isinstance(node, ast.ClassDef) else [one.id for one in targets if isinstance(one, ast.Name)]
        )
        # A constant is in capitals; a type begins with one and goes on in small letters.
        yield from (name for name in names if name[0].isupper() and not name.isupper())


def test_only_known_folders_stand_at_the_top():
    tracked = {"spec", "generated", "zeno", "normalizer", "tests", "tools", "docs", "build", "dist"}
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith((".", "__"))}
    assert {name for name in folders if not name.endswith(".egg-info")} <= tracked


def test_every_test_module_stands_in_the_room_of_what_it_tests():
    """A test folder mirrors a room; what crosses rooms is in `whole`."""
    for package in ROOMS:
        rooms = {path.parent.relative_to(ROOT / package) for _, path in modules(package)}
        for path in (ROOT / "tests" / package).rglob("test_*.py"):
            assert path.parent.relative_to(ROOT / "tests" / package) in rooms, f"{path} is in no room of {package}"


def test_every_file_of_the_project_that_code_names_exists():
    """Comments, docstrings and messages may point to a test, a page or a rule; it has to be there."""
    named = re.compile(r"(?<![\w/.-])(?:docs|normalizer|spec|tests|tools|zeno)/[\w./-]+\.(?:css|js|json|md|py|svg)\b")
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for folder in ("normalizer", "spec", "tools", "zeno")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name in named.findall(path.read_text(encoding="utf-8"))
        if not (ROOT / name).exists() and not (ROOT / "spec" / "schemas" / name).exists()
    ]
    assert missing == []


@pytest.mark.parametrize("room", ["code", "ops", "results", "search"])
def test_what_a_tree_is_made_of_is_known_to_the_files_room_alone(room):
    """Kinds, sizes and times of files come as `Entry`, so that a tree need not be a directory of this system."""
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / "zeno" / room).rglob("*.py"))
        for name in re.findall(r"\bstat_result\b|\.st_[a-z_]+|\bopenat2\b|\bS_IS[A-Z]+\b", path.read_text())
    ]
    assert found == []
