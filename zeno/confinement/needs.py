"""Files that a server still opens after its start, besides those below the root.

Python imports modules when they are first used, and the index is computed by a second Python. Both need the standard
library, installed packages and system libraries. None of these folders holds documents of users. The current directory
is not among them, even where Python would import from it.
"""

import os
import re
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator

from zeno.confinement.landlock import EXECUTE, READ_DIR, READ_FILE, WRITE_FILE, AccessRule

_READ = READ_FILE | READ_DIR
_SYSTEM_LIBRARIES = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib")
_FILES = (
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/proc/sys/fs/inotify/max_user_watches",
    "/sys/devices/system/cpu",
)
_LOADER = re.compile(r"ld[-.].*\.so(\.\d+)*$|ld\.so$")


def rules(roots: Iterable[int], log: str | None) -> list[AccessRule]:
    """Return what a server of these open roots needs: reading, running Python again, and the log if there is one."""
    folders = {*_SYSTEM_LIBRARIES, *_FILES, *_find_installed()}
    folders |= {path for path in _find_loaded() if not any(path.startswith(folder + "/") for folder in folders)}
    return [
        *((root, _READ) for root in roots),
        ("/proc/self", _READ),
        # A forked copy of the server lists its own descriptors, and has another number there.
        ("/proc", READ_DIR),
        *((path, READ_FILE | WRITE_FILE) for path in (os.devnull, log) if path is not None),
        *((path, _READ) for path in sorted(folders)),
        *((path, READ_FILE | EXECUTE) for path in sorted({sys.executable, *_loaders()})),
    ]


def _find_installed() -> Iterator[str]:
    """Yield the folders of the standard library and of packages, and the settings of a virtual environment."""
    for name in ("stdlib", "platstdlib", "purelib", "platlib"):
        yield sysconfig.get_path(name)
    yield from site.getsitepackages()
    # Other folders of installed packages, such as the user's own or one that a .pth file names.
    yield from (path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages"))
    for prefix in {sys.prefix, sys.base_prefix}:
        yield os.path.join(prefix, "pyvenv.cfg")
        # The library of Python itself, where it is not the system's.
        yield os.path.join(prefix, "lib")


def _find_loaded() -> Iterator[str]:
    """Yield the folders of packages and the files of modules that are imported already, wherever they are installed."""
    for name, module in list(sys.modules.items()):
        if "." not in name and name != "__main__":
            yield from (str(path) for path in getattr(module, "__path__", ()))
            yield from filter(None, (getattr(module, "__file__", None),))


def _loaders() -> Iterator[str]:
    """Yield the dynamic loader, which the kernel runs to start Python again."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            path = line.rstrip("\n").partition("/")[2]
            if _LOADER.match(os.path.basename(path)):
                yield "/" + path
