"""stat: return kind, size and modification time of paths."""

import os
import stat as modes
import time

from contract_models.zeno.ops.stat import StatArgs, StatItem, StatResult
from pydantic import MISSING

from zeno.errors import PermissionDenied
from zeno.files.file_tree import FileTree
from zeno.meter import Meter
from zeno.search.corpus import Corpus

# With this many paths, loading openat2 pays off.
MANY = 100
# The calendar repeats every 400 years, so the system's functions serve for every year.
_CYCLE_YEARS, _CYCLE_SECONDS = 400, 146_097 * 86_400


def stat(args: StatArgs, corpus: Corpus, meter: Meter) -> StatResult:
    """Return one item for each path, `path` first."""
    asked = [] if args.path is MISSING else [(args.path, "args.path")]
    if args.paths is not MISSING:
        asked += [(path, f"args.paths[{index}]") for index, path in enumerate(args.paths)]
    if len(asked) > MANY:
        corpus.tree.load_openat2()
    items = [_item(path, field, corpus.tree) for path, field in meter.checked(asked)]
    meter.files_scanned += len(items)
    return StatResult(items=items, metrics=meter.stop())


def _item(path: str, field: str, tree: FileTree) -> StatItem:
    try:
        resolved, status = tree.place(path, field)
    except PermissionDenied as error:
        return StatItem(path=path, exists=False, is_file=False, is_dir=False, error=str(error))
    if status is None:
        return StatItem(path=resolved, exists=False, is_file=False, is_dir=False, error="nothing is at this path")
    return _existing(resolved, status)


def _existing(path: str, status: os.stat_result) -> StatItem:
    return StatItem(
        path=path,
        exists=True,
        size=status.st_size,
        mtime=status.st_mtime,
        mtime_iso=_iso(status.st_mtime_ns // 1_000_000_000),
        is_file=modes.S_ISREG(status.st_mode),
        is_dir=modes.S_ISDIR(status.st_mode),
    )


def _iso(seconds: int) -> str:
    cycles, rest = divmod(seconds, _CYCLE_SECONDS)
    date = time.gmtime(rest)
    year = date.tm_year + cycles * _CYCLE_YEARS
    return f"{'-' if year < 0 else ''}{abs(year):04d}-{time.strftime('%m-%dT%H:%M:%SZ', date)}"
