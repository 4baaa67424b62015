"""Schemathesis against the real HTTP door: every check, valid and invalid data, links followed.

Each generated request also goes through the stdio server: the two doors must agree on its verdict.

The one exception from the checks is stated here and nowhere else. The schemas cannot say that `end_line` must not
be below `start_line`, which lists of files have pages, that a citation must not contradict itself, which strings
are regular expressions of the dialect, globs of a sane size or possible file names, and how large a response gets.
A request that breaks such a rule is valid data for schemathesis and still refused with 422:
`positive_data_acceptance` is then left out, for that request only, and only if the rule is seen to be broken here.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import contract_spec as spec
import pytest
import re2
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from tests.conftest import Pipe
from tests.support.interfaces import http, sample, stdio, without_metrics
from tests.support.patience import PATIENCE

SCHEMA = schemathesis.openapi.from_dict(spec.resource("openapi.json"))
SCHEMA.config.generation.update(modes=list(GenerationMode))
BOUNDED = settings(
    max_examples=80,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)


@schemathesis.serializer("application/jsonl")
def lines(_context: Any, value: Any) -> Any:
    return value.encode("utf-8", "replace") if isinstance(value, str) else json.dumps(value).encode()


class Doors:
    """The same tree behind two doors."""

    def __init__(self, url: str, pipe: Pipe) -> None:
        self.url = url
        self._pipe = pipe
        self.compared: Counter[int] = Counter()

    def check(self, case: Case[Any]) -> Any:
        response = case.call(base_url=self.url, timeout=PATIENCE)
        case.validate_response(response, excluded_checks=_beyond_the_schema(case, response))
        self.compare(response)
        return response

    def compare(self, response: Any) -> None:
        """What the HTTP door said of a body, the stdio door must say of a line with that body as args."""
        sent = response.request
        op = sent.url.partition("/v1/ops/")[2]
        if sent.method != "POST" or not op or response.status_code in (401, 415):
            return
        body = sent.body.encode() if isinstance(sent.body, str) else sent.body or b""
        # A line cannot hold the line feeds that JSON allows between tokens.
        line = b'{"id":"1","op":%b,"args":%b}' % (
            json.dumps(op).encode(),
            body.replace(b"\n", b" ").replace(b"\r", b" "),
        )
        answer = self._pipe.line(line)
        document = json.loads(response.content)
        if response.status_code == 200:
            assert answer["ok"], (line, answer)
            assert without_metrics(answer["result"]) == without_metrics(document)
        else:
            assert not answer["ok"], (line, document)
            assert answer["error"]["code"] == document["code"], line
            # Where a line is no JSON, the message tells the place in the line, which has more before it.
            assert document["code"] == "invalid_json" or answer["error"]["message"] == document["detail"], line
        self.compared[response.status_code] += 1


def _beyond_the_schema(case: Case[Any], response: Any) -> list[Any]:
    if case.operation.path == "/v1/jsonl":
        # Any bytes are lines: what is wrong with one is told in its answer, so no body is refused as a whole.
        return [negative_data_rejection]
    op = case.operation.path.partition("/v1/ops/")[2]
    if response.status_code != 422 or spec.violations(f"zeno/ops/{op}.json#/$defs/args", case.body):
        return []
    return [positive_data_acceptance] if _breaks_a_rule(op, json.loads(response.content)["code"], case.body) else []


def _breaks_a_rule(op: str, code: str, args: Any) -> bool:
    if code == "invalid_pattern":
        options = re2.Options()
        options.log_errors = False
        given = [args.get("pattern"), args.get("regex"), args.get("name"), *args.get("patterns", ())]
        return any(_refused_by_re2(pattern, options) for pattern in given)
    if code == "invalid_args":
        if op == "grep" and (
            ("pattern" in args) == ("patterns" in args) or ("patterns" in args and args.get("multiline"))
        ):
            return True  # one or the other, and a list is matched line by line
        if {"rev", "changed_since"} & args.keys():
            return True  # the tree is no repository
        if op == "read_file" and "symbol" in args and "end_line" in args:
            return True  # the lines of the definition are read
        ranges = [args, *args.get("ranges", [])]
        backwards = any(one.get("end_line", 1 << 60) < one.get("start_line", 1) for one in ranges)
        other_list = bool(args.get("tree")) + (args.get("sort") == "mtime")
        # A list that is not by path has no pages, and an overview has one order.
        if other_list and (other_list == 2 or "cursor" in args):
            return True
        contradictory = any(map(_contradicts_itself, args.get("citations", [])))
        globs = json.dumps([args.get(name) for name in ("glob", "paths", "exclude_globs")])
        return backwards or contradictory or "{" in globs or "\\u0000" in json.dumps(args)
    return code in ("response_too_large", "invalid_cursor")


def _contradicts_itself(citation: dict[str, Any]) -> bool:
    """Whether a citation tells nothing to check, or tells the same thing twice and differently."""
    count = citation["end_line"] - citation["start_line"] + 1
    text, digest = citation.get("text"), citation.get("sha256")
    if count < 1 or text is None:
        return bool(count < 1 or digest is None)
    return bool(text.count("\n") + 1 != count or digest not in (None, hashlib.sha256(text.encode()).hexdigest()))


def _refused_by_re2(pattern: Any, options: Any) -> bool:
    try:
        re2.compile(pattern, options)
    except (re2.error, TypeError):
        return True
    return False


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    root = sample(tmp_path_factory.mktemp("tree"))
    # Only HTTP has a time limit by default, and `describe` tells it; only there requests may name no commit.
    flags = ("--max-seconds", "300", "--revs", "all")
    with http(root, "--allow", "secrets", *flags) as url, stdio(root, *flags) as pipe:
        yield Doors(url, pipe)


@SCHEMA.parametrize()
@BOUNDED
def test_every_check_holds_and_both_doors_agree(case: Case[Any], doors: Doors) -> None:
    doors.check(case)


# A request of each operation that links start from; its result has all that they refer to.
STARTS: dict[str, dict[str, Any]] = {
    "extract_symbols": {"path": "README.md"},
    "grep": {"pattern": "e"},
    "list_files": {},
    "peek": {"path": "README.md"},
    "stat": {"path": "README.md"},
}


def _resolved(value: Any, body: Any) -> Any:
    """A link's value with its expressions replaced by what they point at in a response body."""
    if isinstance(value, dict):
        return {key: _resolved(item, body) for key, item in value.items()}
    if isinstance(value, list):
        return [_resolved(item, body) for item in value]
    if isinstance(value, str) and value.startswith("$response.body#/"):
        for step in value.removeprefix("$response.body#/").split("/"):
            body = body[int(step)] if isinstance(body, list) else body[step]
        return body
    return value


