"""The tool `batch`: several calls in one are answered as if each had come alone."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import contract_spec as spec
import pytest
from mcp import Client

from tests.support.interfaces import sample, without_metrics
from tests.support.repositories import commit, git, init
from tests.zeno.interfaces.test_mcp import EXAMPLE, RULES, ask
from zeno.session.dispatch import OPS

CALLS: list[dict[str, Any]] = [
    {"tool": "grep", "args": {"pattern": "def", "scope": True, "context": None}},
    {"tool": "read_file", "args": {"path": "no/such.py"}},
    {"tool": "find_symbols", "args": {"name": "main"}},
    {"tool": "list_files"},
    {"tool": "grep", "args": {"pattern": "("}},
    {"tool": "grep", "args": {"pattern": "(", "regex": True}},
    {"tool": "stat", "args": {"path": "../out"}},
    {"tool": "read_file", "args": {"path": "src/app.py", "start_line": 2, "ranges": [{"end_line": 1}]}},
]


SAME = "complete: 7 files; left out: 1 hidden"
"""What the last lines of several of these answers say alike: only the first does in a batch."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample(tmp_path_factory.mktemp("tree"))


def batch(*calls: Any) -> Callable[[Client], Awaitable[Any]]:
    """Return a question with these calls in one."""
    return lambda client: client.call_tool("batch", {"calls": list(calls)})


def each(*calls: Any) -> Callable[[Client], Awaitable[Any]]:
    """Return a question with one call after the other."""

    async def questions(client: Client) -> list[Any]:
        return [await client.call_tool(one["tool"], one.get("args", {})) for one in calls]

    return questions


def test_the_answers_are_those_of_single_calls_in_their_order(root: Path) -> None:
    told = ask(root, batch(*CALLS))
    assert not told.is_error
    answers = told.structured_content["answers"]
    assert spec.violations("zeno/batch.json#/$defs/result", told.structured_content) == []
    texts: list[str] = []
    for number, (call, answer, single) in enumerate(zip(CALLS, answers, ask(root, each(*CALLS)), strict=True), 1):
        assert answer["tool"] == call["tool"]
        text = single.content[0].text
        if texts and call["tool"] != "list_files":
            text = text.replace(SAME, "complete, files as in 1")
        texts.append(f"=== {number} {call['tool']}\n{text}")
        if single.is_error:
            assert answer["error"] == json.loads(single.content[0].text)
        else:
            assert without_metrics(answer["result"]) == without_metrics(single.structured_content)
    assert told.content[0].text == "\n".join(texts)
    assert told.content[0].text.count(SAME) == told.content[0].text.count("complete, files as in 1") == 2
    assert {answer.get("error", {}).get("code") for answer in answers} == {
        None,
        "invalid_pattern",
        "not_found",
        "path_outside_root",
    }


