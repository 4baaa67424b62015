"""Parse request lines and write response lines. This module knows no operation."""

import math
from collections.abc import Iterable
from json.encoder import encode_basestring_ascii
from typing import Any, NamedTuple

import contract_spec as spec
from contract_models.zeno.error import Error
from contract_models.zeno.metrics import Metrics
from contract_models.zeno.request import Request
from contract_models.zeno.response import Failure
from contract_spec.model import Model
from pydantic_core import to_json

from zeno.errors import InvalidArgs, InvalidJson, InvalidRequest, ZenoError

MAX_DEPTH = 64
MAX_MESSAGE = 4096
# For longer requests only the first error is reported.
FULLY_CHECKED_CHARACTERS = 1 << 14
_WHITE = b" \t\r\n"


def is_blank(line: bytes) -> bool:
    """Whether a line has only white space. Such a line is no request and gets no answer."""
    return not line.strip(_WHITE)


def parse(data: bytes, what: str) -> Any:
    """Parse strict JSON. Raises InvalidJson; `what` names the data in its message: "the line", "the body"."""
    try:
        return spec.parse(data, max_depth=MAX_DEPTH)
    except spec.NotStrictJson as error:
        raise InvalidJson(f"{what} is not strict JSON: {error}") from None


def parse_without_numbers(data: bytes) -> Any:
    """Parse strict JSON whose numbers may be out of range, for its other values; None if that is not possible."""
    try:
        return spec.parse(data, max_depth=MAX_DEPTH, number=lambda _: None)
    except spec.NotStrictJson:
        return None


def is_strict(value: Any, depth: int = MAX_DEPTH + 2) -> bool:
    """Whether a value could have come from `parse`: finite numbers, no lone surrogates, not nested too deep."""
    if isinstance(value, str):
        return value.isascii() or not any("\ud800" <= char <= "\udfff" for char in value)
    if isinstance(value, dict):
        return depth > 0 and all(is_strict(key) and is_strict(item, depth - 1) for key, item in value.items())
    if isinstance(value, list):
        return depth > 0 and all(is_strict(item, depth - 1) for item in value)
    return not isinstance(value, float) or math.isfinite(value)


def id_of(value: Any) -> str | None:
    """Return the id of a request that may be invalid; None if it has no string there."""
    found = value.get("id") if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def op_of(value: Any) -> str | None:
    """Return the operation of a request that may be invalid; None if it has no string there."""
    found = value.get("op") if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def request(value: Any) -> Request:
    """Validate a value and return it as a request. Raises InvalidRequest."""
    found = spec.violations("zeno/request.json", value, most_characters=FULLY_CHECKED_CHARACTERS)
    if found:
        raise InvalidRequest(complaint(map(_sentence, found), value))
    return Request.model_validate(value)


def complaint(sentences: Iterable[str], value: Any) -> str:
    """Join sentences about violations of a value, and add a note if only the first was looked for."""
    told = "; ".join(sorted(set(sentences)))
    return (
        f"{told}; there may be more: of a request this long only the first is reported"
        if len(repr(value)) > FULLY_CHECKED_CHARACTERS
        else told
    )


def require_valid(schema: str, args: Any) -> None:
    """Check arguments that are no request of an operation against their schema. Raises InvalidJson or InvalidArgs."""
    if not is_strict(args):
        raise InvalidJson("the arguments are not strict JSON: a number, a text or the nesting is not allowed")
    found = spec.violations(schema, args, most_characters=FULLY_CHECKED_CHARACTERS)
    if found:
        sentences = (f"{spec.dotted('args', one.pointer)} {one.message}" for one in found)
        raise InvalidArgs(complaint(sentences, args))


def _sentence(violation: spec.Violation) -> str:
    field = spec.dotted("", violation.pointer) or "a request"
    if violation.keyword == "additionalProperties":
        return f"{field} is no field of a request; its fields are id, op and args"
    return f"{field} {violation.message}"


def success(request_id: str, result: bytes) -> bytes:
    """Return the response line of a success; `result` is JSON."""
    return b'{"id":%b,"ok":true,"result":%b}\n' % (_string(request_id), result)


def success_size(request_id: str, result: bytes) -> int:
    """Return the length of the line that `success` returns."""
    return len(_string(request_id)) + len(result) + _ENVELOPE


_ENVELOPE = len(b'{"id":,"ok":true,"result":}\n')


def split_result(result: Model) -> tuple[bytes, Metrics]:
    """Return a result as JSON without its metrics, and the metrics. Metrics stand last in every result."""
    metrics: Metrics = getattr(result, "metrics")  # noqa: B009 - every result has them; the base class does not say so
    return to_json(result, ensure_ascii=True, exclude=_METRICS), metrics


_METRICS = {"metrics"}


def with_metrics(body: bytes, metrics: Metrics) -> bytes:
    """Join a body and metrics that `split_result` returned."""
    return b'%b,"metrics":%b}' % (body[:-1], dump(metrics))


def result_of(line: bytes, request_id: str) -> bytes | None:
    """Return the JSON of the result in a response line; None if the line is a failure."""
    opening = b'{"id":%b,"ok":true,"result":' % _string(request_id)
    return line.rstrip(b"\n")[len(opening) : -1] if line.startswith(opening) else None


def failure(request_id: str | None, error: ZenoError) -> bytes:
    """Return the response line of a failure."""
    body = Failure(id=request_id, ok=False, error=error_of(error))
    return dump(body) + b"\n"


def error_of(error: ZenoError) -> Error:
    """Return the error object of the protocol. Messages may quote the request; long ones are cut."""
    message = str(error)
    if len(message) > MAX_MESSAGE:
        message = f"{message[:MAX_MESSAGE]}... ({len(message) - MAX_MESSAGE} more characters)"
    return Error.model_validate({"message": message, "code": error.code})


def dump(model: Model) -> bytes:
    """Return a model as JSON in the order of its schema, in ASCII: no character in it can be taken for a line end."""
    return to_json(model, ensure_ascii=True)


def _string(text: str) -> bytes:
    return encode_basestring_ascii(text).encode()


class Answer(NamedTuple):
    """The answer to one request: the JSON of its result, or an error."""

    id: str | None
    result: bytes | None
    error: ZenoError | None = None

    @property
    def line(self) -> bytes:
        """The response line of the protocol."""
        if self.error is not None:
            return failure(self.id, self.error)
        return success(self.id or "", self.result or b"")
