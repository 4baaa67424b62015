"""A small study to be judged, and an endpoint on the loopback that behaves as badly as the files tell it to."""

import gzip
import json
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

from normalizer.cli import main

PROGRAM = Path(__file__).parent / "judges" / "scripted.py"
COMMAND = f"{sys.executable} {PROGRAM}"
GOOD = (
    '{"scores": {"A_structure": 2, "B_snapshot_constraint": 1.0, "C_actionability": 1e0, '
    '"D_completeness": 2, "E_drift_failure": 0}, "notes": "sound"}'
)
PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj << /Type /Catalog >> endobj\n"
KEY = "sk-very-secret-0123456789"
KEY_WITH_SLASHES = "sk-very/secret/0123456789"


class Study:
    """Files, a manifest and a run's folder."""

    def __init__(self, folder: Path, contents: dict[str, bytes], **stated: Any) -> None:
        self.folder = folder
        self.artifacts = folder / "artifacts"
        self.out = folder / "run"
        self.calls = folder / "calls.log"
        self.files: list[dict[str, Any]] = []
        for place, (name, content) in enumerate(contents.items()):
            path = self.artifacts / f"{place}.bin"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            self.files.append({"file": name, "path": path.name})
        self.manifest = folder / "manifest.json"
        self.state(**{"phase": 1, "judge_model": "judge-x", "generator_model": "writer-y", **stated})

    def state(self, **stated: Any) -> None:
        """Write the manifest."""
        self.manifest.write_text(json.dumps({**stated, "files": self.files}))

    def argv(self, *flags: str, verb: str = "judge") -> list[str]:
        return [verb, str(self.manifest), "--artifacts", str(self.artifacts), "--out", str(self.out), *flags]

    def judge(self, *flags: str) -> int:
        return main(self.argv(*flags))

    def command(self, *flags: str) -> int:
        return self.judge("--command", COMMAND, *flags)

    @property
    def asked(self) -> int:
        """How often the program was called."""
        return len(self.calls.read_text().splitlines())

    @property
    def bundle(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.out / "bundle.json").read_bytes())
        return found

    def call(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.out / "calls" / f"{name}.json").read_bytes())
        return found

    def everything_kept(self) -> bytes:
        return b"".join(path.read_bytes() for path in sorted(self.out.rglob("*")) if path.is_file())


SPELLINGS: dict[str, Callable[[str], str]] = {
    "slash": lambda key: json.dumps({"error": f"no {key}"}).replace("/", "\\/"),
    "unicode": lambda key: json.dumps({"error": f"no {key}"}).replace("/", "\\u002F"),
    "every": lambda key: '{"error":"no ' + "".join(f"\\u{ord(char):04x}" for char in key) + '"}',
    "twice": lambda key: json.dumps({"error": json.dumps({"e": key}).replace("/", "\\/")}),
    "percent": lambda key: f"see /login?key={quote(key, safe='')}",
    "entity": lambda key: "<p>" + key.replace("/", "&#47;"),
    "completion": lambda key: json.dumps(
        {"choices": [{"message": {"role": "assistant", "content": f"You are {key}"}}]}
    ).replace("/", "\\/"),
}


class BadEndpoint(ThreadingHTTPServer):
    """Answers chat requests. A line `BEHAVE ...` of the file tells it what to do wrong, and how often."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.asked: Counter[str] = Counter()
        self.mutex = threading.Condition()
        self.most_at_once = self.at_once = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is no news."""


@contextmanager
def bad_endpoint():
    """The server, while it is needed."""
    server = BadEndpoint()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: BadEndpoint

    def do_POST(self) -> None:
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with server.mutex:
            server.requests.append(body)
            server.paths.append(self.path)
            server.headers.append(dict(self.headers.items()))
            server.times.append(time.monotonic())
            part = body["messages"][-1]["content"][-1]
            server.asked[json.dumps(part)] += 1
            asked = server.asked[json.dumps(part)]
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
            server.mutex.notify_all()
        try:
            lines = part.get("text", "").splitlines()
            for line in lines:
                if line.startswith("BEHAVE ") and self.misbehave(line.split(" ", 2)[1:], asked):
                    return
            self.complete(GOOD)
        finally:
            with server.mutex:
                server.at_once -= 1

    def misbehave(self, words: list[str], asked: int) -> bool:
        """Whether that was the answer."""
        kind, argument = [*words, ""][:2]
        if kind == "slow":
            time.sleep(float(argument))
            return False
        if kind == "together":
            with self.server.mutex:
                self.server.mutex.wait_for(lambda: self.server.most_at_once >= int(argument), timeout=60)
            return False
        if kind == "say":
            self.complete(json.loads(argument))
        elif kind == "late" and asked < int(argument):
            self.complete(f"```json\n{GOOD}\n```")
        elif kind == "status" and asked <= int(argument.split()[1]):
            status, _, *headers = argument.split()
            extra = dict(header.split("=", 1) for header in headers)
            self.send(int(status), f"refused {self.headers['authorization']}".encode(), extra)
        elif kind == "cut" and asked <= int(argument):
            self.send_response(200)
            self.send_header("content-length", "5000")
            self.end_headers()
            self.wfile.write(b'{"choices": [')
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif kind == "reset" and asked <= int(argument):
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif kind == "drip":
            self.send_response(200)
            self.send_header("content-length", "5000")
            self.end_headers()
            for _ in range(1200):
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.05)
        elif kind == "html" and asked <= int(argument):
            self.send(200, b"<html>please log in</html>", {})
        elif kind == "unlabelled":
            self.send(int(argument), gzip.compress(self.headers["authorization"].encode()), {})
        elif kind == "endless":
            self.send_response(200)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            while True:
                self.wfile.write(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        elif kind == "spell":  # the key as JSON escapes of some kind, in a status
            status, form = argument.split()[:2]
            key = self.headers["authorization"].removeprefix("Bearer ")
            self.send(int(status), SPELLINGS[form](key).encode(), {})
        elif kind == "bomb":
            body = b"x" * (64 << 20)
            for _ in argument.split(","):
                body = gzip.compress(body, 1)
            self.send(200, body, {"content-encoding": argument.replace(" ", "")})
        elif kind == "packed":
            reply = {"choices": [{"message": {"role": "assistant", "content": GOOD}}]}
            self.send(200, gzip.compress(json.dumps(reply).encode()), {"content-encoding": "gzip"})
        elif kind == "header":  # the key as the value of a header
            self.send(200, b"{}", {argument: self.headers["authorization"].removeprefix("Bearer ")})
        elif kind == "padded":  # the key stands across the limit of a response
            before = "x" * (6 * int(argument) + (1 << 16) - 10)
            self.send(200, (before + self.headers["authorization"] + "x" * 100).encode(), {})
        elif kind == "null":
            self.complete(None)
        elif kind == "tokens":
            self.complete(GOOD, json.loads(argument))
        else:
            return False
        return True

    def complete(self, content: str | None, usage: Any = None) -> None:
        usage = usage or {"prompt_tokens": 800, "completion_tokens": 40, "total_tokens": 840}
        body = {"choices": [{"message": {"role": "assistant", "content": content}}], "usage": usage}
        self.send(200, json.dumps(body).encode(), {})

    def send(self, status: int, body: bytes, extra: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(body)), **extra}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""