def test_an_answer_about_other_files_refers_to_none_before_it(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        inner = init(tmp_path) / folder
        inner.mkdir()
        (inner / "x.txt").write_text("word\n")
        (inner / "y.bin").write_bytes(b"word\0")
        (inner / ".hidden").write_text("word\n")
    commit(tmp_path)
    git(tmp_path, "tag", "v1")
    (tmp_path / "b" / "x.txt").write_text("words\n")
    commit(tmp_path)
    asked: list[tuple[str, dict[str, Any], str]] = [
        ("search", {"query": "word", "paths": ["a"]}, ""),
        ("grep", {"pattern": "word", "paths": ["a"]}, ""),
        ("grep", {"pattern": "word", "paths": ["b"]}, ""),
        ("grep", {"pattern": "word", "paths": ["a"], "rev": "v1"}, ""),
        ("grep", {"pattern": "word", "paths": ["a"], "rev": "HEAD"}, ""),
        # Where nothing was found, binary files are told too.
        ("find_references", {"name": "word", "paths": ["b"]}, ""),
        ("grep", {"pattern": "o", "regex": True, "paths": ["a"]}, "2"),
        ("list_files", {"glob": "a/*"}, ""),
        ("list_files", {"glob": "b/*"}, ""),
        ("list_files", {"regex": "[xy]", "glob": "b/*"}, ""),
        ("list_files", {"glob": "b/*", "max": 7}, "9"),
        ("grep", {"pattern": "o", "paths": ["b"], "changed_since": "v1"}, ""),
        ("grep", {"pattern": "nothing", "paths": ["b"]}, "6"),
        ("grep", {"pattern": "words", "paths": ["b"]}, "6"),
    ]
    told = ask(tmp_path, batch(*({"tool": op, "args": args} for op, args, _ in asked)), "--revs", "all")
    last = [text.rpartition("\n")[2] for text in told.content[0].text.split("\n=== ")]
    found = [line.partition("files as in ")[2].partition("]")[0] for line in last]
    assert found == [number for _, _, number in asked], last


def test_each_call_is_a_request_of_the_trace_and_can_be_cited(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    absent = {"tool": "grep", "args": {"pattern": "nowhere to be found"}}
    claim: dict[str, Any] = {"tool": "claim", "args": {"claim": "it is nowhere", "answers": ["?"]}}

    async def questions(client: Client) -> Any:
        first = await batch(*CALLS, absent)(client)
        claim["args"]["answers"] = [first.structured_content["answers"][-1]["request_id"]]
        return first, await batch(claim, {"tool": "claim", "args": {}})(client)

    first, (written, refused) = (
        one if position == 0 else one.structured_content["answers"]
        for position, one in enumerate(ask(root, questions, "--log", str(log)))
    )
    ids = [answer["request_id"] for answer in first.structured_content["answers"]]
    assert len(set(ids)) == len(CALLS) + 1
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [event["id"] for event in events if event["event"] == "request"] == ids
    assert [event["id"] for event in events if event["event"] in ("response", "error")] == ids
    assert f"request {ids[-1]}]" in first.content[0].text
    assert [event["claim"] for event in events if event["event"] == "claim"] == ["it is nowhere"]
    assert written["result"]["answers"][0]["id"] == ids[-1]
    assert refused["error"]["code"] == "invalid_args"


@pytest.mark.parametrize(
    ("given", "about"),
    [
        ({}, "args must have calls"),
        ({"calls": []}, "args.calls"),
        ({"calls": [{"tool": "stat"}] * 21}, "args.calls"),
        ({"calls": [{"args": {}}]}, "args.calls[0]"),
        ({"calls": [{"name": "grep", "tool": "grep"}]}, "args.calls[0].name"),
        ({"calls": [{"tool": "grep", "args": "x"}]}, "args.calls[0].args"),
        ({"calls": "grep"}, "args.calls"),
    ],
)
def test_a_batch_that_is_none_is_refused_whole(root: Path, given: Any, about: str) -> None:
    told = ask(root, lambda client: client.call_tool("batch", given))
    assert told.is_error
    refused = json.loads(told.content[0].text)
    assert refused["code"] == "invalid_args"
    assert about.partition(" ")[0] in refused["message"]


def test_no_batch_in_a_batch_and_null_for_arguments(root: Path) -> None:
    told = ask(root, batch({"tool": "batch", "args": {"calls": []}}, {"tool": "list_files", "args": None}))
    inner, listed = told.structured_content["answers"]
    assert inner["error"]["code"] == "unknown_op"
    assert listed["result"]["files"]


def test_calls_share_the_characters_unless_they_ask_for_more(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {number} of many\n" for number in range(20_000)))
    read = {"path": "a.txt", "max_lines": 20_000}
    own = OPS["read_file"].tool["defaults"]["max_chars"]

    def lengths(*calls: dict[str, Any]) -> list[int]:
        told = ask(tmp_path, batch(*({"tool": "read_file", "args": args} for args in calls)))
        return [len(answer["result"]["text"]) for answer in told.structured_content["answers"]]

    line = len("line 20000 of many\n")
    assert own - line <= lengths(read)[0] <= own
    for number in (2, 5, 20):
        share = min(own, RULES["batch_chars"] // number)
        *first, last = lengths(*[read] * (number - 1), {**read, "max_chars": own})
        assert all(share - line <= length <= share for length in first)
        assert own - line <= last <= own


@pytest.mark.parametrize(
    ("op", "asked"),
    [
        ("grep", {"pattern": "name", "max_hits": 2000}),
        ("list_files", {"max": 2000}),
        ("find_references", {"name": "name", "max_hits": 2000}),
    ],
)
def test_what_was_cut_goes_on_alone_and_in_batches_of_any_length(tmp_path: Path, op: str, asked: Any) -> None:
    for number in range(1000):
        (tmp_path / f"a_file_with_a_long_name_{number:03}.txt").write_text(f"name {number:0>80}\n")

    def in_batch(args: Any, length: int) -> Callable[[Client], Awaitable[Any]]:
        return batch(*[{"tool": op, "args": args}] * length)

    async def questions(client: Client) -> list[Any]:
        (alone,) = await each({"tool": op, "args": asked})(client)
        shared = await in_batch(asked, 10)(client)
        whole = {**asked, "cursor": alone.structured_content["cursor"]}
        part = {**asked, "cursor": shared.structured_content["answers"][9]["result"]["cursor"]}
        singles = [await client.call_tool(op, args) for args in (whole, part)]
        batches = [await in_batch(args, 7)(client) for args in (whole, part)]
        return [one.structured_content for one in singles] + [
            answer.get("result") for one in batches for answer in one.structured_content["answers"]
        ]

    assert all(ask(tmp_path, questions))


def test_a_batch_ends_where_its_results_are_as_long_as_a_response_may_be(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x" * 3000)
    read = {"tool": "read_file", "args": {"path": "a.txt", "max_line_chars": 3000}}
    told = ask(tmp_path, batch(*[read] * 4), "--max-response-bytes", "5000")
    codes = [answer.get("error", {}).get("code") for answer in told.structured_content["answers"]]
    assert codes == [None, None, "response_too_large", "response_too_large"]


def test_its_description_shows_a_batch_that_would_be_answered() -> None:
    (example,) = EXAMPLE.findall(RULES["batch"])
    given = json.loads(example)
    assert spec.violations("zeno/batch.json#/$defs/args", given) == []
    for call in given["calls"]:
        assert spec.violations(f"zeno/ops/{call['tool']}.json#/$defs/args", call["args"]) == []
