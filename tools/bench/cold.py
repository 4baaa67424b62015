"""Races of servers that are not warm: the first grep, the way to a warm server, and more files than can be watched."""

import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tools.bench import ripgrep
from tools.bench.servers import ZENO, Server, timed

LIMIT = str(8 << 30)
# Files without a watch are held a minute after their last change.
SETTLED = 61


def print_row(name: str, ours: float, theirs: float, goal: float) -> None:
    """Print one race in milliseconds: how many times faster we are, and how many times faster we mean to be."""
    ratio = theirs / ours
    met = "met" if ratio >= goal else "missed"
    print(f"{name:40} {ours * 1e3:10.2f} {theirs * 1e3:10.2f} {ratio:8.2f}x {goal:6.2f}x {met}", flush=True)


def print_header(root: Path, what: str) -> None:
    """Print the head of a table."""
    print(f"\n{root}: {what}\n{'':40} {'zeno ms':>10} {'other ms':>10} {'ratio':>9} {'goal':>7}", flush=True)


def race(root: Path, rounds: int) -> None:
    """The first grep of a new server against ripgrep, and how soon a server is warm whose client never pauses."""
    print_header(root, "servers that have just started; medians")
    for name, patterns in _first_patterns(root).items():
        ours, theirs = [], []
        for number in range(rounds):
            pattern = patterns[number % len(patterns)]
            with Server([*ZENO, str(root), "--cache-bytes", LIMIT]) as server:
                server.ask("stat", path=".")
                ours.append(server.ask("grep", pattern=pattern, max_files=10_000_000)[0])
            theirs.append(timed(ripgrep.command(pattern, {}), str(root))[0])
        print_row(f"first grep, {name}", median(ours), median(theirs), 1 / 1.5)
    idle, never = _seconds_to_warm(root, pause=1.0), _seconds_to_warm(root, pause=0.0)
    met = "met" if never <= 3 * idle else "missed"
    print(f"warm after {idle:.1f} s with a pause of a second between requests, after {never:.1f} s without pauses: ")
    print(f"{never / idle:.2f} times as long, goal 3 at most, {met}", flush=True)


def _first_patterns(root: Path) -> dict[str, list[str]]:
    """Return literals that are in no file, and identifiers of some files."""
    from tools.bench.queries import sample

    words = sorted(word for word, count in sample(root).words.items() if count == 1)
    return {"no match": ["zqxjzqxj", "qzxyqzxy"], "an identifier": words[:: max(1, len(words) // 5)][:5]}


def _seconds_to_warm(root: Path, pause: float) -> float:
    with Server([*ZENO, str(root), "--cache-bytes", LIMIT]) as server:
        start = time.perf_counter()
        number = 0
        while not server.is_warm():
            # Send other requests in between, as clients do.
            for _ in range(4 if pause == 0 else 0):
                number += 1
                server.ask("grep", pattern=f"zq{number}xj", max_files=10_000_000)
            time.sleep(pause)
        return time.perf_counter() - start


def many(root: Path, files: int, rounds: int) -> None:
    """A generated tree of more files than can be watched, against ripgrep."""
    written = time.monotonic()
    write_small(root, files)
    watches = Path("/proc/sys/fs/inotify/max_user_watches").read_text().strip()
    print_header(root, f"{files} files; the user may watch {watches}; medians")
    with Server([*ZENO, str(root), "--cache-bytes", LIMIT]) as server:
        print(f"{'start to first answer':40} {server.ask('stat', path='.')[0] * 1e3:10.2f}", flush=True)
        first = server.ask("grep", pattern="zqxjzqxj", max_files=10_000_000)[0]
        print_row("first grep, no match", first, timed(ripgrep.command("zqxjzqxj", {}), str(root))[0], 1 / 1.5)
        # Ask while it prepares, as clients do; some requests stand between start and a warm server.
        while time.monotonic() - written < SETTLED:
            server.ask("grep", pattern="zqxjzqxj", max_files=10_000_000)
            time.sleep(1)
        print(f"warm after {server.warm():.1f} s more; memory {server.peak_bytes / 1e6:.0f} MB", flush=True)
        for name, goal, args, patterns in _warm_cases():
            ours, theirs = [], []
            for number in range(rounds):
                pattern = patterns[number % len(patterns)]
                ours.append(server.ask("grep", pattern=pattern, max_files=10_000_000, **args)[0])
                theirs.append(timed(ripgrep.command(pattern, args), str(root))[0])
            print_row(name, median(ours), median(theirs), goal)


def _warm_cases() -> Iterator[tuple[str, float, dict[str, object], list[str]]]:
    yield "no match", 2, {}, ["zqxjzqxj", "qzxyqzxy"]
    yield "one file", 1, {}, ["name_17_of_them", "name_4711_of_them"]
    yield "common word, capped", 1, {}, ["return", "value"]
    yield "one folder", 1, {"paths": ["part3/sub4"]}, ["return", "value"]


def write_small(root: Path, files: int) -> None:
    """Write that many files of about a kilobyte, a hundred in each directory."""
    dice = random.Random(1)
    words = [f"{first}_{second}" for first in ("get", "set", "make", "return", "value") for second in "abcdefghij"]
    for number in range(files):
        folder = root / f"part{number // 10_000}" / f"sub{number // 100 % 100}"
        if number % 100 == 0:
            os.makedirs(folder)
        lines = [f"    {dice.choice(words)} = {dice.choice(words)}({number}, {line})" for line in range(24)]
        with open(folder / f"file{number % 100}.py", "w", encoding="ascii") as file:
            file.write("\n".join([f"def name_{number}_of_them():", *lines, ""]))
