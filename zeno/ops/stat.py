"""stat: return kind, size and modification time of paths."""

import time

from contract_models.zeno.ops.stat import StatArgs, StatItem, StatResult
from pydantic import MISSING

from zeno.errors import InvalidArgs, PermissionDenied
from zeno.files.batch_open import FILE, FOLDER
from zeno.files.file_tree import Entry, FileTree
from zeno.meter import Meter
from zeno.search.corpus import Corpus

# The calendar repeats every 400 years, so the system's functions serve for every year.
_CYCLE_YEARS, _CYCLE_SECONDS = 400, 146_097 * 86_400


def stat(args: StatArgs, corpus: Corpus, meter: Meter) -> StatResult:
    """Return one item for each path, `path` first."""
    asked = [] if args.path is MISSING else [(args.path, "args.path")]
    if args.paths is not MISSING:
        asked += [(path, f"args.paths[{index}]") for index, path in enumerate(args.paths)]
    if not asked:
        raise InvalidArgs("args must have path or paths")
    items = [_item(path, field, corpus.tree) for path, field in meter.check_each(asked)]
    meter.files_scanned += len(items)
    return StatResult(items=items, metrics=meter.stop())


def _item(path: str, field: str, tree: FileTree) -> StatItem:
    try:
        resolved, entry = tree.place(path, field)
    except PermissionDenied as error:
        return StatItem(path=path, exists=False, is_file=False, is_dir=False, error=str(error))
    if entry is None:
        return StatItem(path=resolved, exists=False, is_file=False, is_dir=False, error="nothing is at this path")
    return _describe(resolved, entry)


def _describe(path: str, entry: Entry) -> StatItem:
    seconds, nanoseconds = divmod(entry.mtime_ns, 10**9)
    return StatItem(
        path=path,
        exists=True,
        size=entry.size,
        # Rounded as Python rounds a time of the system.
        mtime=seconds + 1e-9 * nanoseconds,
        mtime_iso=_iso(seconds),
        is_file=entry.kind == FILE,
        is_dir=entry.kind == FOLDER,
    )


def _iso(seconds: int) -> str:
    cycles, rest = divmod(seconds, _CYCLE_SECONDS)
    date = time.gmtime(rest)
    year = date.tm_year + cycles * _CYCLE_YEARS
    return f"{'-' if year < 0 else ''}{abs(year):04d}-{time.strftime('%m-%dT%H:%M:%SZ', date)}"
