"""Race of the operations on code: find_symbols, find_references and scopes, beside ctags and ripgrep on one tree."""

import os
import tempfile
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from tools.bench.queries import EACH, sample
from tools.bench.servers import ZENO, Server, timed

FLAGS = ["--cache-bytes", str(8 << 30)]
EVERYWHERE: dict[str, Any] = {"max_files": 10_000_000}


class _Row(NamedTuple):
    name: str
    ours: list[float]
    theirs: list[float]
    beside: str
    goal: str


def race(root: Path, rounds: int) -> None:
    """Print medians and minima in milliseconds, each beside the goal and another program's time."""
    with Server([*ZENO, str(root), *FLAGS]) as server, tempfile.TemporaryDirectory() as folder_of_tags:
        print(
            f"{root}: ready after {server.warm():.1f} s, {_processor_seconds(server):.1f} s of processors",
            flush=True,
        )
        rare, common = _names(server, root, 1, 5), _names(server, root, 100, 200)
        inner = max((path for path in root.rglob("*") if path.is_dir() and _count(path) < 100), key=_count)
        asked = (rare, common, str(inner.relative_to(root)))
        print(f"rare {', '.join(rare)}; 100-200 lines {', '.join(common)}; folder {asked[2]}, {_count(inner)} files")
        tags = Path(folder_of_tags) / "tags"
        seconds, _ = timed(["ctags", "-R", "-f", str(tags), "."], str(root))
        print(f"ctags: index of {tags.stat().st_size / 1e6:.0f} MB after {seconds:.1f} s", flush=True)
        rows = _warm(server, root, tags, asked, rounds)
    rows.append(_cold(root, rare))
    print(f"{'':36} {'zeno ms':>18} {'other ms':>18}  beside, goal")
    for row in rows:
        print(
            f"{row.name:36} {median(row.ours) * 1e3:9.2f} ({min(row.ours) * 1e3:6.2f}) "
            f"{median(row.theirs) * 1e3:9.2f} ({min(row.theirs) * 1e3:6.2f})  {row.beside}; {row.goal}",
            flush=True,
        )


def _warm(server: Server, root: Path, tags: Path, asked: tuple[list[str], list[str], str], rounds: int) -> list[_Row]:
    rare, common, inner = asked
    find, outline = {"name": rare, **EVERYWHERE}, {"paths": [inner], "max_symbols": 200, **EVERYWHERE}
    scoped = [{"pattern": rf"\b{name}\b", "regex": True, **EVERYWHERE} for name in common]
    return [
        _Row(
            "find_symbols, rare name",
            [server.ask("find_symbols", **{**find, "name": name})[0] for name in rare * rounds],
            [timed(["readtags", "-t", str(tags), name], str(root))[0] for name in rare * rounds],
            "readtags",
            "5 ms",
        ),
        _Row(
            "find_symbols, outline of a folder",
            [server.ask("find_symbols", **outline)[0] for _ in range(rounds)],
            [timed(["ctags", "-R", "-f", "-", inner], str(root))[0] for _ in range(rounds)],
            "ctags of the folder",
            "20 ms",
        ),
        _Row(
            "grep with scope, 20-200 lines",
            [server.ask("grep", scope=True, **args)[0] for args in scoped * rounds],
            [server.ask("grep", **args)[0] for args in scoped * rounds],
            "the same grep",
            "2 times",
        ),
        _Row(
            "find_references, 20-200 lines",
            [server.ask("find_references", name=name, **EVERYWHERE)[0] for name in common * rounds],
            [timed(["rg", "-w", name], str(root))[0] for name in common],
            "rg -w",
            "60 ms",
        ),
    ]


def _cold(root: Path, names: list[str]) -> _Row:
    """Return the first find_symbols of new servers, without their start, beside ripgrep."""
    ours, theirs = [], []
    for name in names:
        with Server([*ZENO, str(root), "--no-cache"]) as server:
            server.ask("stat", paths=["."])
            ours.append(server.ask("find_symbols", name=name, **EVERYWHERE)[0])
        theirs.append(timed(["rg", "-w", name], str(root))[0])
    return _Row("find_symbols, cold", ours, theirs, "rg -w", "2 times")


def _names(server: Server, root: Path, least: int, most: int) -> list[str]:
    """Return identifiers that the tree defines and that so many lines have."""
    found = []
    for name in sorted(sample(root).words):
        pattern = rf"\b{name}\b"
        _, result = server.ask("grep", pattern=pattern, regex=True, output="count", **EVERYWHERE)
        if (
            least <= result["total"]["lines"] <= most
            and server.ask("find_symbols", name=name, **EVERYWHERE)[1]["symbols"]
        ):
            found.append(name)
        if len(found) == EACH:
            break
    return found


def _count(folder: Path) -> int:
    return sum(1 for path in folder.iterdir() if path.is_file())


def _processor_seconds(server: Server) -> float:
    """Return the processor time of a server and of the processes it has ended."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
