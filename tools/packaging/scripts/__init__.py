"""The console scripts of the distribution zeno-normalizer.

Other distributions install packages `zeno` and `normalizer` too, and may have replaced ours. A script that started in
such a package would run the other tool's code first. This module belongs to one distribution only: it reads
`__init__.py` of the package, and loads the package if that file is ours.
"""

import signal
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

DISTRIBUTION = "zeno-normalizer"


def zeno() -> int:
    """Run `zeno`."""
    return _start("zeno", "zeno.cli.start", "run")


def zeno_mcp() -> int:
    """Run `zeno-mcp`."""
    return _start("zeno", "zeno.cli.start", "run_mcp")


def normalizer() -> int:
    """Run `normalizer`, or `eval-normalizer`, which is the same."""
    return _start("normalizer", "normalizer.cli", "run")


def _start(package: str, module: str, function: str) -> int:
    """Call a function of one of our packages, and return its exit status: 2 if the package is not ours."""
    if not _is_ours(package):
        if sys.argv[1:2] not in (["doctor"], ["--doctor"]) or package != "zeno":
            print(
                f"{package}: another distribution has replaced files of the package '{package}' in this environment "
                f"(zeno-mcp --doctor says which); install {DISTRIBUTION} in an environment of its own: "
                f"uv tool install {DISTRIBUTION}",
                file=sys.stderr,
            )
            return 2
        _skip_init(package)
    raising = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if raising:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # while modules load, Ctrl-C ends the process without a traceback
    run: Callable[[], int] = getattr(import_module(module), function)
    if raising:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run()


def _is_ours(package: str) -> bool:
    """Return whether `__init__.py` of a package declares this distribution, without running it."""
    spec = find_spec(package)
    source = getattr(spec and spec.loader, "get_source", lambda _: None)
    try:
        return f'\nDISTRIBUTION = "{DISTRIBUTION}"\n' in (source(package) or "")
    except (ImportError, SyntaxError, UnicodeError):
        return False


def _skip_init(package: str) -> None:
    """Let modules of a package be imported without its `__init__.py`, which may fail: `zeno doctor` is to tell why."""
    spec = find_spec(package)
    empty = ModuleType(package)
    empty.__path__ = list(spec.submodule_search_locations or ()) if spec else []
    sys.modules[package] = empty
