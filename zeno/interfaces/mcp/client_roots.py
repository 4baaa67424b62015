"""The roots of an MCP client: they narrow what is served to it, and never widen it.

A client that declares the capability is asked for its roots before its first call is answered, and again after it has
said that they changed. A root inside a directory of the command line narrows; a root above one leaves it whole; others
are ignored, which standard error tells. Where all are ignored nothing changes.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from zeno.files.file_tree import FileTree
from zeno.interfaces.claims import Claims
from zeno.interfaces.rows import one_line
from zeno.search.corpus import Corpus
from zeno.session.server import Server

# Seconds that a client has for its answer; then it is served as if it had no roots.
TIMEOUT = 10.0
MAX_ROOTS = 1000
_KEY = "roots"


class ClientRoots:
    """Narrows a server to the roots of its only client."""

    def __init__(
        self, server: Server, claims: Claims | None, tree: FileTree, make_corpus: Callable[[FileTree], Corpus]
    ) -> None:
        self._server = server
        self._claims = claims
        self._tree = tree
        self._make_corpus = make_corpus
        self._within: list[str] | None = None
        self._known = False
        self._asking = asyncio.Lock()

    def forget(self) -> None:
        """Forget the client's roots: it is asked for them again before the next call."""
        self._known = False

    async def honour(
        self, session: Any, params: types.CallToolRequestParams, run: Callable[[Callable[[], None]], Awaitable[None]]
    ) -> types.InputRequiredResult | None:
        """Learn the client's roots if they are not known, and narrow the server to them with `run`.

        Other calls wait meanwhile, so that none is answered with more than the roots leave. From protocol version
        2026-07-28 on a server cannot ask by itself: then the answer to the call is returned, with which the client has
        to repeat the call.
        """
        async with self._asking:
            capabilities = session.client_capabilities
            if self._known or capabilities is None or capabilities.roots is None:
                return None
            # Before asking: a change that is reported meanwhile makes them unknown again.
            self._known = True
            try:
                found = await _ask_roots(session, params)
                if isinstance(found, types.InputRequiredResult):
                    self._known = False
                    return found
                if found is not None:
                    await run(partial(self.narrow, found))
            except BaseException:
                # The call was cancelled: the next one asks again.
                self._known = False
                raise
            return None

    def narrow(self, uris: Iterable[str]) -> None:
        """Serve only what these roots cover, from a new corpus if that is something else than before."""
        within = self._find_covered(uris)
        if within == self._within:
            return
        self._within = within
        if within is not None:
            _tell(f"the client's roots leave {', '.join(map(one_line, within))}")
        tree = self._tree if within is None else self._tree.under(self._tree.policy.narrow(within))
        self._server.answer_from(self._make_corpus(tree))
        if self._claims is not None:
            self._claims.cite_from(self._server.corpus.tree)

    def _find_covered(self, uris: Iterable[str]) -> list[str] | None:
        """Return the directories that the roots cover, sorted; None for everything."""
        found: set[str] = set()
        for uri in uris:
            path = _path(uri)
            covered = [] if path is None else self._tree.find_covered(path)
            if not covered:
                _tell(f"the client's root {one_line(uri)} is no directory of what is served, and is ignored")
            found.update(covered)
        return None if not found or "." in found or found >= set(self._tree.names or ["."]) else sorted(found)


async def _ask_roots(session: Any, params: types.CallToolRequestParams) -> list[str] | types.InputRequiredResult | None:
    """Return the roots that the client gave with the call or tells now, or what to answer; None if it does not tell."""
    if session.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
        given = (params.input_responses or {}).get(_KEY)
        if not isinstance(given, types.ListRootsResult):
            return types.InputRequiredResult(input_requests={_KEY: types.ListRootsRequest()})
        return _uris(given)
    try:
        async with asyncio.timeout(TIMEOUT):
            return _uris(await session.send_request(types.ListRootsRequest(), types.ListRootsResult))
    except (MCPError, TimeoutError) as error:
        _tell(f"the client did not send its roots ({str(error) or 'no answer'}); they narrow nothing")
        return None


def _uris(found: types.ListRootsResult) -> list[str]:
    return [str(root.uri) for root in found.roots[:MAX_ROOTS]]


def _path(uri: str) -> bytes | None:
    """Return the absolute path of a file URI; None for another URI."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote_to_bytes(parts.path)
    here = parts.scheme == "file" and parts.netloc in ("", "localhost")
    return path if here and path.startswith(b"/") and b"\0" not in path else None


def _tell(notice: str) -> None:
    print(f"zeno: {notice}", file=sys.stderr, flush=True)
