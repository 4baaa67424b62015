"""Run the conformance vectors against any server command and print what agrees and what does not.

The command is started once for each corpus, with {root} replaced by the directory to serve; it answers JSON lines on
its standard input with JSON lines on its standard output. tests/conformance/README.md describes vectors and corpora.
Exit status: 0 all agree, 1 some differ, 2 could not run.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, TextIO

from tools.kit.peer import OUR_SERVER, NoServer, Peer, Trouble, converse, missing
from tools.kit.trees import Site, plant, uproot
from tools.kit.vectors import HOME, Vector, corpus, disagreements, read

VERDICTS = ("agree", "differ", "skipped")


@dataclass(frozen=True)
class Verdict:
    """How a server did on one vector."""

    vector: Vector
    verdict: str
    why: Sequence[str] = ()


def main(argv: Sequence[str] | None = None, out: TextIO | None = None) -> int:
    """Parse flags, run the vectors, print the report."""
    options = _parser().parse_args(argv)
    out = out or sys.stdout
    chosen = [
        vector
        for vector in read(options.vectors)
        if options.filter.lower() in vector.name.lower() and not (options.plain and "additions" in vector.requires)
    ]
    if not chosen:
        print(f"conformance: no vector has {options.filter!r} in its name", file=sys.stderr)
        return 2
    verdicts = []
    try:
        for verdict in run(chosen, options.server, options.time_limit, options.vectors):
            verdicts.append(verdict)
            if sys.stderr.isatty():
                print(f"\r{len(verdicts)} of {len(chosen)}", end="", file=sys.stderr, flush=True)
    except NoServer as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    verdicts.sort(key=lambda verdict: chosen.index(verdict.vector))
    _print_json(verdicts, options.server, out) if options.format == "json" else _print_table(verdicts, out)
    return 1 if any(verdict.verdict == "differ" for verdict in verdicts) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="conformance", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--server",
        metavar="CMD",
        default=OUR_SERVER,
        help="command of the server, with {root}, and {flags} if it takes those of zeno serve (default: zeno serve)",
    )
    parser.add_argument("--filter", metavar="TEXT", default="", help="only vectors with TEXT in 'FILE: DESCRIPTION'")
    parser.add_argument(
        "--plain",
        action="store_true",
        help="only the plain protocol, without the additions of docs/explanation/evidence.md",
    )
    parser.add_argument("--format", choices=("table", "json"), default="table", help="how to print (default: table)")
    parser.add_argument(
        "--time-limit", metavar="SECONDS", type=float, default=10, help="longest wait for an answer (default: 10)"
    )
    parser.add_argument("--vectors", metavar="DIR", type=Path, default=HOME, help="folder of vectors and corpora")
    return parser


def run(vectors: Sequence[Vector], command: str, time_limit: float, home: Path = HOME) -> Iterator[Verdict]:
    """The verdict on each vector, corpus by corpus; raises NoServer when the command serves nothing at all."""
    with tempfile.TemporaryDirectory() as folder:
        with planted("empty", Path(folder), home) as site, Peer(command, site, time_limit) as peer:
            peer.check()
        able = []
        for vector in vectors:
            if why := missing(vector, command, Path(folder)):
                yield Verdict(vector, "skipped", [why])
            else:
                able.append(vector)
        for name, group in groupby(sorted(able, key=_place), key=_place):
            if name[1]:
                yield from _together(list(group), command, time_limit, Path(folder), home)
            else:
                for vector in group:
                    yield from _together([vector], command, time_limit, Path(folder), home)


def _place(vector: Vector) -> tuple[str, bool]:
    return vector.corpus, not vector.alone


def _together(
    vectors: Sequence[Vector], command: str, time_limit: float, folder: Path, home: Path
) -> Iterator[Verdict]:
    """Run vectors of one corpus on one tree and one server, which is started again where it fell.

    A vector with flags is given alone.
    """
    peer = None
    with planted(vectors[0].corpus, folder, home) as site:
        try:
            for vector in vectors:
                try:
                    if peer is None:
                        peer = Peer(command, site, time_limit, vector.flags)
                        peer.check()
                    found = disagreements(vector, converse(vector, peer, site))
                except (NoServer, Trouble) as trouble:
                    found = [str(trouble)]
                    if peer:
                        peer.close()
                    peer = None
                yield Verdict(vector, "differ" if found else "agree", found)
        finally:
            if peer:
                peer.close()


@contextmanager
def planted(name: str, folder: Path, home: Path = HOME) -> Iterator[Site]:
    """A corpus on disk for as long as it is needed."""
    site = plant(corpus(name, home), Path(tempfile.mkdtemp(dir=folder)))
    try:
        yield site
    finally:
        uproot(site)


def _print_table(verdicts: Sequence[Verdict], out: TextIO) -> None:
    for verdict in verdicts:
        if verdict.verdict == "differ":
            print(f"differs: {verdict.vector.name}\n    {verdict.vector.spec}", file=out)
            for line in [*(f"sent: {line}" for line in verdict.vector.sent[:3]), *verdict.why]:
                print(f"    {line}", file=out)
            print(file=out)
    counts = Counter((verdict.vector.suite, verdict.verdict) for verdict in verdicts)
    suites = sorted({verdict.vector.suite for verdict in verdicts})
    width = max(len("vectors"), *map(len, suites))
    print(f"{'vectors':{width}}  {'agree':>7}  {'differ':>7}  {'skipped':>7}", file=out)
    for suite in suites:
        row = "  ".join(f"{counts[suite, kind]:7}" for kind in VERDICTS)
        print(f"{suite:{width}}  {row}", file=out)
    total = Counter(verdict.verdict for verdict in verdicts)
    print(f"{'all':{width}}  {'  '.join(f'{total[kind]:7}' for kind in VERDICTS)}", file=out)
    for why in sorted({verdict.why[0] for verdict in verdicts if verdict.verdict == "skipped"}):
        print(f"skipped: {why}", file=out)


def _print_json(verdicts: Sequence[Verdict], server: str, out: TextIO) -> None:
    total = Counter(verdict.verdict for verdict in verdicts)
    document: dict[str, Any] = {"server": server, **{kind: total[kind] for kind in VERDICTS}}
    document["vectors"] = [
        {
            "file": verdict.vector.suite,
            "description": verdict.vector.description,
            "spec": verdict.vector.spec,
            "sent": verdict.vector.sent,
            "verdict": verdict.verdict,
            "why": list(verdict.why),
        }
        for verdict in verdicts
    ]
    print(json.dumps(document, indent=2), file=out)


if __name__ == "__main__":
    raise SystemExit(main())
