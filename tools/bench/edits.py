"""A tree that changes while it is searched: no answer may be stale, and none may take long.

All happens on a copy of a tree. After every change a warm server is asked at once; a server without a cache is asked
the same, and the answers must be equal. Times are compared with ripgrep's on the same tree.
"""

import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

from tools.bench import ripgrep
from tools.bench.queries import sample
from tools.bench.servers import Server, git, serve, timed

EDITS, EDITS_A_MINUTE = 500, 1000
CHECKOUTS = 6
CREATED, CREATED_AT_ONCE = 20_000, 1000
# A server without a cache reads the whole tree: of the single edits every so many are compared with its answer, and
# each is looked for in the answer of the warm one.
COMPARED = 10
GOAL = 3.0

Query = dict[str, Any]


class Phase(NamedTuple):
    """Measurements taken while a tree changed in one way."""

    name: str
    seconds: list[float]
    """Seconds of every answer of the warm server."""
    processor: list[float]
    """Processor time of these answers, which hardly depends on what else the machine does."""
    ripgrep: list[tuple[float, float]]
    """Seconds and processor time of ripgrep for some of the requests."""
    compared: int
    stale: int


class Pair:
    """A warm server and one without a cache, on one tree."""

    def __init__(self, root: Path, warm: Server, plain: Server) -> None:
        self._root = root
        self._warm = warm
        self._plain = plain
        self._seen = Phase("", [], [], [], 0, 0)

    def ask(self, query: Query, expected: str | None = None, *, compare: bool = True) -> None:
        """Ask both, or only the warm one, and expect this text in one of its hits."""
        before = self._warm.processor_seconds
        seconds, result = self._warm.grep(**query)
        self._seen.seconds.append(seconds)
        self._seen.processor.append(self._warm.processor_seconds - before)
        stale = expected is not None and not any(expected in hit["text"] for hit in result["hits"])
        if compare:
            self._seen.ripgrep.append(timed(ripgrep.command(query["pattern"], query), self._root)[:2])
            _, plain = self._plain.grep(**query)
            for one in (result, plain):
                del one["metrics"]
            stale = stale or result != plain
        self._seen = self._seen._replace(compared=self._seen.compared + compare, stale=self._seen.stale + stale)

    def phase(self, name: str) -> Phase:
        """Return what was seen since the last call."""
        found, self._seen = self._seen._replace(name=name), Phase("", [], [], [], 0, 0)
        return found


