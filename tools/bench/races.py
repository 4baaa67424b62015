"""The races: each yields pairs of seconds, ours and the other's, taken one right after the other."""

import json
import os
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from tools.bench.ripgrep import RG, RULES
from tools.bench.servers import ZENO, Server, request, timed

MAX_HITS = 200


class Race(NamedTuple):
    """A comparison: its name, the goal as a ratio, and the pairs of times."""

    name: str
    goal: float
    pairs: list[tuple[float, float]]


class Words(NamedTuple):
    """Words of a tree, to make patterns of."""

    rare: list[str]
    common: list[str]
    suffixes: list[str]
    folder: str
    """A directory at the top of the tree, of middle size."""


def words_of(root: Path, seed: int) -> Words:
    """Common words, and words that stand in three files at most."""
    rng = random.Random(seed)
    files = sorted(path for path in root.rglob("*") if path.is_file() and "/." not in f"/{path.relative_to(root)}")
    seen: Counter[str] = Counter()
    for path in rng.sample(files, min(len(files), 600)):
        text = path.read_bytes()[:200_000].decode("utf-8", "replace")
        seen.update(set(re.findall(r"[A-Za-z_][A-Za-z0-9_]{6,24}", text)))
    once = sorted(word for word, count in seen.items() if count == 1)
    rng.shuffle(once)
    rare: list[str] = []
    for word in once[:400]:
        _, output = timed([*RG, *RULES[False], "-F", "-i", "-l", "-e", word, "."], str(root))
        if output.count(b"\n") <= 3:
            rare.append(word)
        if len(rare) == 100:
            break
    common = [word for word, _ in seen.most_common(400)]
    suffixes = [suffix for suffix, _ in Counter(path.suffix for path in files).most_common(6) if suffix]
    folders = Counter(path.relative_to(root).parts[0] for path in files if path.parent != root)
    sizes = sorted((count, name) for name, count in folders.items()) or [(0, ".")]
    return Words(rare, common, suffixes, sizes[len(sizes) // 2][1])


def search_races(server: Server, root: Path, words: Words, rounds: int, seed: int) -> Iterator[Race]:
    """grep against ripgrep: other patterns in every round, answers asserted equal."""
    rng = random.Random(seed)
    rare = iter(words.rare * 3)
    common = iter(words.common * 3)

    def no_literal() -> str:
        shapes = [
            "[A-Z]{%d}[0-9]{%d}[a-z]",
            "[0-9]{%d}[A-F]{%d}[0-9]",
            r"\s[a-z]{%d}[0-9]{%d}\s",
            r"[0-9]{%d}\.[0-9]{%d}\.",
        ]
        shape = rng.choice(shapes)
        return shape % (rng.randint(3, 7), rng.randint(2, 5))

    def literal_in_regex() -> str:
        word = next(rare)
        return rf"{word[:3]}[{word[3]}]{word[4:]}\w*"

    cases: list[tuple[str, float, Callable[[], str], dict[str, Any]]] = [
        ("no match", 100, lambda: f"zq{rng.getrandbits(40):x}xj", {}),
        ("rare literal", 50, lambda: next(rare), {}),
        ("rare literal, ignore rules", 50, lambda: next(rare), {"gitignore": True}),
        ("literal, case ignored", 50, lambda: next(rare).swapcase(), {"case_sensitive": False}),
        ("regex with a literal", 20, literal_in_regex, {"regex": True}),
        ("alternation", 10, lambda: "|".join(next(rare) for _ in range(3)), {"regex": True}),
        ("regex without a literal", 3, no_literal, {"regex": True}),
        ("common word, 200 hits", 2, lambda: next(common), {}),
        ("common word in one folder", 1, lambda: next(common), {"paths": [words.folder]}),
        ("no literal, in one folder", 1, no_literal, {"regex": True, "paths": [words.folder]}),
    ]
    for name, goal, pattern, args in cases:
        pairs = []
        for _ in range(rounds):
            text = pattern()
            ours, result = server.ask("grep", pattern=text, max_files=1_000_000, **args)
            flags = [] if args.get("regex") else ["-F"]
            flags += [] if args.get("case_sensitive", True) else ["-i"]
            flags += RULES[args.get("gitignore", False)]
            command = [*RG, "-n", "-0", "--no-heading", "-M0", *flags, "-e", text, *args.get("paths", ["."])]
            theirs, output = timed(command, str(root))
            _assert_same(text, result["hits"], output)
            pairs.append((ours, theirs))
        yield Race(name, goal, pairs)


def _assert_same(pattern: str, hits: list[Any], output: bytes) -> None:
    theirs = []
    for line in output.split(b"\n"):
        path, nul, rest = line.partition(b"\0")
        number, colon, text = rest.partition(b":")
        # ripgrep reports a binary file in one line of another form.
        if nul and colon and number.isdigit():
            theirs.append(
                (path.decode().removeprefix("./"), int(number), text.removesuffix(b"\r").decode("utf-8", "replace"))
            )
    ours = [(hit["path"], hit["line"], hit["text"]) for hit in hits]
    if ours != sorted(theirs)[:MAX_HITS]:
        raise AssertionError(f"different answers for {pattern!r}: {ours[:3]} and {sorted(theirs)[:3]}")


def list_race(server: Server, root: Path, words: Words, rounds: int) -> Race:
    """list_files against ripgrep's own listing."""
    pairs = []
    for number in range(rounds):
        glob = f"**/*{number % 10}{words.suffixes[number % len(words.suffixes)]}"
        ours, result = server.ask("list_files", glob=glob, max=1_000_000, max_files=1_000_000)
        theirs, output = timed([*RG, *RULES[False], "--files", "-g", glob], str(root))
        if result["files"] != sorted(output.decode().split()):
            raise AssertionError(f"different listings for {glob!r}")
        pairs.append((ours, theirs))
    return Race("list_files with a glob", 8, pairs)


def first_race(root: Path, rounds: int) -> Race:
    """The first grep of a server that has just started, against ripgrep."""
    pairs = []
    for number in range(rounds):
        with Server([*ZENO, str(root)]) as server:
            server.ask("stat", path=".")
            ours, _ = server.ask("grep", pattern=f"first{number}zqxj", max_files=1_000_000)
        theirs, _ = timed([*RG, *RULES[False], "-F", "-e", f"first{number}zqxj", "."], str(root))
        pairs.append((ours, theirs))
    return Race("first grep after start", 1 / 1.5, pairs)


_BARE = """
import json, os, sys, time
import contract_spec as spec
path, op = sys.argv[1:]
while data := os.read(0, 1 << 16):
    request = spec.parse(data.rstrip(), max_depth=64)
    args = request["args"]
    if spec.violations("zeno/request.json", request) or spec.violations(f"zeno/ops/{op}.json#/$defs/args", args):
        sys.exit(1)
    if op == "stat":
        found = os.stat(path)
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(found.st_mtime))
        item = {"path": args["path"], "exists": True, "size": found.st_size, "mtime": found.st_mtime}
        result = {"items": [{**item, "mtime_iso": moment, "is_file": True, "is_dir": False}]}
    else:
        file = os.open(path, os.O_RDONLY)
        text = os.pread(file, os.fstat(file).st_size, 0).decode("utf-8", "replace")
        os.close(file)
        lines = text.split("\\n")
        kept = lines[: args["end_line"]]
        span = {"path": args["path"], "start_line": 1, "end_line": len(kept), "total_lines": len(lines)}
        result = {**span, "truncated": False, "text": "\\n".join(kept)}
    metrics = {"time_ms": 0, "bytes_read": 0, "files_scanned": 1}
    answer = {"id": request["id"], "ok": True, "result": {**result, "metrics": metrics}}
    os.write(1, json.dumps(answer).encode() + b"\\n")
"""


def small_races(server: Server, root: Path, rounds: int) -> Iterator[Race]:
    """stat and a small read_file against a server in a few lines that is as strict about its input, and nothing else.

    All on one core: to be woken on another one takes longer than either answer, and who is depends on luck.
    """
    small = next(path for path in sorted(root.rglob("*.*")) if path.is_file() and 1000 < path.stat().st_size < 8000)
    path = str(small.relative_to(root))
    for op, args in (("stat", {"path": path}), ("read_file", {"path": path, "end_line": 40})):
        line = request(op, **args)
        pairs = []
        command = [sys.executable, "-c", _BARE, str(small), op]
        with Server(command) as bare, _one_core(server, bare):
            for _ in range(max(rounds * 40, 400)):
                pairs.append((server.line(line)[0], bare.line(line)[0]))
        yield Race(f"{op} against a bare server", 1 / 3, pairs)


@contextmanager
def _one_core(*servers: Server) -> Iterator[None]:
    """Keep this process and the servers on one core, where the system lets us choose."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    processes = [0, *(server.process.pid for server in servers)]
    try:
        for process in processes:
            os.sched_setaffinity(process, {min(before)})
        yield
    finally:
        for process in processes:
            os.sched_setaffinity(process, before)


_MODELS = """
import json, sys
from contract_models.zeno.request import Request
from contract_models.zeno.response import Failure
from contract_models.zeno.ops.stat import StatArgs, StatResult
line = sys.stdin.buffer.readline()
request = Request.model_validate(json.loads(line))
StatArgs.model_validate(request.args)
StatResult.model_rebuild()
sys.stdout.buffer.write(b"{}\\n"); sys.stdout.flush()
"""


def start_race(root: Path, rounds: int) -> Race:
    """From start to first answer, against an interpreter that imports json and the models and answers nothing."""
    line = json.dumps({"id": "1", "op": "stat", "args": {"path": "."}}).encode() + b"\n"
    pairs = []
    for _ in range(rounds):
        seconds = []
        for command in ([*ZENO, str(root)], [sys.executable, "-c", _MODELS]):
            start = perf_counter()
            with Server(command) as server:
                server.line(line)
                seconds.append(perf_counter() - start)
        pairs.append((seconds[0], seconds[1]))
    return Race("start to first answer", 1 / 1.5, pairs)
