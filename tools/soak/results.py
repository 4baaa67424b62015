"""Results of a soak: the curve of the resources that each server held, as CSV, and logs in which every line is an event
and every request has its answer."""

import csv
import statistics
from pathlib import Path

from tools.soak.servers import Cost
from zeno.trace import events

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


def problems(name: str, log: Path, torn: int, left: int) -> list[str]:
    """Return what is wrong with a log.

    At most `torn` lines may be incomplete, because the log could not grow, and at most `left` more requests
    unanswered, because their clients left.
    """
    pairing = events.Pairing()
    unreadable: list[tuple[str, str]] = []
    answered = 0
    with log.open("rb") as stream:
        for one in events.exchanges(events.read(stream), pairing):
            if isinstance(one, events.Exchange):
                answered += 1
            elif one.problem is not None:
                unreadable.append(one.problem)
    found = []
    if len(unreadable) > torn:
        found.append(f"{name}: {len(unreadable)} lines of the log cannot be read, first {unreadable[0]}")
    if len(pairing.list_unanswered()) > torn + left or not answered:
        found.append(
            f"{name}: {len(pairing.list_unanswered())} requests without an answer in the log, {answered} with one"
        )
    return found
