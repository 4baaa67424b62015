"""The MCP door, asked by two clients that are not ours, the SDK's own and the inspector, over real subprocesses."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import contract_spec as spec
import pytest
from contract_spec.bundle import inlined
from contract_spec.extras import install_command
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from tests.support.interfaces import ROOT, node, sample, stdio, without_metrics, zeno
from tests.support.patience import PATIENCE, until
from tests.support.repositories import init
from tests.support.slow import SLOW, children, ended, slow_file
from zeno.session.dispatch import OPS

RULES = spec.resource("rules/mcp.json")
EXAMPLE = re.compile(r"\{.*?\}(?=[;.]|$)")
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
    tools = ask(root, lambda client: client.list_tools(), "--all-tools").tools
    assert [tool.name for tool in tools] == ["search", "batch", *sorted({*OPS} - {"search"})]
    few = ask(root, lambda client: client.list_tools()).tools
    assert few == [tool for tool in tools if tool.name == "batch" or not OPS[tool.name].tool.get("extra")]
    for tool in tools:
        assert tool.annotations.read_only_hint
        assert tool.annotations.open_world_hint is False
    for tool in tools[:1] + tools[2:]:
        assert tool.description == OPS[tool.name].tool["description"]
        assert tool.input_schema["type"] == "object"
        known = spec.schema(f"zeno/ops/{tool.name}.json")["$defs"]["args"]["properties"]
        # Without --revs no commit may be named.
        hidden = {*OPS[tool.name].tool.get("hidden", ()), "rev", "changed_since"}
        assert list(tool.input_schema.get("properties", {})) == [name for name in known if name not in hidden]
        assert "$ref" not in json.dumps(tool.input_schema)


def test_the_list_of_tools_is_short(tmp_path: Path) -> None:
    found = ask(
        init(tmp_path / "r"), lambda client: client.list_tools(), "--log", str(tmp_path / "log"), "--revs", "all"
    )
    assert "rev" in found.tools[-1].input_schema["properties"]["search"]["properties"]
    assert found.tools[-1].name == "claim"
    assert len(found.model_dump_json(by_alias=True, exclude_none=True)) <= 12_000


def plain_defaults(op: str) -> dict[str, Any]:
    """The defaults of arguments, without those for entries of lists."""
    return {name: value for name, value in OPS[op].tool["defaults"].items() if "[]" not in name}


def test_tools_answer_as_the_plain_server_does_with_the_defaults_for_models(root: Path) -> None:
    async def all_of_them(client: Client) -> dict[str, Any]:
        return {op: await client.call_tool(op, args_of(op)) for op in OPS}

    told = ask(root, all_of_them, "--max-seconds", "300")
    # A server for agents denies secrets without being told.
    with stdio(root, "--max-seconds", "300", "--deny", "secrets") as pipe:
        for op, result in told.items():
            args = plain_defaults(op) | args_of(op)
            answer = pipe.line(json.dumps({"id": "1", "op": op, "args": args}).encode())
            assert result.is_error is not answer["ok"]
            if answer["ok"]:
                assert without_metrics(result.structured_content) == without_metrics(answer["result"])
            else:
                assert json.loads(result.content[0].text) == answer["error"]
    assert told["grep"].content[0].text.splitlines()[:2] == ["src/app.py", "4\tdef main():"]
    assert "README.md" in told["list_files"].content[0].text.splitlines()
    assert len(told["read_file"].content[0].text.splitlines()) == 10


def test_ranges_without_an_end_read_on_as_the_main_range_does(root: Path) -> None:
    whole = root / "src/app.py"
    lines = len(whole.read_text().splitlines())
    assert lines > 3
    asked = {"path": "src/app.py", "end_line": 1, "ranges": [{"path": "src/app.py", "start_line": 2}]}
    told = ask(root, lambda client: client.call_tool("read_file", asked))
    (further,) = told.structured_content["ranges"]
    assert (further["start_line"], further["end_line"]) == (2, lines)


@pytest.mark.parametrize("ranges", ["x", [1], [{"path": ""}]])
def test_ranges_that_are_none_are_refused_by_the_server(root: Path, ranges: Any) -> None:
    refused = ask(root, lambda client: client.call_tool("read_file", {"path": "a", "ranges": ranges}))
    assert json.loads(refused.content[0].text)["code"] == "invalid_args"


def test_a_large_tree_is_searched_and_listed_to_its_end(tmp_path: Path) -> None:
    """As ripgrep would: the protocol's own default would end both in the middle of the tree."""
    crowd = tmp_path / "a"
    crowd.mkdir()
    for number in range(spec.schema("zeno/ops/grep.json")["$defs"]["args"]["properties"]["max_files"]["default"]):
        (crowd / str(number)).touch()
    (tmp_path / "z").mkdir()
    (tmp_path / "z/last.py").write_text("def found(): ...\n")

    asked: list[tuple[str, dict[str, Any]]] = [
        ("grep", {"pattern": "found", "paths": ["z"]}),
        ("list_files", {"glob": "**/last.py"}),
        ("read_file", {"path": "z/lost.py"}),
    ]

    async def questions(client: Client) -> list[Any]:
        return [(await client.call_tool(op, args)).content[0] for op, args in asked]

    hits, files, near = (told.text for told in ask(tmp_path, questions))
    assert hits == "z/last.py\n1\tdef found(): ...\n[1 hit in 1 file; complete: 1 file]"
    assert files == "z/last.py\n[1 file; complete: 1 file]"
    assert "did you mean 'z/last.py'?" in near


