"""Access control of the HTTP interface: the address it listens on, and the Host, Origin and token of each request.

A Host that is a foreign name (DNS rebinding) and a foreign Origin are refused, because a browser may have been tricked
into sending the request. Off loopback every request but the health check needs the token.
"""

import hmac
import ipaddress
import os
import socket
import stat
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from zeno.interfaces.http.problems import problem

MIN_TOKEN = 16
MAX_TOKEN = 4096
_BACKLOG = 1024


class CannotListen(Exception):
    """An address, port or token that cannot be used. The message is one sentence for a person."""


class Listening(NamedTuple):
    """A bound socket, and the token that requests to it need."""

    socket: socket.socket
    token: str | None
    url: str


def listen(host: str, port: int, token_file: str | None) -> Listening:
    """Bind a socket. Whether a token is needed depends on the address that was bound, not on its spelling."""
    token = None if token_file is None else _token(token_file)
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        if token is None and not ipaddress.ip_address(address[0]).is_loopback:
            raise CannotListen(f"{host} is not a loopback address: whoever reaches it could read; give --token-file")
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(_BACKLOG)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CannotListen(f"cannot listen on {host} port {port}: {reason}") from None
    name, number = bound.getsockname()[:2]
    return Listening(bound, token, f"http://[{name}]:{number}" if ":" in name else f"http://{name}:{number}")


def _token(path: str) -> str:
    try:
        with open(path, "rb") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise CannotListen(f"the token file {path!r} is open to others than its owner; run: chmod 600 {path}")
            token = file.read(MAX_TOKEN + 1)
    except OSError as error:
        raise CannotListen(f"cannot read the token file {path!r}: {os.strerror(error.errno or 0)}") from None
    if len(token) > MAX_TOKEN:
        raise CannotListen(f"the token file {path!r} is longer than {MAX_TOKEN} bytes")
    token = token.strip()
    if len(token) < MIN_TOKEN or not all(0x21 <= byte <= 0x7E for byte in token):
        raise CannotListen(f"the token in {path!r} must be at least {MIN_TOKEN} visible ASCII characters")
    return token.decode("ascii")


class AccessControl:
    """ASGI middleware that checks Host, Origin and token before a request is read."""

    def __init__(self, app: ASGIApp, token: str | None, names: frozenset[str]) -> None:
        self._app = app
        self._token = None if token is None else f"Bearer {token}".encode()
        self._names = names | {"localhost"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        refusal = self._refusal(Request(scope)) if scope["type"] == "http" else None
        await (self._app if refusal is None else refusal)(scope, receive, send)

    def _refusal(self, request: Request) -> Response | None:
        if "transfer-encoding" in request.headers and "content-length" in request.headers:
            # Request smuggling: a proxy in front may have used the other length.
            refusal = problem("a request has Content-Length or Transfer-Encoding, not both", status=400)
            refusal.headers["Connection"] = "close"
            return refusal
        host = request.headers.get("host", "")
        if not self._is_known(host):
            return problem("the Host is not one this server answers to; name it with --allow-host", status=403)
        origin = request.headers.get("origin")
        if origin is not None and origin.lower() not in (f"http://{host}".lower(), f"https://{host}".lower()):
            return problem("requests of pages from another origin are not answered", status=403)
        if self._token is not None and request.url.path != "/healthz":
            given = request.headers.get("authorization", "").encode()
            if not hmac.compare_digest(given, self._token):
                refusal = problem("send the token as Authorization: Bearer TOKEN", status=401)
                refusal.headers["WWW-Authenticate"] = "Bearer"
                return refusal
        return None

    def _is_known(self, host: str) -> bool:
        """Return whether a Host is safe from DNS rebinding: an address, localhost, or a name given with
        --allow-host."""
        name, _, port = host.rpartition(":") if not host.endswith("]") and ":" in host else (host, "", "")
        if port and not port.isdecimal():
            return False
        if name.startswith("[") and name.endswith("]"):
            return _is_address(name[1:-1], 6)
        return name.lower().rstrip(".") in self._names or _is_address(name, 4)


def _is_address(text: str, version: int) -> bool:
    try:
        return ipaddress.ip_address(text).version == version
    except ValueError:
        return False
