"""Race on a real tree: queries derived from the tree, hits compared with ripgrep's, ratios by class."""

import json
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from tools.bench import ripgrep
from tools.bench.queries import GOALS, TreeQuery, derive
from tools.bench.servers import Server, serve, timed

# A second run of ripgrep is not worth its time when one takes this many seconds.
SLOW = 3.0


class Outcome(NamedTuple):
    """One query: milliseconds of both, the fastest of several rounds, and whether the hits were equal."""

    query: TreeQuery
    ours: float
    theirs: float
    equal: bool

    @property
    def ratio(self) -> float:
        """How many times faster we are."""
        return self.theirs / self.ours


def race(root: Path, rounds: int) -> list[Outcome]:
    """Ask every query of a warm server and of ripgrep, one right after the other, some rounds long."""
    queries = derive(root)
    outcomes = []
    with serve(root) as server:
        print(f"{root}: {len(queries)} queries; warm after {server.warm():.1f} s", flush=True)
        for query in queries:
            outcomes.append(_ask(server, root, query, rounds))
        print(f"peak memory {server.peak_bytes / 1e6:.0f} MB")
    return outcomes


def _ask(server: Server, root: Path, query: TreeQuery, rounds: int) -> Outcome:
    ours: list[float] = []
    theirs: list[float] = []
    result: dict[str, Any] = {}
    output = b""
    command = ripgrep.command(query.pattern, query.args)
    for _ in range(rounds):
        seconds, result = server.grep(query.pattern, **query.args)
        ours.append(seconds)
        if not theirs or theirs[-1] < SLOW:
            seconds, _, output = timed(command, root)
            theirs.append(seconds)
    most = query.args.get("max_hits", 200)
    equal = _same(result, ripgrep.hits(output)[:most], root)
    if not equal and query.args.get("regex"):
        # ripgrep's `\w` and `\s` take letters and spaces beyond ASCII by default, RE2's do not.
        output = timed([command[0], "--no-unicode", *command[1:]], root).output
        equal = _same(result, ripgrep.hits(output)[:most], root)
    return Outcome(query, min(ours) * 1e3, min(theirs) * 1e3, equal)


def _same(result: dict[str, Any], wanted: list[ripgrep.Hit], root: Path) -> bool:
    """Whether our hits are ripgrep's. It does not follow links to files: hits in these take places on a full page."""
    hits = [(hit["path"], hit["line"], hit["text"]) for hit in result["hits"]]
    own = [hit for hit in hits if not (root / hit[0]).is_symlink()]
    return own == (wanted[: len(own)] if result["truncated"] else wanted)


def report(outcomes: list[Outcome], *, each: bool) -> None:
    """Print the median of every class beside its goal, then what is slower than ripgrep or differs from it."""
    classes: defaultdict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        classes[outcome.query.kind].append(outcome)
    print(f"{'class':22} {'n':>2} {'zeno ms':>9} {'rg ms':>9} {'lowest':>8} {'median':>8} {'goal':>6}")
    for kind, goal in GOALS.items():
        found = classes[kind]
        if not found:
            continue
        ratio, lowest = median(one.ratio for one in found), min(one.ratio for one in found)
        ours, theirs = median(one.ours for one in found), median(one.theirs for one in found)
        print(
            f"{kind:22} {len(found):2} {ours:9.2f} {theirs:9.1f} {lowest:7.2f}x {ratio:7.1f}x {goal:5.0f}x "
            f"{'met' if ratio >= goal else 'missed'}"
        )
    ratios = [one.ratio for one in outcomes]
    print(f"{'all':22} {len(ratios):2} {'':19} {min(ratios):7.2f}x {median(ratios):7.1f}x {20:5.0f}x")
    other = sum(not one.equal for one in outcomes)
    print(f"slower than ripgrep: {sum(ratio < 1 for ratio in ratios)}; other hits: {other}")
    for one in outcomes:
        if each or one.ratio < 1 or not one.equal:
            print(
                f"  {one.query.kind}: {one.query.pattern!r} {json.dumps(one.query.args)} "
                f"{one.ours:.2f} / {one.theirs:.1f} ms = {one.ratio:.2f}x{'' if one.equal else ' OTHER HITS'}"
            )
    sys.stdout.flush()