def test_no_default_of_a_tool_is_a_number_without_meaning(root: Path) -> None:
    tools = ask(root, lambda client: client.list_tools()).model_dump_json(by_alias=True, exclude_none=True)
    assert str(2**53 - 1) not in tools


def test_the_rules_of_the_door_fit_their_schema_and_the_arguments(root: Path) -> None:
    assert spec.violations("zeno/mcp_rules.json", RULES) == []
    taken = {
        name
        for schema in (*(f"zeno/ops/{op}.json" for op in OPS), "zeno/batch.json", "zeno/claim.json")
        for name in re.findall(r'"(\w+)": \{', json.dumps(inlined(f"{schema}#/$defs/args")))
    }
    assert RULES["arguments"].keys() <= taken
    for op, operation in OPS.items():
        tool = operation.tool
        needed = spec.schema(f"zeno/ops/{op}.json")["$defs"]["args"].get("required", [])
        found = spec.violations(f"zeno/ops/{op}.json#/$defs/args", plain_defaults(op))
        assert [one.pointer for one in found if one.keyword not in ("required", "minProperties")] == []
        assert not set(needed) & tool["defaults"].keys()
        # Each example in a description is a call that the schema accepts.
        examples = EXAMPLE.findall(tool["description"])
        assert examples, f"the description of {op} for models needs an example of its arguments in braces"
        for example in examples:
            assert spec.violations(f"zeno/ops/{op}.json#/$defs/args", json.loads(example)) == [], example


def test_every_choice_of_an_argument_is_explained(root: Path) -> None:
    for tool in ask(root, lambda client: client.list_tools()).tools:
        for name, argument in tool.input_schema.get("properties", {}).items():
            for choice in argument.get("enum", []) if name != "op" else []:
                assert f"{choice}:" in argument["description"], (tool.name, name)


def test_describe_tells_the_defaults_and_the_schemas_of_one_tool(root: Path) -> None:
    async def described(client: Client) -> Any:
        return [
            (await client.call_tool("describe", args)).structured_content
            for args in ({}, {"op": "grep", "schemas": True})
        ]

    plain, grep = ask(root, described)
    assert plain["model_defaults"] == {op: operation.tool["defaults"] for op, operation in OPS.items()}
    assert "schemas" not in plain
    assert list(grep["schemas"]) == ["zeno/ops/grep.json"]
    assert "hits" in grep["schemas"]["zeno/ops/grep.json"]["properties"]["result"]["properties"]
    assert "$ref" not in json.dumps(grep["schemas"])


def test_a_slow_call_delays_nobody_and_is_stopped_when_it_is_cancelled(root: Path, tmp_path: Path) -> None:
    tree = sample(tmp_path / "tree")
    slow_file(tree)
    log = tmp_path / "log"
    command = zeno("mcp", "--root", tree, "--log", log)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def say(**message: Any) -> None:
            assert process.stdin is not None
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            process.stdin.flush()

        process.stdin.write(messages(0).decode())
        say(id="slow", method="tools/call", params={"name": "grep", "arguments": SLOW})
        until(lambda: children(process.pid), "the request runs in a process of its own")
        say(id="quick", method="tools/call", params={"name": "stat", "arguments": {"path": "."}})
        seen = [json.loads(process.stdout.readline())["id"] for _ in range(2)]
        assert seen == [0, "quick"]
        say(method="notifications/cancelled", params={"requestId": "slow"})
        until(lambda: not children(process.pid), "it has ended")
        until(lambda: b'"cancelled"' in log.read_bytes(), "the trace tells of it")
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


