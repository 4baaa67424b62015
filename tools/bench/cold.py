"""Races of servers that are not warm: the first grep, the way to a warm server, and more files than can be watched."""

import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.bench import ripgrep
from tools.bench.queries import sample
from tools.bench.servers import print_header, print_row, serve, take_turns

# Files without a watch are held a minute after their last change.
SETTLED = 61


def race(root: Path, rounds: int) -> None:
    """The first grep of a new server against ripgrep, and how soon a server is warm whose client never pauses."""
    print_header(root, "servers that have just started")
    for name, patterns in _first_patterns(root).items():
        asked = [patterns[number % len(patterns)] for number in range(rounds)]
        ways = (lambda number: _first_grep(root, asked[number]), lambda number: ripgrep.time_grep(root, asked[number]))  # noqa: B023 - called at once
        print_row(f"first grep, {name}", take_turns(rounds, *ways), 1 / 1.5)
    idle, never = _seconds_to_warm(root, pause=1.0), _seconds_to_warm(root, pause=0.0)
    met = "met" if never <= 3 * idle else "missed"
    print(f"warm after {idle:.1f} s with a pause of a second between requests, after {never:.1f} s without pauses: ")
    print(f"{never / idle:.2f} times as long, goal 3 at most, {met}", flush=True)


def _first_grep(root: Path, pattern: str) -> float:
    with serve(root) as server:
        server.ask("stat", path=".")
        return server.grep(pattern)[0]


def _first_patterns(root: Path) -> dict[str, list[str]]:
    """Return literals that are in no file, and identifiers of some files."""
    words = sorted(word for word, count in sample(root).words.items() if count == 1)
    return {"no match": ["zqxjzqxj", "qzxyqzxy"], "an identifier": words[:: max(1, len(words) // 5)][:5]}


def _seconds_to_warm(root: Path, pause: float) -> float:
    with serve(root) as server:
        start = time.perf_counter()
        number = 0
        while not server.is_warm():
            # Send other requests in between, as clients do.
            for _ in range(4 if pause == 0 else 0):
                number += 1
                server.grep(f"zq{number}xj")
            time.sleep(pause)
        return time.perf_counter() - start


def many(root: Path, files: int, rounds: int) -> None:
    """A generated tree of more files than can be watched, against ripgrep."""
    written = time.monotonic()
    write_small(root, files)
    watches = Path("/proc/sys/fs/inotify/max_user_watches").read_text().strip()
    print_header(root, f"{files} files; the user may watch {watches}")
    with serve(root) as server:
        print(f"{'start to first answer':40} {server.ask('stat', path='.')[0] * 1e3:10.2f}", flush=True)
        first = server.grep("zqxjzqxj")[0]
        print_row("first grep, no match", [[first], [ripgrep.time_grep(root, "zqxjzqxj")]], 1 / 1.5)
        # Ask while it prepares, as clients do; some requests stand between start and a warm server.
        while time.monotonic() - written < SETTLED:
            server.grep("zqxjzqxj")
            time.sleep(1)
        print(f"warm after {server.warm():.1f} s more; memory {server.peak_bytes / 1e6:.0f} MB", flush=True)
        for name, goal, args, patterns in _warm_cases():
            asked = patterns * rounds
            times = take_turns(
                rounds,
                lambda number: server.grep(asked[number], **args)[0],  # noqa: B023 - called at once
                lambda number: ripgrep.time_grep(root, asked[number], **args),  # noqa: B023
            )
            print_row(name, times, goal)


def _warm_cases() -> Iterator[tuple[str, float, dict[str, Any], list[str]]]:
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
