"""The rooms of both packages and the arrows between them, stated once and enforced.

A package is a row of rooms. A module imports only from its own room and from rooms to the right of it, wherever in the
module the import stands, and no two modules import each other, lazy imports included. `zeno/files` is the only room of
zeno that opens anything under the root.
"""

import ast
import tomllib
from collections.abc import Iterator
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
        "__main__ → cli → client → doors → trace → session → ops → results → cache → search → index → files → text"
        " → confinement → meter → options → errors"
    ),
    "normalizer": (
        "__main__ → cli → commands → terminal → api → report → export → tables → checks → gate → calibration"
        " → preferences → noise → statistics → aggregate → judge → batch → screening → containers → ledger → documents"
        " → errors"
    ),
}

MAX_MODULES = 12
MANY_MODULES = {"normalizer/commands": "one module a command"}
MAX_LINES = 300

# Modules outside `zeno/files` that open something which is never under the root: what the user named on the command
# line, and what the kernel tells of this process.
OPENS_OTHER_FILES = {
    "cli.install.checks": "limits of the kernel",
    "cli.parser": "closed standard streams",
    "cli.policy_flags": "a list of globs to deny",
    "cli.printing": "standard output",
    "cli.trace_read": "a trace and the page made of it",
    "cli.trace_source": "a trace",
    "cli.trace_write": "a trace",
    "confinement.landlock": "folders of Python and of the system, to allow them",
    "confinement.needs": "which libraries the kernel has loaded",
    "doors.http.access": "the token file",
    "session.forked": "the descriptors of its own process",
    "search.fork_helper": "its own memory file",
    "cache.inotify": "limits of the kernel",
    "trace.log": "the log",
    "trace.recorder": "the log",
}
OPENING = {"open", *(f"os.{name}" for name in ("open", "scandir", "listdir", "walk", "stat", "lstat", "readlink"))}
# ctypes can call open(2) by itself: only these modules may use it.
USES_CTYPES = {
    "files.openat2": "openat2(2)",
    "cache.inotify": "inotify(7)",
    "confinement.landlock": "landlock(7)",
    "session.forked": "prctl(2)",
}


def modules(package: str) -> Iterator[tuple[str, Path]]:
    """Dotted name and file of every module of a package, packages under their own name."""
    for path in sorted((ROOT / FOLDERS[package]).rglob("*.py")):
        parts = path.relative_to(ROOT / FOLDERS[package]).with_suffix("").parts
        yield ".".join([package, *(part for part in parts if part != "__init__")]), path


@cache
def imported(path: Path) -> frozenset[str]:
    """The absolute names that a file imports, wherever in the file, type-checking blocks aside."""
    tree = ast.parse(path.read_text())
    typing_only = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "import_module":
            found |= {arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)}
    return frozenset(found)


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
    assert sorted(listed) == sorted([*found, "contract_spec.docs"])  # pages, no code


@pytest.mark.parametrize("folder", sorted(ALLOWED))
def test_packages_import_only_what_they_may(folder):
    ours = {*FOLDERS, "generated", "spec", "tests", "tools"}
    for path in (ROOT / folder).rglob("*.py"):
        tops = {name.partition(".")[0] for name in imported(path)} & ours
        assert tops <= ALLOWED[folder], path


@pytest.mark.parametrize("package", sorted(ROOMS))
def test_a_room_imports_only_rooms_to_its_right(package):
    place = {room: number for number, room in enumerate(ROOMS[package].split(" → "))}
    for module, path in modules(package):
        if module == package:
            continue
        room = module.split(".")[1]
        assert room in place, f"{path} is in no room: add it to ROOMS"
        for name in imported(path):
            other = name.split(".")[1] if name.startswith(f"{package}.") else ""
            assert place.get(other, len(place)) >= place[room], f"{path} imports {name}, to its left"


@pytest.mark.parametrize("package", sorted(ROOMS))
def test_no_modules_import_each_other_in_a_circle(package):
    files = dict(modules(package))
    graph = {module: {name for name in imported(path) if name in files} for module, path in files.items()}
    # Importing a name from a package's module also names the package, whose __init__ imports nothing.
    graph = {module: {name for name in targets if name != module} for module, targets in graph.items()}
    done: set[str] = set()

    def visit(module: str, way: list[str]) -> None:
        assert module not in way, " → ".join([*way[way.index(module) :], module])
        if module not in done:
            for target in sorted(graph[module]):
                visit(target, [*way, module])
            done.add(module)

    for module in sorted(graph):
        visit(module, [])


@pytest.mark.parametrize("package", sorted(ROOMS))
def test_every_room_says_what_lives_there(package):
    for init in (ROOT / package).rglob("__init__.py"):
        words = ast.get_docstring(ast.parse(init.read_text())) or ""
        assert len(words) > 40, f"{init} has no docstring that says what lives there"


@pytest.mark.parametrize("package", sorted(ROOMS))
def test_rooms_and_modules_are_small(package):
    for folder in {path.parent for _, path in modules(package)}:
        count = len([path for path in folder.glob("*.py") if path.stem != "__init__"])
        assert count <= MAX_MODULES or str(folder.relative_to(ROOT)) in MANY_MODULES, f"{folder} has {count} modules"
    for _, path in modules(package):
        assert path.read_text().count("\n") <= MAX_LINES, f"{path} is longer than {MAX_LINES} lines"


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


def test_only_the_files_room_opens_what_is_under_the_root():
    opens, foreign = set(), set()
    for module, path in modules("zeno"):
        inner = module.removeprefix("zeno.")
        calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
        if OPENING & {ast.unparse(call.func) for call in calls} and not inner.startswith("files."):
            opens.add(inner)
        if any(name.partition(".")[0] in ("ctypes", "_ctypes", "cffi") for name in imported(path)):
            foreign.add(inner)
    assert opens == set(OPENS_OTHER_FILES)
    assert foreign == set(USES_CTYPES)


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