def test_each_link_leads_from_a_result_to_a_request_that_succeeds(doors: Doors) -> None:
    paths = spec.resource("openapi.json")["paths"]
    links = {
        path: item["post"]["responses"]["200"]["links"]
        for path, item in paths.items()
        if path.startswith("/v1/ops/") and "links" in item["post"]["responses"]["200"]
    }
    assert {path.removeprefix("/v1/ops/") for path in links} == set(STARTS)
    for path, found in links.items():
        start = STARTS[path.removeprefix("/v1/ops/")]
        body = doors.check(SCHEMA[path]["POST"].Case(body=start, media_type="application/json")).json()
        for link in found.values():
            case = SCHEMA[f"/v1/ops/{link['operationId']}"]["POST"].Case(
                body=_resolved(link["requestBody"], body), media_type="application/json"
            )
            assert doors.check(case).status_code == 200, link


def test_walks_along_links_pass_every_check(doors: Doors) -> None:
    followed = []

    class Walk(SCHEMA.as_state_machine()):  # type: ignore[misc] # a class made at run time
        def get_call_kwargs(self, case: Case[Any]) -> dict[str, Any]:
            return {"base_url": doors.url, "timeout": PATIENCE}

        def validate_response(self, response: Any, case: Case[Any], **kwargs: Any) -> None:
            excluded = _beyond_the_schema(case, response)
            case.validate_response(response, excluded_checks=excluded, transport_kwargs=kwargs, recorder=self.recorder)
            doors.compare(response)
            if response.status_code == 200:
                followed.append(case.operation.path)

    Walk.run(settings=settings(BOUNDED, max_examples=40, stateful_step_count=5))
    assert followed


def test_both_doors_agree_on_successes_too(doors: Doors) -> None:
    for path in ("README.md", "gone"):
        doors.check(SCHEMA["/v1/ops/read_file"]["POST"].Case(body={"path": path}, media_type="application/json"))
    assert doors.compared[200]
    assert doors.compared[404]
