"""Targets of zeno: the request parser with the whole server behind it, cursors, the reader of traces."""

import io
import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import contract_spec as spec
from contract_spec.operations import operations, requests

from tools.fuzz.target import Target, text_of
from zeno.files.tree import Tree
from zeno.options import Options
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server
from zeno.trace import events

_FILES = {"a.txt": "alpha\nbeta\n", "src/b.py": "def f():\n    return 1\n", ".hidden": "x\n", "src/é.md": "# é\n"}


def serve(options: Options) -> Server:
    """Return a server of a few files."""
    folder = Path(tempfile.mkdtemp(prefix="zeno-fuzz-"))
    for name, text in _FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return Server(ColdCorpus(Tree(str(folder))), options=options)


@cache
def _server() -> Server:
    return serve(Options(max_response_bytes=1 << 20))


def request(data: bytes) -> None:
    """Every line gets one answer that the schema accepts, never `internal`, and again an equal one."""
    answer = _server().answer(data)
    assert answer.endswith(b"\n")
    assert answer.count(b"\n") == 1
    value = json.loads(answer)
    assert not spec.violations("zeno/response.json", value)
    if value["ok"]:
        sent = json.loads(data)
        assert value["id"] == sent["id"]
        assert not spec.violations(f"zeno/ops/{sent['op']}.json#/$defs/result", value["result"])
        again = json.loads(_server().answer(data))
        for one in (value, again):
            one["result"].pop("metrics")
        assert again == value
    else:
        assert value["error"]["code"] != "internal"


def cursor(data: bytes) -> None:
    """A cursor that was not issued for this very request is refused; an issued one goes on where the result stopped."""
    head, _, text = data.partition(b"\n")
    args = {"pattern": "a|e|x", "max_hits": 1 + len(head) % 2, "include_hidden": len(head) % 3 == 0}
    op = "grep" if len(head) % 5 else "list_files"
    if op == "list_files":
        args = {"max_files": 1 + len(head) % 2}
    first = _ask(op, args)
    issued = first["result"].get("cursor")
    made_up = text_of(text)
    answer = _ask(op, {**args, "cursor": made_up})
    if not answer["ok"]:
        assert answer["error"]["code"] in ("invalid_cursor", "invalid_args")
    seen: list[Any] = []
    whole = _ask(op, {key: value for key, value in args.items() if not key.startswith("max_")})
    key = "hits" if op == "grep" else "files"
    result = first["result"]
    while True:
        seen += result[key]
        if "cursor" not in result:
            break
        result = _ask(op, {**args, "cursor": result["cursor"]})["result"]
    assert seen == whole["result"][key]
    if issued and made_up != issued:
        garbled = issued[: len(issued) // 2] + made_up[:1] + issued[len(issued) // 2 + 1 :]
        assert garbled == issued or not _ask(op, {**args, "cursor": garbled})["ok"]


def _ask(op: str, args: dict[str, object]) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(_server().answer(json.dumps({"id": "1", "op": op, "args": args}).encode()))
    return answer


def trace(data: bytes) -> None:
    """Each line of a trace that is not blank is an event that its schema accepts, or has a reported problem."""
    entries = list(events.read(io.BytesIO(data)))
    lines = [line for line in data.split(b"\n") if line.strip(b" \t\r")]
    assert len(entries) == len(lines)
    pairing = events.Pairing()
    for entry in entries:
        if entry.event is None:
            assert entry.problem is not None
            assert all(entry.problem)
        else:
            assert not spec.violations("zeno/trace_event.json", entry.event)
    exchanged = [one for one in events.exchanges(entries, pairing) if isinstance(one, events.Exchange)]
    assert all(one.asked < one.answered for one in exchanged)


_OPS = tuple(f'"op":"{name}"'.encode() for name in operations())
_ARGS = tuple(
    b'"args":{} "path":"src/b.py" "paths":["src"] "pattern":"a|b" "globs":["**/*.py"] "cursor":" "ranges":['.split()
)
_EVENT = b'{"ts":"2026-01-01T00:00:00Z","event":"request","id":"1","op":"stat","args":{"paths":["a"]}}\n'
_ERROR = b'{"ts":"2026-01-01T00:00:00Z","event":"error","id":"1","op":"stat","error":{"message":"x","code":"denied"}}\n'
TARGETS = {
    "request": Target(
        request,
        (
            *(json.dumps({"id": "1", "op": op, "args": args}).encode() for op, args in requests("src/b.py", "return")),
            b'{"id":"1","op":"list_files","args":{"max_files":1}}',
            b'{"id":"1","op":"stat","args":{"paths":["a.txt","../x","/"]}}',
        ),
        (*_OPS, *_ARGS, b"\\ud800", b"../", b"1e400", b"-1", b"9007199254740992"),
        "a vector in tests/conformance/zeno",
    ),
    "cursor": Target(
        cursor, (b"\nAAAA", b"ab\n" + b"A" * 16), (b"=", b"-_"), "a case in tests/zeno/results/test_cursors.py"
    ),
    "trace": Target(
        trace,
        (_EVENT + _ERROR, _EVENT, b"\n \r\n"),
        (b'"event":"response"', b'"event":"claim"', b'"event":"subcall_start"', b"\n", b'"id":', b"null"),
        "a case in tests/whole/test_any_trace.py",
    ),
}
