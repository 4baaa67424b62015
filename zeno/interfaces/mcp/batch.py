"""Several calls in one: the tool `batch`.

Each call is answered as if it had come alone, one after the other, so that the trace has them in their order. Only the
defaults of `max_chars` depend on their number, and a batch ends where its results are as long as a response may be. In
the texts, the last line of a complete answer about the same files as one before it refers to that.
"""

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from zeno.errors import ResponseTooLarge, ZenoError
from zeno.interfaces.mcp.tool_list import BATCH_ARGS, rules
from zeno.interfaces.rows import one_line
from zeno.session import wire


class Reply(NamedTuple):
    """The answer to a call: its text for models, and its result or its error."""

    text: str
    result: dict[str, Any] | None = None
    request_id: str | None = None
    """The id under which the trace has the request; None if it is none."""
    size: int = 0
    """Bytes of the result."""
    error: ZenoError | None = None
    coverage: str = ""
    """The part of the last line that says how many files a complete answer is about; empty if it is about no list."""
    files: str = ""
    """Equal for answers about the same files."""


def refuse(error: ZenoError, request_id: str | None = None) -> Reply:
    """Return the reply to a call that was refused: its text is the error as JSON."""
    return Reply(wire.dump(wire.error_of(error)).decode(), None, request_id, error=error)


async def answer_batch(given: Any, call: Callable[[str, Any, int], Awaitable[Reply]], max_bytes: int) -> Reply:
    """Make the calls of a batch in their order. `call` takes a tool, its arguments and its share of the characters."""
    try:
        wire.require_valid(BATCH_ARGS, given)
    except ZenoError as error:
        return refuse(error)
    calls = given["calls"]
    share = rules()["batch_chars"] // len(calls)
    texts: list[str] = []
    answers: list[dict[str, Any]] = []
    told: dict[str, tuple[int, set[str]]] = {}
    """By files: the answer that says most about them, and what it says."""
    size = 0
    for number, one in enumerate(calls, 1):
        if size > max_bytes:
            why = f"not run: the answers before it have more than {max_bytes} bytes; make fewer calls in one batch"
            reply = refuse(ResponseTooLarge(why))
        else:
            reply = await call(one["tool"], one.get("args", {}), share)
        size += reply.size
        text = reply.text
        if reply.coverage and reply.coverage in text.rpartition("\n")[2]:
            parts = set(re.split("[;,] ", reply.coverage))
            before, known = told.get(reply.files, (number, set()))
            if parts <= known:
                text = _refer(reply, before)
            else:
                told[reply.files] = number, parts
        texts.append(f"=== {number} {one_line(one['tool'])}\n{text}")
        answers.append({"tool": one["tool"], **_structure(reply)})
    return Reply("\n".join(texts), {"answers": answers})


def _refer(reply: Reply, before: int) -> str:
    """Return the text of an answer about the same files as one before it, in as few words as that takes."""
    text, _, last = reply.text.rpartition("\n")
    shorter = f"complete, files as in {before}"
    if len(reply.coverage) <= len(shorter):
        return reply.text
    return f"{text}\n{last.replace(reply.coverage, shorter, 1)}" if text else last.replace(reply.coverage, shorter, 1)


def _structure(reply: Reply) -> dict[str, Any]:
    known = {} if reply.request_id is None else {"request_id": reply.request_id}
    return {**known, **({"result": reply.result} if reply.error is None else {"error": json.loads(reply.text)})}
