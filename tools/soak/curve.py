"""The curve of a soak: what each server held over time, as CSV and as a picture."""

import csv
import statistics
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from tools.soak.servers import Cost

HEAD = ("server", "minutes", "requests", *Cost._fields)


class Point(NamedTuple):
    """The resources that one server held at one moment."""

    server: str
    minutes: float
    requests: int
    cost: Cost


# A process may hold this much more in the last quarter of the time than in the second: caches fill, allocators keep.
_MORE_MEMORY = 1.15
_MORE_DESCRIPTORS = 4
_MORE_THREADS = 1
_FEWEST = 12

_WIDTH, _HEIGHT, _LEFT, _GAP = 640, 130, 70, 46
_COLOURS = ("#1b6ca8", "#b3541e", "#3c7a3c", "#7a4f9a")
_TITLES = {"resident_kib": "resident memory, MiB", "descriptors": "open descriptors", "threads": "threads"}


def append(path: Path, points: list[Point]) -> None:
    """Add points to a CSV file; make it, with a head, if there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(HEAD)
        writer.writerows([point.server, f"{point.minutes:.2f}", point.requests, *point.cost] for point in points)


def read(path: Path) -> dict[str, list[Point]]:
    """Return the points of a CSV file by server."""
    found: dict[str, list[Point]] = defaultdict(list)
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            cost = Cost(*(int(row[name]) for name in Cost._fields))
            found[row["server"]].append(Point(row["server"], float(row["minutes"]), int(row["requests"]), cost))
    return dict(found)


def grown(name: str, costs: list[Cost]) -> list[str]:
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


def picture(points: dict[str, list[Point]]) -> str:
    """Return an SVG with one panel each for memory, descriptors and threads, and one line for each server."""
    end = max(point.minutes for found in points.values() for point in found) or 1.0
    height = len(_TITLES) * (_HEIGHT + _GAP) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDTH + 20} {height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for at, (name, colour) in enumerate(zip(points, _COLOURS, strict=False)):
        parts.append(f'<text x="{_LEFT + at * 130}" y="18" fill="{colour}">{name}</text>')
    for number, (field, title) in enumerate(_TITLES.items()):
        parts += _panel(points, field, title, 34 + number * (_HEIGHT + _GAP), end)
    return "\n".join([*parts, "</svg>\n"])


def _panel(points: dict[str, list[Point]], field: str, title: str, top: int, end: float) -> list[str]:
    unit = 1024 if field == "resident_kib" else 1
    most = max(getattr(point.cost, field) / unit for found in points.values() for point in found) * 1.1
    parts = [
        f'<text x="{_LEFT}" y="{top + 10}">{title}</text>',
        f'<rect x="{_LEFT}" y="{top + 16}" width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="#999999"/>',
        f'<text x="{_LEFT - 6}" y="{top + 26}" text-anchor="end">{most:.0f}</text>',
        f'<text x="{_LEFT - 6}" y="{top + 16 + _HEIGHT}" text-anchor="end">0</text>',
        f'<text x="{_LEFT + _WIDTH}" y="{top + 30 + _HEIGHT}" text-anchor="end">{end:.0f} minutes</text>',
    ]
    for found, colour in zip(points.values(), _COLOURS, strict=False):
        line = " ".join(
            f"{_LEFT + point.minutes / end * _WIDTH:.1f},"
            f"{top + 16 + _HEIGHT - getattr(point.cost, field) / unit / most * _HEIGHT:.1f}"
            for point in found
        )
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
    return parts
