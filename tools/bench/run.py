"""Side by side, in one run: Zeno against ripgrep and bare servers, with one table at the end.

python -m tools.bench.run                     generated trees of 7,000 and 18,000 files
python -m tools.bench.run --root DIR          any directory
python -m tools.bench.run --growth            how cost grows: 1,000 to 50,000 files
python -m tools.bench.run --tree DIR          a real tree: queries derived from it, ratios to ripgrep by class
python -m tools.bench.run --tree DIR --cold   the first grep of a new server; how soon it is warm
python -m tools.bench.run --tree DIR --edits  edits, a checkout and new files on a copy; every answer compared
python -m tools.bench.run --tree DIR --waits  how long a stat waits beside slow greps, over HTTP and MCP
python -m tools.bench.run --many 300000       more files than can be watched
"""

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

from tools.bench import cold, edits, races, real_tree, ripgrep, trees, waits
from tools.bench.servers import ZENO, Server

HEADER = f"{'':32} {'zeno ms':>18} {'other ms':>18} {'ratio':>8} {'goal':>8}"


def main(argv: list[str] | None = None) -> int:
    """Run the races; 0 even where a goal is missed: a benchmark is no test."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, metavar="DIR", help="measure on this directory instead of generated trees")
    parser.add_argument("--files", type=int, nargs="+", default=[7_000, 18_000], metavar="N", help="sizes of the trees")
    parser.add_argument("--growth", action="store_true", help="the same as --files 1000 5000 20000 50000")
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="rounds of each race (default: 15)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="another seed makes other patterns")
    parser.add_argument("--tree", type=Path, metavar="DIR", help="derive queries from this directory and race on it")
    parser.add_argument("--each", action="store_true", help="with --tree: print every query, not only the slow ones")
    parser.add_argument("--cold", action="store_true", help="with --tree: the first grep, and how soon it is warm")
    parser.add_argument("--edits", action="store_true", help="with --tree: edits, a checkout, new files, on a copy")
    parser.add_argument("--waits", action="store_true", help="with --tree: stat beside slow greps over HTTP and MCP")
    parser.add_argument(
        "--many", type=int, metavar="N", help="a generated tree of N small files: more than are watched"
    )
    options = parser.parse_args(argv)
    ripgrep.require()
    if (options.cold or options.edits or options.waits) and options.tree is None:
        parser.error("--cold, --edits and --waits need --tree DIR")
    if options.many is not None:
        with tempfile.TemporaryDirectory(prefix="zeno-bench-") as folder:
            cold.many(Path(folder), options.many, min(options.rounds, 5))
        return 0
    if options.cold:
        cold.race(options.tree, min(options.rounds, 5))
    if options.edits:
        edits.race(options.tree, options.seed)
    if options.waits:
        waits.race(options.tree)
    if options.cold or options.edits or options.waits:
        return 0
    if options.tree is not None:
        real_tree.report(real_tree.race(options.tree, min(options.rounds, 3)), each=options.each)
        return 0
    if options.root is not None:
        measure(options.root, options.rounds, options.seed)
        return 0
    for files in [1_000, 5_000, 20_000, 50_000] if options.growth else options.files:
        with tempfile.TemporaryDirectory(prefix="zeno-bench-") as folder:
            trees.write(Path(folder), files)
            measure(Path(folder), options.rounds, options.seed)
    return 0


def measure(root: Path, rounds: int, seed: int) -> None:
    """All races on one tree."""
    files, text = _held(root)
    print(f"\n{files} files, {text / 1e6:.0f} MB of text; medians (minima)\n{HEADER}", flush=True)
    words = races.words_of(root, seed)
    _show(races.first_race(root, max(3, rounds // 3)))
    with Server([*ZENO, str(root)]) as server:
        waited = server.warm()
        for race in races.search_races(server, root, words, rounds, seed):
            _show(race)
        _show(races.list_race(server, root, words, rounds))
        for race in races.small_races(server, root, rounds):
            _show(race)
        peak = server.peak_bytes
    _show(races.start_race(root, max(3, rounds // 3)))
    met = "met" if peak <= 2.2 * text else "missed"
    print(
        f"{'peak memory / text held':32} {peak / 1e6:15.0f} MB {text / 1e6:15.0f} MB {peak / text:7.2f}x    2.20x {met}"
    )
    print(f"warm {waited:.1f} s after start")


def _held(root: Path) -> tuple[int, int]:
    """How many files there are to search, and how much text a server holds of them."""
    count = size = 0
    for path in root.rglob("*"):
        if path.is_file() and not path.is_symlink() and "/." not in f"/{path.relative_to(root)}":
            count += 1
            data = path.read_bytes()
            if len(data) <= 2_000_000 and b"\0" not in data[:8192]:
                size += len(data)
    return count, size


def _show(race: races.Race) -> None:
    ours, theirs = [pair[0] * 1e3 for pair in race.pairs], [pair[1] * 1e3 for pair in race.pairs]
    ratio = median(theirs) / median(ours)
    print(
        f"{race.name:32} {median(ours):9.3f} ({min(ours):6.3f}) {median(theirs):9.3f} ({min(theirs):6.3f}) "
        f"{ratio:7.2f}x {race.goal:7.2f}x {'met' if ratio >= race.goal else 'missed'}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
