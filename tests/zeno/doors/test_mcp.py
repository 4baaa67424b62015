"""The MCP door, asked by two clients that are not ours, the SDK's own and the inspector, over real subprocesses."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import contract_spec as spec
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from tests.support.doors import ROOT, node, sample, stdio, without_metrics, zeno
from tests.support.patience import PATIENCE
from zeno.session.dispatch import OPS

ARGS: dict[str, dict[str, Any]] = {"grep": {"pattern": "def"}, "list_files": {}}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample(tmp_path_factory.mktemp("tree"))


def ask(root: Path, questions: Callable[[Client], Awaitable[Any]], *flags: str) -> Any:
    command, *arguments = zeno("mcp", "--root", root, *flags)

    async def run() -> Any:
        async with Client(stdio_client(StdioServerParameters(command=command, args=arguments))) as client:
            return await questions(client)

    return asyncio.run(run())


def args_of(op: str) -> dict[str, Any]:
    """Arguments that work on the sample tree: given here, or else a path where one can be given."""
    takes = spec.schema(f"zeno/ops/{op}.json")["$defs"]["args"].get("properties", {})
    return ARGS.get(op, {"path": "src/app.py"} if "path" in takes else {})


def test_every_operation_is_a_tool_that_promises_only_to_read(root: Path) -> None:
    tools = ask(root, lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == sorted(OPS)
    for tool in tools:
        assert tool.annotations.read_only_hint
        assert tool.annotations.idempotent_hint
        assert tool.annotations.destructive_hint is False
        assert tool.annotations.open_world_hint is False
        assert tool.description
        for schema in (tool.input_schema, tool.output_schema):
            assert schema["type"] == "object"
            assert "$ref" not in json.dumps(schema)


def test_tools_answer_as_the_plain_server_does(root: Path) -> None:
    async def all_of_them(client: Client) -> dict[str, Any]:
        return {op: await client.call_tool(op, args_of(op)) for op in OPS}

    told = ask(root, all_of_them)
    with stdio(root) as pipe:
        for op, result in told.items():
            answer = pipe.line(json.dumps({"id": "1", "op": op, "args": args_of(op)}).encode())
            assert result.is_error is not answer["ok"]
            if answer["ok"]:
                assert without_metrics(result.structured_content) == without_metrics(answer["result"])
            else:
                assert json.loads(result.content[0].text) == answer["error"]
    assert "src/app.py:4: def main():" in told["grep"].content[0].text.splitlines()
    assert "README.md" in told["list_files"].content[0].text.splitlines()


def test_refusals_are_tool_errors_with_their_code(root: Path) -> None:
    requests: list[tuple[str, dict[str, Any], str]] = [
        ("read_file", {"path": "gone"}, "not_found"),
        ("read_file", {"path": "../x"}, "path_outside_root"),
        ("read_file", {"path": "bin/data"}, "not_a_file"),
        ("read_file", {}, "invalid_args"),
        ("grep", {"pattern": "(", "regex": True}, "invalid_pattern"),
        ("grep", {"pattern": "x", "max_hits": "5"}, "invalid_args"),
        ("list_files", {"nonsense": 1}, "invalid_args"),
    ]

    async def all_of_them(client: Client) -> list[Any]:
        return [await client.call_tool(op, args) for op, args, _ in requests]

    for (op, args, code), result in zip(requests, ask(root, all_of_them), strict=True):
        assert result.is_error, (op, args)
        assert json.loads(result.content[0].text)["code"] == code
        assert result.structured_content is None


def test_an_unknown_tool_is_an_error_of_the_conversation(root: Path) -> None:
    with pytest.raises(ExceptionGroup) as raised:
        ask(root, lambda client: client.call_tool("format_disk", {}))
    assert raised.group_contains(MCPError, match="unknown op: format_disk", depth=None)


def test_calls_that_overlap_get_their_own_answers_and_a_whole_trace(root: Path, tmp_path: Path) -> None:
    async def overlapping(client: Client) -> list[Any]:
        calls = (client.call_tool("read_file", {"path": "src/app.py", "start_line": n}) for n in range(1, 9))
        return await asyncio.gather(*calls)

    log = tmp_path / "trace.jsonl"
    results = ask(root, overlapping, "--log", str(log))
    lines = (root / "src/app.py").read_text().splitlines()
    assert [result.structured_content["text"] for result in results] == lines[:8]
    events = [json.loads(line)["event"] for line in log.read_text().splitlines()]
    assert events == ["request", "response"] * 8


def test_without_its_extra_the_door_says_what_to_install(root: Path) -> None:
    hide = "import sys; sys.modules['mcp'] = sys.modules['mcp_types'] = None; "
    hide += "from zeno.cli.parser import main; sys.exit(main())"
    found = subprocess.run(
        [sys.executable, "-c", hide, "mcp", "--root", str(root)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert found.returncode == 2
    assert "pip install 'zeno-normalizer[mcp]'" in found.stderr
    assert found.stderr.count("\n") == 1


def messages(count: int) -> bytes:
    """What a client says to call a tool so many times."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    call = {"name": "read_file", "arguments": {"path": "README.md"}}
    said: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": call} for n in range(1, count + 1)),
    ]
    return b"".join(json.dumps(one).encode() + b"\n" for one in said)


def test_what_was_asked_before_the_input_ended_is_answered(root: Path) -> None:
    done = subprocess.run(zeno("mcp", "--root", root), input=messages(30), capture_output=True, timeout=PATIENCE)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers if "result" in answer] == list(range(31))
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_signal_ends_the_server_with_status_0(root: Path) -> None:
    command = zeno("mcp", "--root", root)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(messages(1))
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.readline()
        process.terminate()
        _, complaints = process.communicate(timeout=PATIENCE)
    assert (process.returncode, complaints) == (0, b"")


def inspect(root: Path, *arguments: str) -> dict[str, Any]:
    command = [node("mcp-inspector"), "--cli", *zeno("mcp", "--root", root), *arguments]
    found = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT)
    assert found.returncode == 0, found.stderr
    answer: dict[str, Any] = json.loads(found.stdout)
    return answer


def test_the_inspector_sees_the_tools_and_accepts_their_results(root: Path) -> None:
    tools = inspect(root, "--method", "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == sorted(OPS)
    call = ("--method", "tools/call", "--tool-name")
    found = inspect(root, *call, "grep", "--tool-arg", "pattern=def main", "context=1")
    assert [hit["path"] for hit in found["structuredContent"]["hits"]] == ["src/app.py"]
    refused = inspect(root, *call, "read_file", "--tool-arg", "path=gone")
    assert refused["isError"]
    assert json.loads(refused["content"][0]["text"])["code"] == "not_found"
