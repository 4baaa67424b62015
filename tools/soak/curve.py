"""The curve of a soak: what each server held over time, as CSV, and whether it grew."""

import csv
import statistics
from pathlib import Path

from tools.soak.servers import Cost

HEAD = ("server", "minutes", "requests", *Cost._fields)
# A process may hold this much more in the last quarter of the time than in the second: caches fill, allocators keep.
_MORE_MEMORY = 1.15
_MORE_DESCRIPTORS = 4
_MORE_THREADS = 1
_FEWEST = 12


def append(path: Path, row: list[object]) -> None:
    """Add a row to a CSV file; make it, with a head, if there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with path.open("a", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEAD, row] if new else [row])


def list_growth(name: str, costs: list[Cost]) -> list[str]:
    """Return what grew between the second and the last quarter; fewer than twelve points are not compared."""
    quarter = len(costs) // 4
    if len(costs) < _FEWEST:
        return []
    before, after = costs[quarter : 2 * quarter], costs[-quarter:]
    found = []
    for field, more in (("resident_kib", None), ("descriptors", _MORE_DESCRIPTORS), ("threads", _MORE_THREADS)):
        then, now = (statistics.median(getattr(cost, field) for cost in part) for part in (before, after))
        if now > (then * _MORE_MEMORY if more is None else then + more):
            found.append(f"{name}: {field} grew from {then:g} to {now:g}")
    return found
