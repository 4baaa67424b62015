"""Make `spec/openapi.json` from `spec/`, or with --check tell whether it is what would be made.

Every operation is one path. Arguments and results are the schemas of the protocol, statuses and links are
`spec/rules/http.json`; nothing about an operation is said here.
"""

import json
from http import HTTPStatus
from typing import Any

import contract_spec as spec
from contract_spec.bundle import components

from tools.made_files import ROOT, write_or_check

OUT = ROOT / "spec" / "openapi.json"
PREFIX = "#/components/schemas/"
CLAIM = ("zeno/claim.json#/$defs/args", "zeno/trace_event.json#/$defs/claim")
REQUEST_ID = {
    "Zeno-Request-Id": {
        "description": "The id under which the trace has the request; claims can cite it.",
        "schema": {"type": "string"},
    }
}
ENVELOPES = ("request", "response", "problem", "health")
TOKEN = "Asked for when the server was started with --token-file."
# Responses of the door itself, before any operation runs.
DOOR = {
    401: "The server was started with a token, and the request has another one or none.",
    403: "The Host or Origin header is not one this server answers to, or the path is not open to the client.",
    413: "The request is longer than the server's limit.",
    415: "The body is not of the media type that is asked for.",
}


def document() -> dict[str, Any]:
    """The OpenAPI document."""
    ops = [name.removeprefix("zeno/ops/").removesuffix(".json") for name in spec.names() if "zeno/ops/" in name]
    refs = [f"zeno/ops/{op}.json#/$defs/{part}" for op in ops for part in ("args", "result")]
    rules = spec.resource("rules/http.json")
    codes = set(spec.schema("zeno/error.json")["properties"]["code"]["enum"])
    health = {"$ref": f"{PREFIX}Health"}
    by_status: dict[int, list[str]] = {status: [] for status in DOOR}
    for code, status in rules["statuses"].items():
        if code in codes:
            by_status.setdefault(status, []).append(code)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Zeno",
            "description": "A read-only, deterministic retrieval server for language-model agents. "
            "Made from the schemas of the protocol: each operation takes its args as body and answers with its result.",
            "version": spec.PROTOCOL_VERSION,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        # Two alternatives: a server on a loopback address may be started without a token.
        "security": [{}, {"token": []}],
        "paths": {
            **{f"/v1/ops/{op}": {"post": _operation(op, by_status, rules["links"].get(op, {}), ops)} for op in ops},
            "/v1/jsonl": {"post": _stream()},
            "/v1/claims": {"post": _claim()},
            "/openapi.json": {"get": _get("openapi", "This document.", {"type": "object"}, [401, 403])},
            "/healthz": {"get": {**_get("health", "Whether the server is there.", health, [403]), "security": []}},
        },
        "components": {
            "schemas": components([*refs, *CLAIM, *(f"zeno/{name}.json" for name in ENVELOPES)], PREFIX),
            "responses": {_named(status): _problem(status, codes) for status, codes in sorted(by_status.items())},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "description": TOKEN}},
        },
    }


def _operation(op: str, by_status: dict[int, list[str]], links: dict[str, Any], ops: list[str]) -> dict[str, Any]:
    schema = spec.schema(f"zeno/ops/{op}.json")
    args, result = schema["$defs"]["args"], schema["$defs"]["result"]
    examples = {f"example{number}": one for number, one in enumerate(schema["examples"], 1)}
    success = {
        "description": result["description"],
        "headers": REQUEST_ID,
        **_content(result["title"], {name: {"value": one["result"]} for name, one in examples.items()}),
        "links": {
            f"{op}_{target}": {"operationId": target, "requestBody": body}
            for target, body in links.items()
            if target in ops
        },
    }
    return {
        "operationId": op,
        "summary": schema["description"],
        "requestBody": {
            "required": True,
            **_content(args["title"], {name: {"value": one["args"]} for name, one in examples.items()}),
        },
        "responses": {"200": {key: value for key, value in success.items() if value}, **_refusals(sorted(by_status))},
    }


def _content(title: str, examples: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": {"$ref": PREFIX + title}, "examples": examples}}}


def _stream() -> dict[str, Any]:
    lines = {"content": {"application/jsonl": {"schema": {"type": "string"}}}}
    return {
        "operationId": "jsonl",
        "summary": "The plain protocol: JSON lines in, JSON lines out, in order, as they are answered.",
        "description": "Each line of the body is a Request, each line of the answer a Response. A line that is no "
        "request is answered with a line that says so; the status tells only that lines can be exchanged.",
        "requestBody": {"required": True, **lines},
        "responses": {
            "200": {"description": "One Response for each line that is not blank.", **lines},
            **_refusals([401, 403, 415]),
        },
    }


def _claim() -> dict[str, Any]:
    schema = spec.schema("zeno/claim.json")
    examples = {f"example{number}": one for number, one in enumerate(schema["examples"], 1)}
    args = {name: {"value": one["args"]} for name, one in examples.items()}
    result = {name: {"value": one["result"]} for name, one in examples.items()}
    return {
        "operationId": "claim",
        "summary": "Write a claim into the trace of the server. Without a trace (--log) there is no such path: 404.",
        "requestBody": {"required": True, **_content("ClaimArgs", args)},
        "responses": {
            "201": {"description": "The event as it was written.", **_content("ClaimEvent", result)},
            **_refusals([400, 401, 403, 404, 413, 415, 422, 503]),
        },
    }


def _get(name: str, summary: str, schema: dict[str, Any], refusals: list[int]) -> dict[str, Any]:
    return {
        "operationId": name,
        "summary": summary,
        "responses": {
            "200": {"description": summary, "content": {"application/json": {"schema": schema}}},
            **_refusals(refusals),
        },
    }


def _refusals(statuses: list[int]) -> dict[str, Any]:
    return {str(status): {"$ref": f"#/components/responses/{_named(status)}"} for status in statuses}


def _named(status: int) -> str:
    return "".join(word.capitalize() for word in HTTPStatus(status).name.split("_"))


def _problem(status: int, codes: list[str]) -> dict[str, Any]:
    told = f" Codes: {', '.join(sorted(codes))}." if codes else ""
    return {
        "description": DOOR.get(status, f"{HTTPStatus(status).phrase}.") + told,
        "content": {"application/problem+json": {"schema": {"$ref": f"{PREFIX}Problem"}}},
    }


def main(argv: list[str] | None = None) -> int:
    """Write the document, or check it: 0 in step, 1 drifted."""
    text = json.dumps(document(), indent=1, ensure_ascii=False) + "\n"
    return write_or_check(__doc__, argv, {OUT: text}, "nox -s generate")


if __name__ == "__main__":
    raise SystemExit(main())