def race(tree: Path, seed: int) -> None:
    """Change a copy of a tree in three ways and print what was seen."""
    with tempfile.TemporaryDirectory(prefix="zeno-bench-") as folder:
        root = Path(folder, "tree")
        shutil.copytree(tree, root, symlinks=True)
        words = sorted(word for word, count in sample(root).words.items() if count == 1)
        queries: list[Query] = [{"pattern": word} for word in words[:: max(1, len(words) // 7)]]
        queries += [{"pattern": "return"}, {"pattern": words[0], "gitignore": True}]
        git(root, "init", "-q")
        _commit(root, "first")
        with serve(root) as warm, serve(root, "--no-cache") as cold:
            waited = warm.warm()
            print(f"\n{tree}: a copy that changes; warm after {waited:.1f} s; milliseconds, and processor time (cpu)")
            print(
                f"{'':30} {'answers':>7} {'stale':>5} {'p50':>8} {'p99':>9} {'rg p50':>8} {'ratio':>7} "
                f"{'cpu p99':>8} {'rg cpu':>7} {'ratio':>7}  goal"
            )
            pair = Pair(root, warm, cold)
            for change in (_edits, _checkouts, _creations):
                for phase in change(root, pair, queries, random.Random(seed)):
                    _show(phase)


def _show(phase: Phase) -> None:
    p99, cpu = (quantiles(one, n=100, method="inclusive")[98] * 1e3 for one in (phase.seconds, phase.processor))
    theirs, their_cpu = (median(column) * 1e3 for column in zip(*phase.ripgrep, strict=True))
    met = "met" if p99 <= GOAL * theirs and not phase.stale else "missed"
    print(
        f"{phase.name:30} {len(phase.seconds):7} {phase.stale:5} {median(phase.seconds) * 1e3:8.2f} {p99:9.2f} "
        f"{theirs:8.2f} {p99 / theirs:6.2f}x {cpu:8.2f} {their_cpu:7.2f} {cpu / their_cpu:6.2f}x "
        f"{GOAL:3.0f}x at most, {met}",
        flush=True,
    )


def _edits(root: Path, pair: Pair, queries: list[Query], dice: random.Random) -> Iterator[Phase]:
    """Append to, rewrite or replace one file, then ask for what was written; a thousand times a minute."""
    files = [path for path in sorted(root.rglob("*.*")) if _is_text(root, path)]
    start = time.monotonic()
    for number in range(EDITS):
        path, word = dice.choice(files), f"edit_{number}_zqxj"
        _ways(path, word)[number % 3]()
        pair.ask({"pattern": word}, word, compare=number % COMPARED == 0)
        if number % COMPARED == 5:
            pair.ask(queries[number // COMPARED % len(queries)])
        time.sleep(max(0.0, start + (number + 1) * 60 / EDITS_A_MINUTE - time.monotonic()))
    rate = EDITS / (time.monotonic() - start) * 60
    yield pair.phase(f"{rate:.0f} edits a minute")


def _ways(path: Path, word: str) -> list[Callable[[], object]]:
    def append() -> None:
        with path.open("ab") as file:
            file.write(f"\n{word}\n".encode())

    def rewrite() -> None:
        path.write_bytes(path.read_bytes() + f"{word}\n".encode())

    def replace() -> None:
        new = path.with_name(f"{path.name}.new")
        new.write_bytes(path.read_bytes() + f"{word}\n".encode())
        new.rename(path)

    return [append, rewrite, replace]


def _is_text(root: Path, path: Path) -> bool:
    if "/." in f"/{path.relative_to(root)}" or path.is_symlink() or not path.is_file():
        return False
    return path.stat().st_size < 200_000 and b"\0" not in path.read_bytes()[:8192]


def _checkouts(root: Path, pair: Pair, queries: list[Query], dice: random.Random) -> Iterator[Phase]:
    """Switch between two branches that differ in a third of the files, and ask at once."""
    _commit(root, "edited")
    git(root, "branch", "-q", "one")
    files = [path for path in sorted(root.rglob("*.*")) if _is_text(root, path)]
    for path in dice.sample(files, len(files) // 3):
        way = dice.random()
        if way < 0.1:
            path.unlink()
        elif way < 0.2:
            path.rename(path.with_name(f"moved_{path.name}"))
        else:
            path.write_bytes(b"branch_two_zqxj\n" + path.read_bytes())
    _commit(root, "two")
    git(root, "branch", "-q", "two")
    pair.ask(queries[0])
    pair.phase("")
    for number in range(CHECKOUTS):
        git(root, "checkout", "-q", ("one", "two")[number % 2])
        for query in [{"pattern": "branch_two_zqxj"}, *queries]:
            pair.ask(query)
    yield pair.phase(f"{CHECKOUTS} checkouts")


def _creations(root: Path, pair: Pair, queries: list[Query], dice: random.Random) -> Iterator[Phase]:
    """Create files, a thousand between two requests, and then all of them at once between two."""
    for name, each in (
        (f"{CREATED} files created, by {CREATED_AT_ONCE}", CREATED_AT_ONCE),
        ("as many at once", CREATED),
    ):
        for start in range(0, CREATED, each):
            word = f"created_{each}_{start}_zqxj"
            for number in range(start, start + each):
                path = root / f"new_{each}" / f"part{number // 200}" / f"file{number}.py"
                if number % 200 == 0:
                    path.parent.mkdir(parents=True)
                path.write_text(f"value = {dice.randrange(10**6)}\n{word if number == start + each - 1 else ''}\n")
            pair.ask({"pattern": word}, word)
            pair.ask(queries[start // each % len(queries)])
        for query in queries:
            pair.ask(query)
        yield pair.phase(name)


def _commit(root: Path, message: str) -> None:
    git(root, "add", "-A", "-f")
    git(root, "commit", "-q", "--allow-empty", "-m", message)
