"""Small answers and the start of a server, against bare programs that are as strict about their input and no more."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from tools.bench.servers import ZENO, Server, print_header, print_row, request, serve, take_turns


def race(root: Path, rounds: int) -> None:
    """Print how long `stat`, a small `read_file` and the first answer after a start take, beside bare programs."""
    print_header(root, "against bare programs")
    with serve(root) as server:
        server.warm()
        _race_small(server, root, rounds)
    _race_start(root, max(3, rounds // 3))


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


def _race_small(server: Server, root: Path, rounds: int) -> None:
    """All on one core: to be woken on another one takes longer than either answer, and who is depends on luck."""
    small = next(path for path in sorted(root.rglob("*.*")) if path.is_file() and 1000 < path.stat().st_size < 8000)
    path = str(small.relative_to(root))
    for op, args in (("stat", {"path": path}), ("read_file", {"path": path, "end_line": 40})):
        line = request(op, **args)
        command = [sys.executable, "-c", _BARE, str(small), op]
        with Server(command) as bare, _one_core(server, bare):
            ways = [lambda _, one=one: one.line(line)[0] for one in (server, bare)]  # noqa: B023 - called at once
            print_row(op, take_turns(max(rounds * 40, 400), *ways), 1 / 3)


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


def _race_start(root: Path, rounds: int) -> None:
    """From start to first answer, against an interpreter that imports json and the models and answers nothing."""

    def start(command: list[str]) -> float:
        began = perf_counter()
        with Server(command) as server:
            server.line(request("stat", path="."))
            return perf_counter() - began

    times = take_turns(rounds, lambda _: start([*ZENO, str(root)]), lambda _: start([sys.executable, "-c", _MODELS]))
    print_row("start to first answer", times, 1 / 1.5)
