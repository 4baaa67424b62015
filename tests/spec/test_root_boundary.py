"""Only `zeno/files` opens anything under the root.

Everything is forbidden elsewhere unless it is listed here. A module outside `zeno/files` may import what is known to
open no file, and may use the functions of `os` that work on descriptors, processes and strings. Anything more is listed
in REACHES for that module, with a reason: it opens something that is never under the root.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Modules of Python and of other distributions that open no file by a name that the caller gives.
_MODULES = (
    "argparse array asyncio base64 binascii bisect collections concurrent contextlib dataclasses datetime decimal enum"
    " difflib errno fcntl functools gc h11 hashlib heapq hmac html http ipaddress itertools json logging math operator"
    " abc os platform pydantic pydantic_core re re2 resource select shlex signal socket stat string stringzilla"
    " struct sys termios textwrap threading _thread time typing unicodedata urllib zeno contract_models"
    " contract_spec copy fnmatch zlib"
)
OPENS_NOTHING = set(_MODULES.split())
# Functions of `os` that neither open, list or look up a name nor start a program.
_OF_OS = (
    "O_APPEND O_CLOEXEC O_CREAT O_NOCTTY O_NONBLOCK O_PATH O_RDONLY O_RDWR O_WRONLY PathLike SEEK_END WNOHANG _exit"
    " close cpu_count curdir devnull dup dup2 environ fdopen fork fsdecode fsencode fspath fstat getpid getppid kill"
    " nice path pipe pread read sched_getaffinity set_blocking set_inheritable stat_result strerror waitpid write"
    " geteuid"
)
OS_OPENS_NOTHING = set(_OF_OS.split())
PATH_OPENS_NOTHING = {"abspath", "basename", "dirname", "expanduser", "join", "samestat"}
# Parts of those modules that do open files or start programs.
DO_OPEN = {"create_subprocess_exec", "create_subprocess_shell", "subprocess_exec", "subprocess_shell", "FileHandler"}
DO_OPEN |= {"urllib.request", "logging.handlers", "logging.config", "json.tool", "http.server", "sys.modules"}
# Names that are always there and can open a file or run code that does.
BUILTINS = {"open", "exec", "eval", "compile", "__import__", "__builtins__", "breakpoint"}

REACHES = {
    "__main__": {"zeno_normalizer": "the console scripts"},
    "index.piece_index": {"subprocess": "starts zeno.index.signatures, which gets texts through a pipe"},
    "cache.watch": {"ctypes": "inotify(7)", "open": "limits of the kernel", "os.open": "the list of mounts"},
    "cache.warm_corpus": {"importlib": "imports modules of zeno in advance"},
    "cli.help_format": {"shutil": "the width of the terminal"},
    "cli.reference": {"importlib": "the version", "pydoc": "the pager of whoever reads a page of the docs"},
    "cli.install.checks": {"importlib": "what is installed", "open": "limits of the kernel"},
    "cli.parser": {"importlib": "the version", "io": "types", "open": "standard streams", "os.open": "the null device"},
    "cli.policy_flags": {"open": "a list of globs to deny"},
    "cli.printing": {"os.open": "the null device", "shutil": "the width of the terminal"},
    "cli.trace_parser": {"importlib": "imports one command of zeno.cli"},
    "cli.trace_read": {"open": "a trace, and the page made of it"},
    "cli.trace_source": {"open": "a trace"},
    "cli.trace_write": {"open": "a trace", "os.stat": "the size of that trace", "subprocess": "a server"},
    "client": {"asyncio.create_subprocess_exec": "starts a server", "subprocess": "starts a server"},
    "code.helper": {"ctypes": "prctl(2)", "subprocess": "starts itself; it gets texts through a pipe"},
    "code.syntax": {"importlib": "a grammar", "tree_sitter": "parses texts, in a process of its own"},
    "confinement.landlock": {
        "ctypes": "landlock(7)",
        "os.listdir": "folders of the system, to allow what is in them",
        "os.open": "folders of Python and of the system, to allow them",
        "os.path.isdir": "folders of Python and of the system",
    },
    "confinement.seccomp": {"ctypes": "seccomp(2)", "os.listdir": "threads of this process", "os.uname": "machine"},
    "confinement.needs": {
        "open": "which libraries the kernel has loaded",
        "site": "folders of Python",
        "sys.modules": "which modules are imported",
        "sysconfig": "folders of Python",
    },
    "interfaces.http.access": {"open": "the token file", "starlette": "HTTP"},
    "interfaces.http.app": {"importlib": "the OpenAPI document", "starlette": "HTTP", "uvicorn": "HTTP"},
    "interfaces.http.connections": {"uvicorn": "HTTP"},
    "interfaces.http.incoming": {"starlette": "HTTP"},
    "interfaces.http.mcp_endpoint": {"mcp": "MCP", "starlette": "HTTP"},
    "interfaces.http.mcp_sessions": {"starlette": "HTTP"},
    "interfaces.http.problems": {"starlette": "HTTP"},
    "interfaces.http.streams": {"starlette": "HTTP"},
    "interfaces.mcp.client_roots": {"mcp": "MCP", "mcp_types": "MCP"},
    "interfaces.mcp.standard_io": {"mcp": "MCP", "os.isatty": "whether a person types"},
    "interfaces.result_text": {"importlib": "the text of an operation"},
    "interfaces.mcp.tool_list": {"mcp_types": "MCP"},
    "interfaces.mcp.tools": {"importlib": "the version", "mcp": "MCP", "mcp_types": "MCP"},
    "interfaces.shell": {"os.makedirs": "the folder of the history", "readline": "the history of the shell"},
    "index.signatures": {"numpy": "arrays; it runs in a process of its own and gets texts through a pipe"},
    "search.fork_helper": {"marshal": "results of a copy of its process", "os.listdir": "threads of its own process"},
    "session.dispatch": {"importlib": "imports one operation of zeno.ops"},
    "forked": {"ctypes": "prctl(2)", "os.listdir": "descriptors of its own process"},
    "session.outcome": {"pickle": "copies an outcome or an error from a fork"},
    "trace.log": {"open": "the log", "os.open": "the log"},
    "trace.page.view": {"importlib": "the template of the page"},
    "trace.recorder": {"open": "the log"},
    "trace.writer": {"importlib": "the version"},
}


def reaches(source: str) -> set[str]:
    """Return what a module uses that could open a file: `open`, `os.stat`, `ctypes`, `pathlib`, ..."""
    tree = ast.parse(source)
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    asked = {id(arg) for call in calls if ast.unparse(call.func) == "hasattr" for arg in call.args}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found |= _by_import(alias.name)
                # Under another name it could not be seen what is used of it.
                found |= {f"{alias.name} as {alias.asname}"} if alias.asname and _is_os(alias.name) else set()
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found |= _by_import(module)
            for alias in node.names:
                full = f"{module}.{alias.name}"
                found |= _by_attribute(full) if _is_os(module) else {full} & DO_OPEN
        elif isinstance(node, ast.Name) and node.id in BUILTINS:
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found |= _by_attribute(ast.unparse(node))
        # `os` without a dot behind it could go anywhere: getattr(os, ...), f(os.path).
        if isinstance(node, (ast.Name, ast.Attribute)) and id(node) not in inner | asked and _is_os(ast.unparse(node)):
            found.add(ast.unparse(node))
    return found


def _is_os(name: str) -> bool:
    return name in ("os", "os.path")


def _by_import(module: str) -> set[str]:
    top = module.partition(".")[0]
    return ({top} - OPENS_NOTHING) | ({module} & DO_OPEN)


def _by_attribute(name: str) -> set[str]:
    """Return the dotted name if it is a part of `os` or of another module that can open something."""
    owner, _, attribute = name.rpartition(".")
    if owner == "os" and attribute not in OS_OPENS_NOTHING:
        return {name}
    if owner == "os.path" and attribute not in PATH_OPENS_NOTHING:
        return {name}
    # `walk.os.open`: os by way of a module that imports it.
    indirect = attribute in ("os", "io", "pathlib", "posix")
    return {name} if indirect or name in DO_OPEN or attribute in DO_OPEN else set()


def test_only_the_files_room_opens_what_is_under_the_root():
    found = {}
    for path in sorted((ROOT / "zeno").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT / "zeno").with_suffix("").parts)
        if not module.startswith("files.") and (used := reaches(path.read_text(encoding="utf-8"))):
            found[module] = used
    assert found == {module: set(reasons) for module, reasons in REACHES.items()}


@pytest.mark.parametrize(
    "source",
    [
        "open('x')",
        "read = open",
        "class Reader:\n    opener = staticmethod(open)",
        "import os\nos.open('x', 0)",
        "import os\nos.scandir(3)",
        "import os\nos.access('x', 4)",
        "import os\nos.path.exists('x')",
        "import os\nos.execv('/bin/cat', [])",
        "import os as system\nsystem.open('x', 0)",
        "from os import open as reach\nreach('x', 0)",
        "from os.path import exists\nexists('x')",
        "import os\ngetattr(os, 'op' + 'en')('x', 0)",
        "import posix\nposix.open('x', 0)",
        "from zeno.files import walk\nwalk.os.open('x', 0)",
        "import sys\nsys.modules['os'].open('x', 0)",
        "def lazily():\n    import ctypes\n    ctypes.CDLL(None).open(b'x', 0)",
        "import cffi",
        "from mmap import mmap",
        "import subprocess\nsubprocess.run(['cat', 'x'])",
        "from pathlib import Path\nPath('x').read_text()",
        "import io\nio.open_code('x')",
        "import io\nio.FileIO('x')",
        "import asyncio\nasyncio.create_subprocess_exec('cat', 'x')",
        "import urllib.request",
        "from urllib import request",
        "import logging\nlogging.FileHandler('x')",
        "import numpy\nnumpy.memmap('x')",
        "import shutil\nshutil.copyfile('x', 'y')",
        "import sqlite3\nsqlite3.connect('x')",
        "import glob\nglob.glob('*')",
        "import linecache\nlinecache.getlines('x')",
        "import tokenize\ntokenize.open('x')",
        "import zipfile, tarfile",
        "import fileinput",
        "import builtins\nbuiltins.open('x')",
        "__import__('os').open('x', 0)",
        "exec('import os')",
        "from importlib import import_module\nimport_module('os').open('x', 0)",
        "import a_package_that_nobody_looked_at",
    ],
)  # fmt: skip
def test_every_other_way_to_a_file_is_seen(source):
    assert reaches(source)


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos.close(3)",
        "import os.path\nos.path.join('a', 'b')",
        "from os import PathLike",
        "def f(tree):\n    return tree.open('x')",
        "import re\nre.compile('x')",
        "import os\nhasattr(os, 'fork')",
        "from urllib.parse import unquote",
    ],
)
def test_work_on_descriptors_strings_and_the_tree_is_free(source):
    assert reaches(source) == set()
