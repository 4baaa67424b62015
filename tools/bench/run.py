"""Side by side, in one run: Zeno against ripgrep and bare programs, on a real tree.

python -m tools.bench.run --tree DIR          queries derived from the tree, ratios to ripgrep by class
python -m tools.bench.run --tree DIR --cold   the first grep of a new server; how soon it is warm
python -m tools.bench.run --tree DIR --edits  edits, a checkout and new files on a copy; every answer compared
python -m tools.bench.run --tree DIR --waits  how long a stat waits beside slow greps, over HTTP and MCP
python -m tools.bench.run --tree DIR --bare   stat, read_file and the start against bare programs
python -m tools.bench.run --tree DIR --code   definitions and references, beside ctags and ripgrep
python -m tools.bench.run --tree DIR --commits  searches in two commits of the repository, beside git grep
python -m tools.bench.run --many 300000       a generated tree of more files than can be watched
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tools.bench import bare, code, cold, commits, edits, real_tree, ripgrep, waits


def main(argv: list[str] | None = None) -> int:
    """Run the races; 0 even where a goal is missed: a benchmark is no test."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--tree", type=Path, metavar="DIR", help="derive queries from this directory and race on it")
    where.add_argument("--many", type=int, metavar="N", help="a generated tree of N small files: more than are watched")
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="rounds of each race (default: 15)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="another seed makes other edits")
    parser.add_argument("--each", action="store_true", help="print every query, not only the slow ones")
    parser.add_argument("--cold", action="store_true", help="the first grep, and how soon a server is warm")
    parser.add_argument("--edits", action="store_true", help="edits, a checkout, new files, on a copy")
    parser.add_argument("--waits", action="store_true", help="stat beside slow greps over HTTP and MCP")
    parser.add_argument("--bare", action="store_true", help="small answers and the start against bare programs")
    parser.add_argument("--code", action="store_true", help="definitions and references, beside ctags and ripgrep")
    parser.add_argument("--commits", action="store_true", help="searches in commits, beside git grep")
    options = parser.parse_args(argv)
    ripgrep.require()
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
    if options.bare:
        bare.race(options.tree, options.rounds)
    if options.code:
        code.race(options.tree, min(options.rounds, 5))
    if options.commits:
        commits.race(options.tree, min(options.rounds, 5))
    if not (options.cold or options.edits or options.waits or options.bare or options.code or options.commits):
        real_tree.report(real_tree.race(options.tree, min(options.rounds, 3)), each=options.each)
    return 0


if __name__ == "__main__":
    sys.exit(main())
