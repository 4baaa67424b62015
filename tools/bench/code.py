"""Race of the operations on code: find_symbols, find_references and scopes, beside ctags and ripgrep on one tree."""

import tempfile
from pathlib import Path

from tools.bench.queries import EACH, sample
from tools.bench.servers import EVERYWHERE, Server, print_header, print_row, serve, take_turns, timed


def race(root: Path, rounds: int) -> None:
    """Print medians and minima in milliseconds, each beside the goal and another program's time."""
    with serve(root) as server, tempfile.TemporaryDirectory() as folder_of_tags:
        print(f"{root}: ready after {server.warm():.1f} s, {server.all_processor_seconds:.1f} s of processors")
        rare, common = _names(server, root, 1, 5), _names(server, root, 100, 200)
        inner = max((path for path in root.rglob("*") if path.is_dir() and _count(path) < 100), key=_count)
        print(f"rare {', '.join(rare)}; 100-200 lines {', '.join(common)}; folder {inner}, {_count(inner)} files")
        tags = Path(folder_of_tags) / "tags"
        seconds = timed(["ctags", "-R", "-f", str(tags), "."], root).seconds
        print(f"ctags: index of {tags.stat().st_size / 1e6:.0f} MB after {seconds:.1f} s")
        print_header(root, "operations on code")
        _race_warm(server, root, tags, (rare, common, str(inner.relative_to(root))), rounds)
    times = take_turns(
        len(rare),
        lambda number: _find_cold(root, rare[number]),
        lambda number: timed(["rg", "-w", rare[number]], root).seconds,
    )
    print_row("find_symbols, cold", times, "2 times rg -w")


def _race_warm(server: Server, root: Path, tags: Path, asked: tuple[list[str], list[str], str], rounds: int) -> None:
    rare, common, inner = asked

    def ask(op: str, **args: object) -> float:
        return server.ask(op, **args, **EVERYWHERE)[0]

    def run(*command: str) -> float:
        return timed(command, root).seconds

    times = take_turns(
        rounds * len(rare),
        lambda number: ask("find_symbols", name=rare[number % len(rare)]),
        lambda number: run("readtags", "-t", str(tags), rare[number % len(rare)]),
    )
    print_row("find_symbols, rare name", times, "5 ms; readtags")
    times = take_turns(
        rounds,
        lambda _: ask("find_symbols", paths=[inner], max_symbols=200),
        lambda _: run("ctags", "-R", "-f", "-", inner),
    )
    print_row("find_symbols, outline of a folder", times, "20 ms; ctags of the folder")
    greps = [{"pattern": rf"\b{name}\b", "regex": True} for name in common]
    times = take_turns(
        rounds * len(common),
        lambda number: ask("grep", scope=True, **greps[number % len(common)]),
        lambda number: ask("grep", **greps[number % len(common)]),
    )
    print_row("grep with scope, 100-200 lines", times, "2 times the same grep")
    times = take_turns(
        rounds * len(common),
        lambda number: ask("find_references", name=common[number % len(common)]),
        lambda number: run("rg", "-w", common[number % len(common)]),
    )
    print_row("find_references, 100-200 lines", times, "60 ms; rg -w")


def _find_cold(root: Path, name: str) -> float:
    """Return the seconds of the first find_symbols of a new server, without its start."""
    with serve(root, "--no-cache") as server:
        server.ask("stat", paths=["."])
        return server.ask("find_symbols", name=name, **EVERYWHERE)[0]


def _names(server: Server, root: Path, least: int, most: int) -> list[str]:
    """Return identifiers that the tree defines and that so many lines have."""
    found = []
    for name in sorted(sample(root).words):
        _, result = server.grep(rf"\b{name}\b", regex=True, output="count")
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
