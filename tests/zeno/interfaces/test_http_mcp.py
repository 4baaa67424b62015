"""MCP over streamable HTTP, asked by the SDK's own client."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client

from tests.support.interfaces import http, sample
from tests.support.patience import PATIENCE

HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample(tmp_path_factory.mktemp("tree"))


def ask(url: str, questions: Callable[[Client], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with Client(f"{url}/mcp") as client:
            return await questions(client)

    return asyncio.run(run())


def test_tools_are_those_of_standard_input_and_answer_like_them(root: Path) -> None:
    async def questions(client: Client) -> Any:
        tools = await client.list_tools()
        calls = [client.call_tool("read_file", {"path": "src/app.py", "start_line": n, "end_line": n}) for n in (1, 4)]
        return tools.tools, await asyncio.gather(*calls)

    with http(root) as url:
        tools, answers = ask(url, questions)
        assert {tool.name for tool in tools} >= {"grep", "read_file"}
        assert [one.structured_content["text"] for one in answers] == ["import os", "def main():"]
        # The other ways in are still there.
        assert httpx.post(f"{url}/v1/ops/stat", json={"path": "."}, timeout=PATIENCE).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"Host": "evil.example"}, 403), ({"Origin": "http://evil.example"}, 403), ({"Authorization": "Bearer no"}, 401)],
)
def test_access_rules_are_those_of_the_rest(root: Path, tmp_path: Path, headers: dict[str, str], status: int) -> None:
    token = tmp_path / "token"
    token.write_text("correct-horse-battery-staple")
    token.chmod(0o600)
    with http(root, "--token-file", str(token)) as url:
        good = {"Authorization": "Bearer correct-horse-battery-staple"}
        refused = httpx.post(f"{url}/mcp", json=HELLO, headers={**ACCEPT, **good, **headers}, timeout=PATIENCE)
        assert refused.status_code == status
        welcome = httpx.post(f"{url}/mcp", json=HELLO, headers={**ACCEPT, **good}, timeout=PATIENCE)
        assert welcome.status_code == 200
