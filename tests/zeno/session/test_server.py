"""The server: requests as lines and as values are one thing, and a request that takes too long is stopped."""

import json
import os
import signal
import subprocess
from typing import Any

import pytest

from tests.support.interfaces import without_metrics, zeno
from tests.support.patience import PATIENCE, until
from tests.support.slow import SLOW, children, slow_file, slow_files
from zeno.errors import ZenoError
from zeno.files.tree import Tree
from zeno.search.corpus import ColdCorpus
from zeno.session import wire
from zeno.session.server import Server
from zeno.session.wire import Answer


def told(answer: Answer) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(answer.line)
    value.get("result", {}).pop("metrics", None)
    return value


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("stat", {"path": "."}),
        ("stat", {"path": "gone"}),
        ("read_file", {"path": "gone"}),
        ("read_file", {"path": "a", "lines": 3}),
        ("grep", {"pattern": "("}),
        ("grep", {"pattern": "(", "regex": True}),
        ("sing", {}),
        ("stat", []),
        ("stat", None),
    ],
)
def test_a_request_has_one_answer_as_a_line_as_values_and_as_a_body(root, op, args):
    (root / "a").write_text("text (\n")
    with Tree(root) as tree:
        server = Server(ColdCorpus(tree))
        line = json.loads(server.answer(json.dumps({"id": "1", "op": op, "args": args}).encode()))
        line.get("result", {}).pop("metrics", None)
        job = server.accept_body("1", op, json.dumps(args).encode())
        assert server.run(job)
        assert job.answer is not None
        assert line == told(server.ask("1", op, args)) == told(job.answer)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {"\udfff": 1}, [["x"], [float("-inf")]]])
def test_values_that_no_strict_json_has_are_refused(root, value):
    with Tree(root) as tree:
        answer = Server(ColdCorpus(tree)).ask("1", "stat", {"path": value})
    assert answer.error is not None
    assert answer.error.code == "invalid_json"


def test_values_may_be_nested_as_deep_as_json_may():
    deep = json.loads("[" * 64 + "]" * 64)
    assert wire.is_strict(deep, wire.MAX_DEPTH)
    assert not wire.is_strict([deep], wire.MAX_DEPTH)


def test_every_error_can_be_restored_from_its_code_and_message():
    for kind in ZenoError.__subclasses__():
        error = ZenoError.restore(kind.code, "it says so")
        assert (type(error), str(error)) == (kind, "it says so")


def test_metrics_stand_last_in_every_result(ask, root):
    (root / "a.py").write_text("x = 1\n")
    for op, args in (
        ("stat", {"path": "a.py"}),
        ("grep", {"pattern": "x"}),
        ("describe", {}),
        ("peek", {"path": "a.py"}),
    ):
        assert list(ask(op, **args)["result"])[-1] == "metrics"


def test_a_request_over_its_time_is_refused_and_the_next_one_answered(root, pipe):
    slow_file(root)
    server = pipe("--max-seconds", "1")
    error = server.ask("grep", **SLOW)["error"]
    assert error["code"] == "deadline_exceeded"
    assert "limit of 1 s" in error["message"]
    assert "narrow paths" in error["message"]
    assert server.ask("stat", path="slow.txt")["result"]["items"][0]["exists"]
    assert server.ask("describe", schemas=False)["result"]["limits"]["max_seconds"] == 1


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("find_symbols", {"name": "a"}),
        ("find_references", {"name": "a"}),
        ("grep", {"pattern": "a", "scope": True}),
        ("extract_symbols", {"path": "slow.py"}),
    ],
)
def test_a_text_that_a_grammar_takes_long_for_holds_no_request_beyond_its_time(root, pipe, op, args):
    # The time grows with the square of the length: about ten seconds.
    (root / "slow.py").write_text("a?" * 20_000)
    (root / "quick.py").write_text("def quick(): ...\n")
    server = pipe("--max-seconds", "1")
    assert server.ask(op, **args)["error"]["code"] == "deadline_exceeded"
    assert server.ask("find_symbols", name="quick")["result"]["symbols"][0]["path"] == "quick.py"


def test_with_a_deadline_answers_are_those_without(root, pipe):
    (root / "big.txt").write_text("needle\n" * 3_000_000)
    (root / "a.py").write_text("def needle(): ...\n")
    requests = [
        ("grep", {"pattern": "needle", "max_hits": 50_000, "max_bytes": 100_000_000}),
        ("grep", {"pattern": r"(\pL?){100}e", "regex": True, "paths": ["a.py"]}),
        ("grep", {"pattern": "(", "regex": True}),
        ("read_file", {"path": "big.txt", "start_line": 2_999_999, "end_line": 3_000_000}),
        ("list_files", {}),
        ("grep", {"pattern": "needle", "max_hits": 3_000_000, "max_bytes": 100_000_000}),
    ]
    free, timed = pipe(), pipe("--max-seconds", "100")
    for op, args in requests:
        expected, found = free.ask(op, **args), timed.ask(op, **args)
        for answer in (expected, found):
            answer["result"] = without_metrics(answer.get("result", {}))
        assert found == expected


def test_a_server_that_is_killed_leaves_no_process_behind(root):
    slow_file(root)
    command = zeno("serve", "--root", root, "--max-seconds", "100")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps({"id": "1", "op": "grep", "args": SLOW}).encode() + b"\n")
        process.stdin.flush()
        [child] = until(lambda: children(process.pid), "the request runs in a process of its own")
        os.kill(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)
        until(lambda: not os.path.exists(f"/proc/{child}"), "the process has ended")


def test_where_the_system_cannot_fork_the_deadline_holds_between_files(root, pipe, tmp_path, monkeypatch):
    monkeypatch.setenv("ZENO_WITHOUT", "fork")
    args = slow_files(root)
    log = tmp_path / "trace"
    server = pipe("--max-seconds", "1", "--log", str(log))
    assert server.ask("grep", **args)["error"]["code"] == "deadline_exceeded"
    assert server.ask("stat", path="slow-1.txt")["result"]["items"][0]["exists"]
    assert not children(server.process.pid)
    events = [json.loads(line)["event"] for line in log.read_text().splitlines()]
    assert events == ["session", "request", "error", "request", "response"]


def test_where_the_system_cannot_fork_an_answer_that_comes_too_late_is_refused(root, pipe, monkeypatch):
    monkeypatch.setenv("ZENO_WITHOUT", "fork")
    (root / "a.txt").write_bytes(b"abcd1efg " * 50_000 + b"\n")  # one search of it takes several seconds
    args = {**SLOW, "paths": ["a.txt"]}
    assert pipe("--max-seconds", "1").ask("grep", **args)["error"]["code"] == "deadline_exceeded"
