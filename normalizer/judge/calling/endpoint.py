"""A judge behind an OpenAI-compatible chat endpoint: one request a call, tried again when the endpoint is busy or cut.

The request carries the parts of the input as content parts, and no more. The key comes from the
environment, goes into one header, and is cut out of everything that is kept (`key_filter`).
"""

import asyncio
import json
import os
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

import contract_spec as spec
from contract_spec.extras import install_command

from normalizer.documents.settings import LIMITS
from normalizer.errors import CannotRun
from normalizer.judge.calling.calls import CallFailed
from normalizer.judge.calling.key_filter import KeyFilter, KeyRepeated
from normalizer.judge.run_folder import JudgeAnswer, sha256

_LONGEST_WAIT = 600.0
_BACK_OFF_CAP = 60.0
_TOKENS = {"prompt": "prompt_tokens", "completion": "completion_tokens", "total": "total_tokens"}
_MANY = 10**15
"""Token counts from here on are not plausible and are not recorded."""
_HOPELESS = {
    401: "the endpoint refuses the key: put a valid one into the environment variable {key_env}",
    403: "the endpoint refuses access: check the key in {key_env} and whether it may use the model",
    404: "the endpoint knows no such address or model: check --endpoint and --model",
}
_UNCLEAN = "it repeats the key in a form that cannot be cut out, or is no text in which it could be found"
_RESERVED = ("model", "messages", "stream", "n")


class Tries(NamedTuple):
    """Timeout and retries of one call."""

    timeout: float
    retries: int
    back_off: float


class _Again(Exception):
    """This try failed; a further one may succeed."""

    def __init__(self, problem: str, wait: float | None = None, kept: bytes = b"") -> None:
        super().__init__(problem)
        self.problem = problem
        self.wait = wait
        self.kept = kept


