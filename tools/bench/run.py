"""Side by side, in one run: Zeno against ripgrep and bare programs, on a real tree.

Without a flag that names a race, queries are derived from the tree, and ratios to ripgrep printed by class.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tools.bench import bare, code, cold, commits, edits, real_tree, ripgrep, waits

RACES: dict[str, tuple[str, Callable[[argparse.Namespace], None]]] = {
    "cold": ("the first grep, and how soon a server is warm", lambda o: cold.race(o.tree, min(o.rounds, 5))),
    "edits": ("edits, a checkout, new files, on a copy; every answer compared", lambda o: edits.race(o.tree, o.seed)),
    "waits": ("stat beside slow greps over HTTP and MCP", lambda o: waits.race(o.tree)),
    "bare": ("small answers and the start against bare programs", lambda o: bare.race(o.tree, o.rounds)),
    "code": ("definitions and references, beside ctags", lambda o: code.race(o.tree, min(o.rounds, 5))),
    "commits": ("searches in two commits, beside git grep", lambda o: commits.race(o.tree, min(o.rounds, 5))),
}


def main(argv: list[str] | None = None) -> int:
    """Run the races; 0 even where a goal is missed: a benchmark is no test."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--tree", type=Path, metavar="DIR", help="derive queries from this directory and race on it")
    where.add_argument("--many", type=int, metavar="N", help="a generated tree of N small files: more than are watched")
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="rounds of each race (default: 15)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="another seed makes other edits")
    parser.add_argument("--each", action="store_true", help="print every query, not only the slow ones")
    for name, (about, _) in RACES.items():
        parser.add_argument(f"--{name}", action="store_true", help=about)
    options = parser.parse_args(argv)
    ripgrep.require()
    if options.many is not None:
        with tempfile.TemporaryDirectory(prefix="zeno-bench-") as folder:
            cold.many(Path(folder), options.many, min(options.rounds, 5))
        return 0
    chosen = [run for name, (_, run) in RACES.items() if getattr(options, name)]
    for run in chosen:
        run(options)
    if not chosen:
        real_tree.report(real_tree.race(options.tree, min(options.rounds, 3)), each=options.each)
    return 0


if __name__ == "__main__":
    sys.exit(main())
