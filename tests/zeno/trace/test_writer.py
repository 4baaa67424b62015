"""The trace: what the server writes while it works, and what it does when it cannot."""

import json
import os
import subprocess
import sys

import contract_spec as spec
import pytest

from tests.support.patience import PATIENCE
from zeno.trace.digest import canonical, digest_of


def events(log):
    return [json.loads(line) for line in log.read_bytes().splitlines()]


def test_every_request_is_told_before_and_after(root, pipe, tmp_path):
    log = tmp_path / "trace.jsonl"
    (root / "a.py").write_text("def f(): ...\n")
    server = pipe("--log", str(log))
    asked = [("list_files", {}), ("grep", {"pattern": "f"})]
    asked += [(op, {"path": "a.py"}) for op in ("read_file", "peek", "extract_symbols", "stat")]
    results = [server.ask(op, **args)["result"] for op, args in asked]
    server.ask("sing", loud=True)
    server.ask("stat", path="../x")
    server.line(b"{")
    written = events(log)
    assert [spec.violations("zeno/trace_event.json", event) for event in written] == [[]] * len(written)
    assert written.pop(0)["event"] == "session"
    assert [event["event"] for event in written] == ["request", "response"] * 6 + ["request", "error"] * 2 + ["error"]
    assert [event["digest"] for event in written[1:12:2]] == [digest_of(result) for result in results]
    assert [event["summary"]["count"] for event in written[1:12:2]] == [1, 1, None, None, 1, 1]
    assert written[0]["args"] == {}
    assert (written[-1]["id"], written[-1]["op"], written[-1]["error"]["code"]) == (None, None, "invalid_json")


def test_an_overview_counts_the_files_it_is_about(root, pipe, tmp_path):
    log = tmp_path / "trace.jsonl"
    (root / "d").mkdir()
    for name in ("a", "b", "d/c"):
        (root / name).write_text("x")
    server = pipe("--log", str(log))
    assert len(server.ask("list_files", tree=True, max=1)["result"]["tree"]) == 1
    server.ask("list_files", tree=True, glob="nope")
    assert [event["summary"]["count"] for event in events(log)[2::2]] == [3, 0]


def test_a_log_inside_the_root_never_shows_up(root, pipe):
    (root / "d").mkdir()
    log = root / "d" / "trace.jsonl"
    (root / "a").write_text("request\n")
    server = pipe("--log", str(log))
    server.ask("list_files")
    os.link(log, root / "hard")
    (root / "soft").symlink_to("d/trace.jsonl")
    assert server.ask("list_files")["result"]["files"] == ["a"]
    assert [hit["path"] for hit in server.ask("grep", pattern="request")["result"]["hits"]] == ["a"]
    for name in ("d/trace.jsonl", "hard", "soft", str(log)):
        assert server.ask("read_file", path=name)["error"]["code"] == "not_found"
        assert server.ask("stat", path=name)["result"]["items"][0]["exists"] is False


def test_a_log_that_cannot_be_opened_stops_the_server_at_its_start(root, tmp_path):
    for log in (tmp_path, tmp_path / "no" / "log"):
        command = [sys.executable, "-m", "zeno", "serve", "--root", str(root), "--log", str(log)]
        done = subprocess.run(command, input=b"", capture_output=True)
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.count(b"\n") == 1


def test_a_log_that_is_a_pipe_without_a_reader_is_refused_at_once(root, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-m", "zeno", "serve", "--root", str(root), "--log", str(tmp_path / "pipe")]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)


def test_a_request_that_cannot_be_logged_is_answered_trace_failed(root, tmp_path):
    """A limit on the size of files stands in for a full disk: the log takes some lines, then no more."""
    (root / "secret").write_text("s\n")
    log = tmp_path / "trace.jsonl"
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))"
    program = f"import resource, sys; from zeno.cli.parser import run; {limit}; sys.exit(run())"
    # Without -B modules that nobody has compiled yet would be left compiled to their first 1000 bytes, for everybody.
    command = [sys.executable, "-B", "-c", program, "serve", "--root", str(root), "--log", str(log)]
    lines = b'{"id":"1","op":"read_file","args":{"path":"secret"}}\n' * 20
    done = subprocess.run(command, input=lines, capture_output=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == 20
    assert answers[0]["ok"]
    assert {answer["error"]["code"] for answer in answers if not answer["ok"]} == {"trace_failed"}
    assert answers[-1]["ok"] is False
    assert done.returncode == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full, a disk that is always full")
def test_a_full_disk_from_the_start_answers_nothing_but_trace_failed(root, pipe):
    server = pipe("--log", "/dev/full")
    assert server.ask("list_files")["error"]["code"] == "trace_failed"
    assert server.line(b"{")["error"]["code"] == "trace_failed"


def test_the_digest_is_that_of_canonical_json_without_metrics():
    result = {"b": [1.0, 1767550290.5, "é\u2028"], "a": None, "metrics": {"time_ms": 4}}
    assert canonical({"b": 1.0, "a": "é"}) == '{"a":"é","b":1}'.encode()
    assert digest_of(result) == digest_of({**result, "metrics": {"time_ms": 5}})
    # As ECMAScript writes them, from the examples of RFC 8785 and around its two borders.
    numbers = [1e-05, 1.5e-06, 1e-06, 1e-07, -2.5e-08, 0.0001, 4.5, 1e16, 1e20, 1e21, 1e30, 333333333.33333329, -0.0]
    written = "[0.00001,0.0000015,0.000001,1e-7,-2.5e-8,0.0001,4.5,10000000000000000,100000000000000000000,1e+21,1e+30"
    assert canonical(numbers) == f"{written},333333333.3333333,0]".encode()
    assert digest_of({"a": 1}) == "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"