def test_whoever_asks_for_progress_hears_of_it(tmp_path: Path) -> None:
    slow_file(sample(tmp_path))
    heard = asyncio.Event()

    async def heard_of(progress: float, total: float | None, message: str | None) -> None:
        assert (progress > 0, total, message) == (True, None, "still searching")
        heard.set()

    async def questions(client: Client) -> Any:
        return await client.call_tool("grep", SLOW, progress_callback=heard_of)

    assert json.loads(ask(tmp_path, questions, "--max-seconds", "3").content[0].text)["code"] == "deadline_exceeded"
    assert heard.is_set()


def test_a_claim_is_written_with_the_lines_and_the_answers_it_rests_on(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def questions(client: Client) -> list[Any]:
        found: Any = await client.call_tool("grep", {"pattern": "nowhere to be found"})
        request_id = found.meta["zeno/request_id"]
        assert f"request {request_id}" in found.content[0].text
        evidence = [{"path": "src/app.py", "start_line": 4, "end_line": 5}]
        return [
            await client.call_tool("claim", {"claim": "it is not there", "answers": [request_id]}),
            await client.call_tool("claim", {"claim": "main asks the system", "evidence": evidence}),
            await client.call_tool(
                "claim",
                # Null is as if it were left out.
                {
                    "claim": "there is a main",
                    "evidence": [{"path": "src/app.py", "symbol": "main", "start_line": None}],
                    "search": {"type": "defines", "name": "main", "pattern": None},
                    "answers": None,
                },
            ),
            await client.call_tool("claim", {"claim": "", "evidence": evidence}),
            await client.call_tool("claim", {"claim": "x", "answers": ["never asked"]}),
            await client.call_tool("claim", {"claim": "x", "evidence": [{"path": "src/app.py", "symbol": "gone"}]}),
            await client.call_tool("claim", {"claim": "x", "search": {"type": "defines", "pattern": "main"}}),
        ]

    absent, cited, defined, *refused = ask(root, questions, "--log", str(log))
    events = [json.loads(line) for line in log.read_text().splitlines()]
    claims = [event for event in events if event["event"] == "claim"]
    assert claims == [absent.structured_content, cited.structured_content, defined.structured_content]
    assert claims[2]["evidence"][0]["symbol"] == "main"
    assert claims[2]["search"] == {"type": "defines", "name": "main"}
    assert claims[0]["answers"][0]["digest"] == events[2]["digest"]
    assert len(claims[1]["evidence"][0]["sha256"]) == 64
    assert [json.loads(one.content[0].text)["code"] for one in refused] == ["invalid_args"] * 4


def test_a_claim_that_cites_nothing_is_told_so_with_the_cure(root: Path, tmp_path: Path) -> None:
    async def claim(client: Client) -> list[Any]:
        found: Any = await client.call_tool("grep", {"pattern": "nowhere to be found"})
        answers = [found.meta["zeno/request_id"]]
        return [await client.call_tool("claim", {"claim": "x", **more}) for more in ({}, {"answers": answers})]

    alone, cured = [one.content[0].text for one in ask(root, claim, "--log", str(tmp_path / "log"))]
    assert "it cites nothing" in alone
    assert "answers (request ids of searches that found nothing)" in alone
    assert cured == "[claim written to the trace]"


def test_without_a_trace_there_is_no_claim_tool(root: Path) -> None:
    with pytest.raises(ExceptionGroup) as raised:
        ask(root, lambda client: client.call_tool("claim", {"claim": "x"}))
    assert raised.group_contains(MCPError, match="unknown op: claim; .*--log", depth=None)


def test_a_message_that_is_too_long_is_refused_and_the_next_one_answered(root: Path) -> None:
    long = {"name": "stat", "arguments": {"path": "x" * (70 << 20)}}
    say = [
        {"jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": long},
        {
            "jsonrpc": "2.0",
            "id": "short",
            "method": "tools/call",
            "params": {"name": "stat", "arguments": {"path": "."}},
        },
    ]
    given = messages(0) + b"".join(json.dumps(one).encode() + b"\n" for one in say)
    done = subprocess.run(zeno("mcp", "--root", root), input=given, capture_output=True, timeout=PATIENCE)
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    assert "longer than" in answers["long"]["error"]["message"]
    assert "result" in answers["short"]
    assert done.returncode == 0


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_old_and_new_versions_of_the_protocol_are_spoken(root: Path, version: str) -> None:
    given = messages(1).replace(b"2025-06-18", version.encode())
    done = subprocess.run(zeno("mcp", "--root", root), input=given, capture_output=True, timeout=PATIENCE)
    hello, answer = map(json.loads, done.stdout.splitlines())
    assert hello["result"]["protocolVersion"] == version
    assert answer["result"]["content"][0]["text"].startswith("1\t# Sample")


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
        ask(root, lambda client: client.call_tool("grepp", {}))
    assert raised.group_contains(MCPError, match="unknown op: grepp; did you mean grep", depth=None)


def test_calls_that_overlap_get_their_own_answers_and_a_whole_trace(root: Path, tmp_path: Path) -> None:
    async def overlapping(client: Client) -> list[Any]:
        paths = [{"path": "src/app.py", "start_line": n, "end_line": n} for n in range(1, 9)]
        calls = (client.call_tool("read_file", args) for args in paths)
        return await asyncio.gather(*calls)

    log = tmp_path / "trace.jsonl"
    results = ask(root, overlapping, "--log", str(log))
    lines = (root / "src/app.py").read_text().splitlines()
    assert [result.structured_content["text"] for result in results] == lines[:8]
    events = [json.loads(line)["event"] for line in log.read_text().splitlines()]
    assert sorted(events) == ["request"] * 8 + ["response"] * 8 + ["session"]


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
    assert install_command("mcp") in found.stderr
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
    assert sorted(answer["id"] for answer in answers if "result" in answer) == list(range(31))
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("how", ["its client has left", "a signal came"])
def test_a_slow_call_after_the_last_message_ends_when(tmp_path: Path, how: str) -> None:
    """It would take minutes, and nobody could receive the answer."""
    slow_file(tmp_path)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "grep", "arguments": SLOW}}
    with subprocess.Popen(
        zeno("mcp", "--root", tmp_path, "--no-cache"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdin.write(messages(0) + json.dumps(call).encode() + b"\n")
            process.stdin.close()
            copies = until(lambda: children(process.pid), "the call runs in a copy of the process")
            if how == "a signal came":
                process.terminate()
            else:
                process.stdout.close()
            assert process.wait(PATIENCE) == 0
            until(lambda: all(map(ended, copies)), "the copy ended too")
            assert process.stderr.read() == b""
        finally:
            process.kill()


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
    assert [tool["name"] for tool in tools] == [
        "search",
        "batch",
        *sorted({*OPS} - {"search", "describe", "extract_symbols", "peek", "stat"}),
    ]
    call = ("--method", "tools/call", "--tool-name")
    found = inspect(root, *call, "grep", "--tool-arg", "pattern=def main", "context=1")
    assert [hit["path"] for hit in found["structuredContent"]["hits"]] == ["src/app.py"]
    refused = inspect(root, *call, "read_file", "--tool-arg", "path=gone")
    assert refused["isError"]
    assert json.loads(refused["content"][0]["text"])["code"] == "not_found"


def test_null_for_an_optional_argument_is_as_if_it_were_left_out(root: Path) -> None:
    calls: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("grep", {"pattern": "def", "paths": None, "context": None}, {"pattern": "def"}),
        ("list_files", {"glob": None, "max": None}, {}),
        (
            "read_file",
            {"path": "src/app.py", "ranges": [{"path": "README.md", "end_line": None}], "max_chars": None},
            {"path": "src/app.py", "ranges": [{"path": "README.md"}]},
        ),
    ]

    async def questions(client: Client) -> list[Any]:
        return [(await client.call_tool(op, args)).structured_content for op, *both in calls for args in both]

    answers = [without_metrics(one) for one in ask(root, questions)]
    assert answers[::2] == answers[1::2]


@pytest.mark.parametrize(
    ("op", "args"),
    [("grep", {"pattern": None}), ("stat", {"path": None, "unknown": None}), ("read_file", {"path": None})],
)
def test_null_for_an_argument_that_is_required_or_unknown_is_refused(root: Path, op: str, args: dict[str, Any]) -> None:
    async def question(client: Client) -> Any:
        return await client.call_tool(op, args)

    answer = ask(root, question)
    assert answer.is_error
    assert "invalid_args" in answer.content[0].text
