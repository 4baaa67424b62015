"""Send random requests about random trees to a server and compare every answer with a simple model of the operations.

Trees have links of every sort, odd names, hidden files, FIFOs and bytes that are not UTF-8; requests have hostile
paths, limits around every boundary and wrong arguments. All follows from the seed. A difference is printed with the
tree and the request, ready to become a vector. Exit status: 0 no difference, 1 some, 2 could not run.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from contract_spec.operations import args_schema, operations

from tests.support.request_model import Model, Part, arguments
from tools.kit.chance import Dice, corpus, request
from tools.kit.peer import OUR_SERVER, NoServer, Peer, Trouble
from tools.kit.trees import Site, plant, uproot
from tools.kit.vectors import compare

PER_TREE = 100


def run(count: int, seed: int, command: str, time_limit: float = 60) -> Iterator[tuple[str, str, list[str], str]]:
    """For each request its operation, its verdict, the differences, and what is needed to see it again."""
    done = 0
    while done < count:
        dice = Dice(f"{seed} {done}")
        described = corpus(dice)
        with tempfile.TemporaryDirectory() as folder:
            beside = Path(folder) / "t"
            beside.mkdir()
            site = plant(described, beside)
            try:
                known = [entry["path"] for entry in described["tree"] for _ in range(1 + 2 * (entry["type"] == "file"))]
                asked = [request(dice, known, arguments()) for _ in range(min(PER_TREE, count - done))]
                yield from _compared(asked, site, command, time_limit, json.dumps(described["tree"]))
            finally:
                uproot(site)
        done += PER_TREE


def _compared(
    asked: Sequence[tuple[str, Any]], site: Site, command: str, time_limit: float, tree: str
) -> Iterator[tuple[str, str, list[str], str]]:
    filled = json.loads(site.fill(json.dumps(asked)))
    model = Model(str(site.root), [str(site.beside / "alias")])
    lines = [json.dumps({"id": str(n), "op": op, "args": args}) for n, (op, args) in enumerate(filled)]
    with Peer(command, site, time_limit) as peer:
        answers = peer.ask("".join(line + "\n" for line in lines).encode())
    if len(answers) != len(lines):
        raise Trouble(f"{len(lines)} requests got {len(answers)} answers")
    for number, (op, args) in enumerate(filled):
        expected = model.answer(op, args)
        found = list(_differences(op, args, {"id": str(number)}, expected, answers[number]))
        yield op, expected.get("error", "result"), found, f"{json.dumps(asked[number])} over {tree}"


def _differences(op: str, args: Any, answer: dict[str, Any], expected: dict[str, Any], line: bytes) -> Iterator[str]:
    if "error" in expected:
        yield from compare({**answer, **expected}, line)
        return
    if isinstance(expected, Part):
        result = json.loads(line).get("result", {})
        yield from _shape(op, args, result)
        # The model knows a part only; the rest is taken as it is.
        expected = {**{key: value for key, value in result.items() if key != "metrics"}, **expected}
    free = []
    for index, item in enumerate(expected.get("items", ())):
        if not item["exists"]:
            free.append(f"/items/{index}/error")
            if item["path"] is None:
                del item["path"]
                free.append(f"/items/{index}/path")
    yield from compare({**answer, "result": expected, "not_compared": free}, line)


def _shape(op: str, args: Any, result: dict[str, Any]) -> Iterator[str]:
    """Yield mistakes in a list whose items the model does not know: in their order, their number, or that it is cut."""
    about = operations()[op]
    items = result.get(about.list, []) if about.list is not None else []
    places = [(each.get("path", ""), each["line"]) for each in items if "line" in each]
    limits = {name: args_schema(op)["properties"][name]["default"] for name in about.limits}
    counts = {name: len({path for path, _ in places}) if name == "max_files" else len(items) for name in limits}
    too_many = any(counts[name] > args.get(name, limit) for name, limit in limits.items())
    if places != sorted(places) or too_many:
        yield f"{about.list} out of order or too many: {items}"
    if result.get("truncated", False) != ("truncated_by" in result):
        yield f"truncated does not fit {about.list}: {result}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the requests and print the figures."""
    parser = argparse.ArgumentParser(
        prog="random_requests", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=20_000, metavar="N", help="requests to make (default: 20000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the random numbers (default: 1)")
    parser.add_argument(
        "--server", metavar="CMD", default=OUR_SERVER, help="server command with {root} (default: zeno serve)"
    )
    options = parser.parse_args(argv)
    counts: Counter[tuple[str, str]] = Counter()
    differing = 0
    try:
        for op, verdict, found, again in run(options.count, options.seed, options.server):
            counts[op, verdict] += 1
            if found:
                differing += 1
                print(f"differs: {again}", *found, sep="\n    ")
            if sys.stderr.isatty():
                print(f"\r{counts.total()} of {options.count}", end="", file=sys.stderr, flush=True)
    except (NoServer, Trouble) as error:
        print(f"random_requests: {error}", file=sys.stderr)
        return 2
    for op in sorted({op for op, _ in counts}):
        told = ", ".join(f"{verdict} {times}" for (each, verdict), times in sorted(counts.items()) if each == op)
        print(f"{op}: {told}")
    print(f"{counts.total()} requests, {differing} differences (seed {options.seed})")
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
