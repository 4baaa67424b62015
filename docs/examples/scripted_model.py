"""A SCRIPTED STAND-IN, NOT A LANGUAGE MODEL: an OpenAI-compatible endpoint that replies by fixed rules.

It lets recursive.py run where there is no model, and proves nothing about models. Its one trick: asked about a "word"
in double quotes, it lists the tree, hands each top directory to a copy of itself, greps for the word there, and merges.

Run `python docs/examples/scripted_model.py`, and set OPENAI_BASE_URL to what it prints.
"""

import argparse
import json
import re
import sys
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def reply(messages: list[dict[str, str]]) -> dict[str, Any]:
    """The next step, from what was said so far."""
    task = messages[1]["content"]
    seen = [message["content"] for message in messages[2:] if message["role"] == "user"]
    word = task.split('"')[1] if task.count('"') >= 2 else task
    part = re.fullmatch(r'Lines with ".*" under (\S+)', task)
    if part:
        if not seen:
            return {"op": "grep", "args": {"pattern": word, "paths": [part[1]]}}
        hits = re.findall(r"^(\S+):(\d+): ", seen[-1], re.MULTILINE)
        evidence = [{"path": path, "start_line": int(line), "end_line": int(line)} for path, line in hits]
        return {"answer": f"{len(evidence)} lines under {part[1]}", "evidence": evidence}
    if not seen:
        return {"op": "list_files", "args": {"max": 1000}}
    folders = sorted({line.partition("/")[0] for line in seen[0].splitlines()[1:] if "/" in line})
    if len(seen) <= len(folders):
        return {"ask": f'Lines with "{word}" under {folders[len(seen) - 1]}'}
    evidence = [one for text in seen[1:] for one in json.loads(text.partition("EVIDENCE: ")[2])]
    return {"answer": f'"{word}" stands on {len(evidence)} lines', "evidence": evidence}


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Answer a chat completion."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        content = json.dumps(reply(request["messages"]))
        body = json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing about each request."""


def main(argv: Sequence[str] | None = None) -> int:
    """Listen on a free loopback port until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="port to listen on (default: any free one)")
    with ThreadingHTTPServer(("127.0.0.1", parser.parse_args(argv).port), _Handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("stopped", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