def messages(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of an input as chat messages: rules and scale for the system, task and file for the user.

    The name of a PDF is the same for all: the format wants one.
    """
    part = document["file"]
    if "base64" in part:
        data = f"data:{part['media_type']};base64,{part['base64']}"
        content: dict[str, Any] = {"type": "file", "file": {"filename": "document.pdf", "file_data": data}}
    else:
        content = {"type": "text", "text": part["text"]}
    told = [{"type": "text", "text": document[name]} for name in ("rules", "scale")]
    task = [{"type": "text", "text": f"{name}:\n{text}"} for name, text in document.get("task", {}).items()]
    return [{"role": "system", "content": told}, {"role": "user", "content": [*task, content]}]


def request_body(data: bytes, model: str, parameters: dict[str, Any]) -> bytes:
    """The bytes of the request for an input."""
    body = {"model": model, "messages": messages(json.loads(data)), **parameters}
    return json.dumps(body, separators=(",", ":")).encode()


def parameters_of(text: str | None) -> dict[str, Any]:
    """Parse --parameters: further members of a request."""
    try:
        value = (
            {} if text is None else spec.parse(text.encode("utf-8", "surrogateescape"), max_depth=LIMITS["max_depth"])
        )
    except spec.NotStrictJson as error:
        raise CannotRun(f'--parameters must be a JSON object, such as {{"temperature": 0}}: {error}') from None
    if type(value) is not dict:
        raise CannotRun('--parameters must be a JSON object, such as {"temperature": 0}')
    for name in _RESERVED:
        if name in value:
            raise CannotRun(f"--parameters may not set {name}: the run itself does")
    return value


def address(endpoint: str) -> str:
    """The address to ask. `/chat/completions` is added where it is not there."""
    try:
        parts = urlsplit(endpoint)
    except ValueError as error:
        raise CannotRun(f"--endpoint must be an address such as https://HOST/v1: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CannotRun(f"--endpoint must be an address such as https://HOST/v1, not {endpoint}")
    if parts.username is not None or parts.password is not None:
        raise CannotRun("--endpoint must not carry a name or password: a key belongs into the environment (--key-env)")
    path = parts.path.rstrip("/")
    if not path.endswith("/chat/completions"):
        path += "/chat/completions"
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def redact_url(url: str) -> str:
    """An address as it is written down: a query may hold a key."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))


class EndpointJudge:
    """Asks an endpoint over kept-open connections."""

    def __init__(
        self, url: str, model: str, parameters: dict[str, Any], tries: Tries, *, max_reply: int, jobs: int, key_env: str
    ) -> None:
        try:
            import httpx
        except ImportError:
            raise CannotRun(f"an endpoint judge needs httpx: {install_command('judge')}") from None
        key = os.environ.get(key_env, "").strip()
        if not all("!" <= char <= "~" for char in key):
            # Otherwise an error message of the client would show it.
            raise CannotRun(f"the key in {key_env} holds characters that no header can carry: set it anew")
        parts = urlsplit(url)
        loopback = parts.hostname in ("localhost", "127.0.0.1", "::1")
        if key and parts.scheme == "http" and not loopback:
            raise CannotRun(f"the key in {key_env} would travel in the clear: use https, or unset {key_env}")
        headers = {"content-type": "application/json", "accept": "application/json", "accept-encoding": "identity"}
        if key:
            headers["authorization"] = f"Bearer {key}"
        try:
            self._url = httpx.URL(url)
            # A limit on each read would not end a slow response: `ask` limits the whole try.
            self._client = httpx.AsyncClient(
                headers=headers,
                timeout=None,  # noqa: S113 - see above
                limits=httpx.Limits(max_connections=jobs, max_keepalive_connections=jobs),
                # A proxy of the environment must not get requests to this machine, which carry the key in the clear.
                mounts=dict.fromkeys(("all://", "http://", "https://")) if loopback else None,
            )
        except (httpx.InvalidURL, ValueError) as error:
            raise CannotRun(f"--endpoint, or a proxy of the environment, is no usable address: {error}") from None
        self._failures = (httpx.TransportError, httpx.DecodingError)
        self._filter = KeyFilter(key)
        self._key_env = key_env
        self._model = model
        self._parameters = parameters
        self._tries = tries
        self._max_reply = max_reply
        self._stopped = asyncio.Event()
        # The reply is a JSON string in the response, where a character may take six bytes.
        self._max_response = 6 * max_reply + (1 << 16)

    def stop(self) -> None:
        """Start no further try."""
        self._stopped.set()

    async def _wait_for_stop(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._stopped.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def ask(self, data: bytes) -> JudgeAnswer:
        """One call: tries until one is answered, as often as allowed."""
        body = request_body(data, self._model, self._parameters)
        failed: list[dict[str, Any]] = []
        while True:
            try:
                async with asyncio.timeout(self._tries.timeout):
                    answer = await self._try(body)
                return answer._replace(request_sha256=sha256(body), tries=tuple(failed))
            except TimeoutError:
                again = _Again(f"no response within {self._tries.timeout:g} s (see --timeout)")
            except self._failures as error:
                again = _Again(self._filter.text(f"the connection failed: {type(error).__name__}: {error}"))
            except _Again as error:
                again = error
            except CallFailed as error:
                error.tries = tuple(failed)
                raise
            own = min(self._tries.back_off * 2 ** len(failed), _BACK_OFF_CAP)
            wait = own if again.wait is None else again.wait
            last = len(failed) >= self._tries.retries or wait > _LONGEST_WAIT
            failed.append({"problem": again.problem, "waited": 0.0 if last else wait})
            if last:
                told = f", and asks to wait {wait:.0f} s" if wait > _LONGEST_WAIT else ""
                raise CallFailed(
                    f"{again.problem}{told} ({len(failed)} tries)", tries=tuple(failed), kept=_response(again.kept)
                ) from None
            if await self._wait_for_stop(wait):
                raise CallFailed(f"{again.problem}, and the run was stopped", tries=tuple(failed)) from None

    async def _try(self, body: bytes) -> JudgeAnswer:
        async with self._client.stream("POST", self._url, content=body) as response:
            received = bytearray()
            limit = self._max_response + self._filter.margin
            inflate = inflater(response.headers.get("content-encoding", ""))
            async for block in response.aiter_raw():
                received += inflate(block, limit + 1 - len(received))
                if len(received) > limit:
                    break
            status, headers = response.status_code, response.headers
        not_kept = ""
        try:
            data = self._filter.clean(bytes(received), self._max_response)
        except KeyRepeated:
            data, not_kept = b"", f"; nothing of the response is kept: {_UNCLEAN}"
        if status == 200:
            if not_kept:
                raise CallFailed(f"the response cannot be used{not_kept}")
            return self._answer(data, too_long=len(received) > self._max_response)
        if status == 429 or status >= 500 or status == 408:
            raise _Again(f"status {status}{not_kept}", wait_of(headers.get("retry-after")), data)
        if status in _HOPELESS:
            problem = f"status {status}: {_HOPELESS[status].format(key_env=self._key_env)}{not_kept}"
            raise CallFailed(problem, hopeless=True, kept=_response(data))
        if 300 <= status < 400:
            raise CallFailed(
                f"status {status}: the endpoint redirects: give the right address with --endpoint",
                hopeless=True,
            )
        said = " ".join(data[:200].decode(errors="replace").split())
        raise CallFailed(f"status {status}: {said}" if data else f"status {status}{not_kept}", kept=_response(data))

    def _answer(self, data: bytes, *, too_long: bool) -> JudgeAnswer:
        if too_long:
            return JudgeAnswer(b"", truncated=True, response=data)
        try:
            value = json.loads(data)
            content = value["choices"][0]["message"]["content"]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise _Again("the response is not a chat completion", kept=data) from None
        if content is not None and type(content) is not str:
            raise _Again("the response's content is not a text", kept=data)
        reply = (content or "").encode("utf-8", "surrogatepass")
        usage = value.get("usage")
        counts = {name: usage.get(key) for name, key in _TOKENS.items()} if type(usage) is dict else {}
        tokens = {name: count for name, count in counts.items() if type(count) is int and 0 <= count < _MANY}
        kept = reply[: self._max_reply]
        return JudgeAnswer(kept, truncated=len(reply) > len(kept), response=data, tokens=tokens or None)


def _response(data: bytes) -> dict[str, bytes]:
    return {"response": data} if data else {}


def inflater(encoding: str) -> Callable[[bytes, int], bytes]:
    """A function that decodes blocks of a body, and returns at most `most` bytes for each.

    No compression was requested, but some endpoints compress anyway. Raises CallFailed for anything but one plain
    compression: several could turn a few kilobytes into gigabytes.
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return lambda block, most: block[:most]
    if name not in ("gzip", "x-gzip", "deflate"):
        # The header is not told: it may repeat the key.
        raise CallFailed("the endpoint sends a Content-Encoding that was not asked for; only gzip or deflate is read")
    decoder = zlib.decompressobj(wbits=47)

    def inflate(block: bytes, most: int) -> bytes:
        try:
            return decoder.decompress(decoder.unconsumed_tail + block, max(1, most))
        except zlib.error:
            raise _Again("the response is not compressed as its Content-Encoding says") from None

    return inflate


def wait_of(retry_after: str | None, now: float | None = None) -> float | None:
    """Return the seconds to wait by a Retry-After header, a number or a date; None if it is neither."""
    if retry_after is None:
        return None
    text = retry_after.strip()
    if text.isascii() and text.isdecimal():
        return float(text[:12])
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    when = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.fromtimestamp(time.time() if now is None else now, UTC)).total_seconds())
