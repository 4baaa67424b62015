"""Errors over HTTP: problem documents (RFC 9457) with a status for each code."""

from functools import cache
from http import HTTPStatus

import contract_spec as spec
from contract_models.zeno.problem import Problem
from starlette.responses import Response

from zeno.session import wire

HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
"""Headers of every response: no caching, because the tree may change, and no rendering of file content as a page."""


@cache
def _statuses() -> dict[str, int]:
    statuses: dict[str, int] = spec.resource("rules/http.json")["statuses"]
    return statuses


def problem(detail: str, code: str | None = None, *, status: int | None = None) -> Response:
    """Return an error response: one of the protocol with its code, or one of HTTP with a status alone."""
    number = _statuses()[code] if status is None and code is not None else status or 500
    document = Problem.model_validate(
        {
            "type": "about:blank" if code is None else f"urn:zeno:problem:{code}",
            "title": HTTPStatus(number).phrase if code is None else code.replace("_", " ").capitalize(),
            "status": number,
            "detail": detail,
            **({} if code is None else {"code": code, "help": "zeno docs errors"}),
        }
    )
    return Response(wire.dump(document), number, HEADERS, "application/problem+json")
