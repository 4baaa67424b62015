"""A server that looks right and is wrong, to see that the kit tells: unsorted, unconfined, careless about lines.

Its first argument is the root, its second how it behaves: `wrong`, `hang` (never answers read_file), `die` (at the
first read_file) or `chatty` (prints a banner after each answer).
"""

import json
import os
import sys
import time
from typing import Any


def answer(request: Any, root: str) -> dict[str, Any]:
    args, op = request["args"], request["op"]
    metrics = {"time_ms": 0, "bytes_read": 0, "files_scanned": 0}
    if op == "list_files":
        found = [os.path.relpath(os.path.join(top, name), root) for top, _, names in os.walk(root) for name in names]
        return {"files": found[::-1][: args.get("max", 500)], "truncated": False, "metrics": metrics}
    if op == "read_file":
        # Without waiting for whoever would write into a FIFO: only `hang` is to hang.
        with open(os.open(os.path.join(root, args["path"]), os.O_RDONLY | os.O_NONBLOCK), errors="replace") as file:
            lines = file.read().splitlines()
        start, end = args.get("start_line", 1), args.get("end_line", args.get("start_line", 1))
        return {
            "path": args["path"],
            "start_line": start,
            "end_line": min(end, len(lines)),
            "total_lines": len(lines),
            "truncated": False,
            "text": "\n".join(lines[start - 1 : end]),
            "metrics": metrics,
        }
    raise ValueError("no such operation")


def main(root: str, behaviour: str) -> None:
    for line in sys.stdin.buffer:
        request_id = None
        try:
            request = json.loads(line)
            request_id = str(request["id"])
            if request["op"] == "read_file" and behaviour == "hang":
                time.sleep(600)
            if request["op"] == "read_file" and behaviour == "die":
                sys.exit("out of patience")
            reply: dict[str, Any] = {"id": request_id, "ok": True, "result": answer(request, root)}
        except Exception as error:
            reply = {"id": request_id, "ok": False, "error": {"message": str(error) or "?", "code": "internal"}}
        print(json.dumps(reply), flush=True)
        if behaviour == "chatty":
            print("served with love", flush=True)


main(*sys.argv[1:])
