"""Room for new MCP sessions, with the SDK's own session manager behind it and a clock that the test sets."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from zeno.files.tree import Tree
from zeno.interfaces.http.mcp_sessions import IDLE_ENOUGH, McpSessions
from zeno.interfaces.mcp.tools import Calls, mcp_server
from zeno.interfaces.workers import Workers
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
ACCEPT = {"Accept": "application/json, text/event-stream"}
LIMIT = 3


class Door:
    """A client of the endpoint, and the clock by which sessions are idle."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self.now = 0.0
        self._app: Any = McpSessions(manager.asgi_app, LIMIT, lambda: self.now)
        self._client = self._from("10.0.0.1")

    def _from(self, address: str) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(self._app, client=(address, 1))
        return httpx.AsyncClient(transport=transport, base_url="http://localhost")

    async def open(self, number: int = 1) -> httpx.Response:
        """Open a session from one of several addresses."""
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
        return await self._from(f"10.0.0.{number}").post("/mcp", json=message, headers=ACCEPT)

    async def ping(self, opened: httpx.Response) -> int:
        headers = {**ACCEPT, "mcp-session-id": opened.headers["mcp-session-id"]}
        message = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        return (await self._client.post("/mcp", json=message, headers=headers)).status_code

    async def end(self, opened: httpx.Response, **more: str) -> int:
        headers = {"mcp-session-id": opened.headers["mcp-session-id"], **more}
        return (await self._client.delete("/mcp", headers=headers)).status_code


def with_door(tmp_path: Path, story: Any) -> None:
    async def run(server: Server) -> None:
        with Workers(server) as workers:
            manager = StreamableHTTPSessionManager(mcp_server(workers, Calls()), max_sessions=LIMIT, json_response=True)
            async with manager.run():
                await story(Door(manager))

    with Tree(str(tmp_path)) as tree:
        asyncio.run(run(Server(ColdCorpus(tree))))


def test_the_longest_idle_session_makes_room_for_a_new_client(tmp_path: Path) -> None:
    async def story(door: Door) -> None:
        sessions = [await door.open(number) for number in range(LIMIT)]
        door.now = 1.0
        assert await door.ping(sessions[0]) == 200
        door.now = 1.0 + IDLE_ENOUGH
        assert (await door.open()).status_code == 200
        assert [await door.ping(one) for one in sessions] == [200, 404, 200]
        # Those that were used just now stay, and so does the new one.
        assert (await door.open()).status_code == 503

    with_door(tmp_path, story)


def test_sessions_that_are_not_idle_for_long_are_left_alone(tmp_path: Path) -> None:
    async def story(door: Door) -> None:
        sessions = [await door.open(number) for number in range(LIMIT)]
        door.now = IDLE_ENOUGH - 1
        assert (await door.open()).status_code == 503
        assert [await door.ping(one) for one in sessions] == [200] * LIMIT
        assert await door.end(sessions[1]) == 200
        assert (await door.open()).status_code == 200

    with_door(tmp_path, story)


def test_many_clients_that_leave_without_a_word_keep_nobody_out(tmp_path: Path) -> None:
    async def story(door: Door) -> None:
        for number in range(LIMIT * 5):
            assert (await door.open(number)).status_code == 200
            door.now += IDLE_ENOUGH

    with_door(tmp_path, story)


def test_an_address_with_most_of_the_sessions_makes_room_at_once(tmp_path: Path) -> None:
    async def story(door: Door) -> None:
        other = await door.open(2)
        crowd = [await door.open(1) for _ in range(LIMIT - 1)]
        newcomer = await door.open(3)
        assert newcomer.status_code == 200
        assert [await door.ping(one) for one in (other, *crowd, newcomer)] == [200, 404, 200, 200]

    with_door(tmp_path, story)


def test_a_session_whose_end_the_sdk_refuses_is_still_counted(tmp_path: Path) -> None:
    async def story(door: Door) -> None:
        sessions = [await door.open(number) for number in range(LIMIT)]
        refused = await door.end(sessions[0], **{"mcp-protocol-version": "1999-01-01"})
        assert refused >= 400
        assert await door.ping(sessions[0]) == 200
        door.now = IDLE_ENOUGH
        # There is no room for it unless the SDK ends one of those that it has.
        assert (await door.open(9)).status_code == 200

    with_door(tmp_path, story)


def test_a_client_that_sends_its_first_request_slowly_holds_no_session(tmp_path: Path) -> None:
    async def story(door: Door) -> None:
        async def half() -> Any:
            yield b"{"
            await asyncio.Event().wait()

        client = door._from("10.0.0.1")
        slow = [asyncio.create_task(client.post("/mcp", content=half(), headers=ACCEPT)) for _ in range(LIMIT)]
        await asyncio.sleep(0)
        assert (await door.open(2)).status_code == 200
        for one in slow:
            one.cancel()
        await asyncio.gather(*slow, return_exceptions=True)

    with_door(tmp_path, story)
