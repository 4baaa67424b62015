"""Roots of the MCP client narrow what `zeno mcp` serves. The client is the SDK's own, over a real subprocess."""

import asyncio
import json
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.support.interfaces import http, zeno

MODES = ("legacy", "2026-07-28")
"""The handshake, in which a server can ask its client, and the version in which it cannot."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for path in ("A/top.txt", "A/web/w.txt", "A/web two/x.txt", "A/webbing/y.txt", "B/b.txt", "out/o.txt"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("needle\n")
    return tmp_path


def ask(
    flags: list[str],
    questions: Callable[[Client], Awaitable[Any]],
    roots: list[str] | None,
    mode: Any = "legacy",
    errors: Path | None = None,
) -> Any:
    """Ask a server as a client with these roots; None stands for a client without the capability."""

    async def told(context: Any) -> types.ListRootsResult:
        assert roots is not None
        return types.ListRootsResult(roots=[types.Root(uri=uri) for uri in roots])

    command, *arguments = zeno("mcp", *flags)

    async def run(log: Any) -> Any:
        transport = stdio_client(StdioServerParameters(command=command, args=arguments), errlog=log)
        async with Client(transport, mode=mode, list_roots_callback=None if roots is None else told) as client:
            return await questions(client)

    with open(errors or "/dev/null", "w") as log:
        return asyncio.run(run(log))


async def files(client: Client) -> list[str]:
    found = await client.call_tool("list_files", {})
    return list(found.structured_content["files"])


def uri(*paths: Path) -> list[str]:
    return [path.as_uri() for path in paths]


ALL = ["top.txt", "web two/x.txt", "web/w.txt", "webbing/y.txt"]


@pytest.mark.parametrize("mode", MODES)
def test_a_root_inside_narrows_and_the_rest_is_denied(home: Path, mode: str) -> None:
    async def questions(client: Client) -> Any:
        listed = await files(client)
        hits = await client.call_tool("grep", {"pattern": "needle"})
        refused = await client.call_tool("read_file", {"path": "top.txt"})
        described = await client.call_tool("describe", {})
        return listed, hits.structured_content, refused.content[0], described.structured_content

    flags = ["--root", str(home / "A"), "--deny", "secrets"]
    listed, hits, refused, described = ask(flags, questions, uri(home / "A" / "web", home / "A" / "web two"), mode)
    assert listed == ["web two/x.txt", "web/w.txt"]
    assert [hit["path"] for hit in hits["hits"]] == listed
    assert hits["policy"] is True
    assert json.loads(refused.text)["code"] == "denied"
    assert described["policy"]["within"] == ["web", "web two"]
    assert described["policy"]["lists"] == ["secrets"]


@pytest.mark.parametrize("mode", MODES)
def test_a_root_outside_is_ignored_and_told(home: Path, mode: str) -> None:
    errors = home / "errors"
    roots = [*uri(home / "out", home / "A" / "web"), "file://elsewhere/x", "file:///a%00b"]
    assert ask(["--root", str(home / "A")], files, roots, mode, errors) == ["web/w.txt"]
    told = errors.read_text()
    assert told.count("is ignored") == 3
    assert (home / "out").as_uri() in told
    # With none inside, nothing is narrowed.
    assert ask(["--root", str(home / "A")], files, uri(home / "out"), mode) == ALL
    assert ask(["--root", str(home / "A")], files, [], mode) == ALL


@pytest.mark.parametrize("mode", MODES)
def test_a_root_above_or_equal_leaves_all(home: Path, mode: str) -> None:
    for root in (home, home / "A", Path("/")):
        assert ask(["--root", str(home / "A")], files, uri(root), mode) == ALL


def test_a_root_that_is_a_link_leads_where_the_link_leads(home: Path) -> None:
    (home / "A" / "link").symlink_to("web")
    (home / "A" / "away").symlink_to("../out")
    roots = uri(home / "A" / "away", home)[:1]
    assert ask(["--root", str(home / "A")], files, roots) == ALL
    assert ask(["--root", str(home / "A")], files, [f"{(home / 'A').as_uri()}/link"]) == ["web/w.txt"]


def test_with_several_roots_each_may_be_narrowed(home: Path) -> None:
    flags = ["--root", f"a={home / 'A'}", "--root", f"b={home / 'B'}"]
    assert ask(flags, files, uri(home / "A" / "web", home / "B")) == ["a/web/w.txt", "b/b.txt"]
    assert ask(flags, files, uri(home / "B")) == ["b/b.txt"]
    assert ask(flags, files, uri(home)) == [*(f"a/{path}" for path in ALL), "b/b.txt"]


def test_without_the_capability_or_with_the_flag_nothing_changes(home: Path) -> None:
    assert ask(["--root", str(home / "A")], files, None) == ALL
    assert ask(["--root", str(home / "A"), "--ignore-client-roots"], files, uri(home / "A" / "web")) == ALL


@pytest.mark.filterwarnings("ignore:The roots capability is deprecated")
def test_roots_are_read_again_after_they_changed(home: Path) -> None:
    roots = uri(home / "A" / "web")

    async def questions(client: Client) -> list[list[str]]:
        seen = [await files(client)]
        for change in (uri(home / "A" / "webbing"), uri(home / "A")):
            roots[:] = change
            await client.session.send_roots_list_changed()
            seen.append(await files(client))
        return seen

    assert ask(["--root", str(home / "A")], questions, roots) == [["web/w.txt"], ["webbing/y.txt"], ALL]


def test_a_call_cancelled_while_roots_are_asked_for_does_not_make_them_known(home: Path) -> None:
    peer = subprocess.Popen(zeno("mcp", "--root", str(home / "A")), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert peer.stdin is not None
    assert peer.stdout is not None

    def send(**message: Any) -> None:
        assert peer.stdin is not None
        peer.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        peer.stdin.flush()

    def call(number: int) -> None:
        send(id=number, method="tools/call", params={"name": "list_files", "arguments": {}})

    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {"roots": {}},
        "clientInfo": {"name": "t", "version": "1"},
    }
    with peer:
        send(id=1, method="initialize", params=hello)
        send(method="notifications/initialized")
        call(2)
        asked, message = 0, {}
        for line in peer.stdout:
            message = json.loads(line)
            if message.get("method") == "roots/list":
                asked += 1
                if asked == 1:
                    send(method="notifications/cancelled", params={"requestId": 2})
                    call(3)
                else:
                    send(id=message["id"], result={"roots": [{"uri": (home / "A/web").as_uri()}]})
            elif message.get("id") == 3:
                break
        peer.stdin.close()
    assert message["result"]["structuredContent"]["files"] == ["web/w.txt"]


def test_calls_at_once_are_all_narrowed(home: Path) -> None:
    async def together(client: Client) -> list[bool]:
        calls = [client.call_tool("grep", {"pattern": "needle"})]
        calls += [client.call_tool("read_file", {"path": "top.txt"}) for _ in range(40)]
        found = await asyncio.gather(*calls)
        assert len(found[0].structured_content["hits"]) == 1
        return [answer.is_error for answer in found[1:]]

    for number in range(300):
        (home / "A" / "web" / f"{number}").write_text("a\n" * 1000)
    for _ in range(3):
        assert all(ask(["--root", str(home / "A")], together, uri(home / "A/web")))


def test_a_client_that_refuses_to_tell_its_roots_is_served_all(home: Path) -> None:
    async def refuses(context: Any) -> types.ErrorData:
        return types.ErrorData(code=-32603, message="not now")

    command, *arguments = zeno("mcp", "--root", str(home / "A"))

    async def run(log: Any) -> list[str]:
        transport = stdio_client(StdioServerParameters(command=command, args=arguments), errlog=log)
        async with Client(transport, mode="legacy", list_roots_callback=refuses) as client:
            return await files(client)

    with open(home / "errors", "w") as log:
        assert asyncio.run(run(log)) == ALL
    assert "not now" in (home / "errors").read_text()


def test_claims_can_cite_only_what_is_left(home: Path) -> None:
    async def questions(client: Client) -> list[bool | None]:
        cited = [[{"path": path, "start_line": 1, "end_line": 1}] for path in ("web/w.txt", "top.txt")]
        return [(await client.call_tool("claim", {"claim": "x", "evidence": one})).is_error for one in cited]

    flags = ["--root", str(home / "A"), "--log", str(home / "log")]
    assert [bool(one) for one in ask(flags, questions, uri(home / "A" / "web"))] == [False, True]


def test_a_trace_of_a_narrowed_session_is_replayed_as_it_was_narrowed(home: Path) -> None:
    async def questions(client: Client) -> None:
        await files(client)
        await client.call_tool("grep", {"pattern": "needle", "paths": ["web*"]})
        await client.call_tool("read_file", {"path": "top.txt"})

    log = str(home / "log")
    ask(["--root", str(home / "A"), "--log", log], questions, uri(home / "A" / "web", home / "A" / "web two"))
    command = zeno("trace", "replay", log, "--root", str(home / "A"))
    assert "3 the same, 0 different" in subprocess.run(command, capture_output=True, text=True).stdout


def test_over_http_the_roots_of_the_command_line_count(home: Path) -> None:
    async def told(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=(home / "A" / "web").as_uri())])

    async def run(url: str) -> list[str]:
        async with Client(f"{url}/mcp", mode="legacy", list_roots_callback=told) as client:
            return await files(client)

    with http(home / "A") as url:
        assert asyncio.run(run(url)) == ALL
