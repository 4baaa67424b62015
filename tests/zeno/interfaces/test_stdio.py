"""The server over real pipes: one answer a line in order, whatever the line, and a clean end however it ends."""

import json
import os
import select
import signal
import subprocess
import sys
import threading
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.patience import PATIENCE, open_files, until
from zeno.files.tree import Tree
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server

DEEP = b'{"id":"1","op":"stat","args":{"path":' + b"[" * 62 + b"]" * 62 + b"}}"
TOO_DEEP = b'{"id":"1","op":"stat","args":{"path":' + b"[" * 63 + b"]" * 63 + b"}}"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"", None),
        (b" \t\r", None),
        (b"nonsense", "invalid_json"),
        (b'{"id":"1","op":"stat","args":{}} x', "invalid_json"),
        (b'\xef\xbb\xbf{"id":"1","op":"stat","args":{"path":"a"}}', "invalid_json"),
        (b'{"id":"1","id":"2","op":"stat","args":{}}', "invalid_json"),
        (b'{"id":"1","op":"stat","args":{"path":"a","path":"b"}}', "invalid_json"),
        (b'{"id":"1","op":"stat","args":{"path":NaN}}', "invalid_json"),
        (b'{"id":"1","op":"stat","args":{"path":1e999}}', "invalid_json"),
        (b'{"id":"1","op":"grep","args":{"pattern":"x","max_hits":' + b"9" * 5000 + b"}}", "invalid_json"),
        (b'{"id":"\\ud800","op":"stat","args":{}}', "invalid_json"),
        (b'{"id":"\xff","op":"stat","args":{}}', "invalid_json"),
        (TOO_DEEP, "invalid_json"),
        (DEEP, "invalid_args"),
        (b"[" * 100_000, "invalid_json"),
        (b"[]", "invalid_request"),
        (b"null", "invalid_request"),
        (b"{}", "invalid_request"),
        (b'{"id":1,"op":"stat","args":{"path":"a"}}', "invalid_request"),
        (b'{"id":"1","op":"stat","args":[]}', "invalid_request"),
        (b'{"id":"1","op":"stat","args":{"path":"a"},"extra":1}', "invalid_request"),
        (b'{"id":"1","op":"sing","args":{}}', "unknown_op"),
        (b'{"id":"1","op":"stat","args":{"path":"a","extra":1}}', "invalid_args"),
        (b'{"id":"1","op":"stat","args":{"path":"a\\u0000b"}}', "invalid_args"),
        (b'{"id":"1","op":"grep","args":{"pattern":"x","max_hits":9007199254740992}}', "invalid_args"),
        (b" " * (1 << 20) + b"x", "invalid_request"),
        (b"x" * 5_000_000, "invalid_request"),
    ],
    ids=lambda part: repr(part[:50]) if isinstance(part, bytes) else str(part),
)
def test_a_bad_line_is_refused_and_the_server_goes_on(root, pipe, line, code):
    server = pipe()
    server.process.stdin.write(line + b"\n")
    if code is not None:
        server.process.stdin.flush()
        answer = json.loads(server.process.stdout.readline())
        assert (answer["ok"], answer["error"]["code"]) == (False, code)
    assert server.ask("list_files")["ok"]
    assert server.close() == (0, b"")


def test_an_over_long_line_that_begins_blank_is_refused_and_one_that_is_blank_is_skipped(root, pipe):
    server = pipe("--max-request-bytes", "100")
    assert server.line(b" " * 200 + b'{"id":"1","op":"list_files","args":{}}')["error"]["code"] == "invalid_request"
    assert server.line(b" " * 200 + b"\n" + b"[]")["error"]["message"].startswith("a request must be an object")


@pytest.mark.parametrize(
    ("op", "args", "code"),
    [
        ("x" * 100_000, {}, "unknown_op"),
        ("stat", {"paths": [5] * 10_000}, "invalid_args"),
        ("stat", {f"x{number}": 1 for number in range(10_000)}, "invalid_args"),
        ("read_file", {"path": "../" + "é" * 100_000}, "path_outside_root"),
    ],
)
def test_a_refusal_does_not_send_back_all_that_it_refuses(ask, op, args, code):
    error = ask(op, **args)["error"]
    assert (error["code"], len(error["message"]) < 5000) == (code, True)


def test_the_id_comes_back_wherever_one_can_be_read(root, pipe):
    server = pipe()
    assert server.line(b'{"id":"x","op":5}')["id"] == "x"
    assert server.line(b'{"id":7,"op":"stat","args":{}}')["id"] is None
    assert server.line(b"[")["id"] is None


def test_errors_name_the_field_and_what_would_be_right(ask):
    assert ask("list_files", max="5")["error"]["message"] == "args.max must be an integer, not a string"
    assert (
        ask("grep", pattern="x", paths=["a", 5])["error"]["message"] == "args.paths[1] must be a string, not a number"
    )
    assert ask("peek")["error"]["message"] == "args.path is missing"
    assert ask("stat", path="a", head=1)["error"]["message"] == (
        "args.head is no argument of stat; its arguments are path, paths, rev"
    )
    assert ask("foo")["error"] == {"message": "unknown op: foo", "code": "unknown_op"}


@settings(max_examples=300)
@given(line=st.binary(max_size=60) | st.text(max_size=40).map(str.encode))
def test_no_line_breaks_the_answer(tmp_path_factory, line):
    with Tree(str(tmp_path_factory.getbasetemp())) as tree:
        answer = Server(ColdCorpus(tree)).answer(line)
    assert answer.endswith(b"\n")
    assert answer.count(b"\n") == 1
    assert json.loads(answer)["ok"] is False


def test_answers_come_in_the_order_of_requests_however_the_input_is_cut(root, pipe):
    (root / "f").write_text("x\n")
    requests = b"".join(
        json.dumps({"id": str(n), "op": ["stat", "read_file", "nope"][n % 3], "args": {"path": "f"}}).encode() + b"\n"
        for n in range(500)
    )
    server = pipe()

    def feed():
        for start in range(0, len(requests), 997):
            server.process.stdin.write(requests[start : start + 997])
            server.process.stdin.flush()
        server.process.stdin.close()

    writer = threading.Thread(target=feed)
    writer.start()
    answers = [json.loads(line) for line in server.process.stdout]
    writer.join()
    assert [answer["id"] for answer in answers] == [str(n) for n in range(500)]
    assert server.process.wait(PATIENCE) == 0


def test_a_last_line_without_an_end_is_answered(root):
    command = [sys.executable, "-m", "zeno", "serve", "--root", str(root)]
    done = subprocess.run(command, input=b'{"id":"1","op":"list_files","args":{}}', capture_output=True)
    assert json.loads(done.stdout)["ok"]
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_cleanly(root, pipe, number):
    server = pipe()
    assert server.ask("list_files")["ok"]
    server.process.send_signal(number)
    assert server.process.wait(PATIENCE) == 0
    assert server.process.stderr.read() == b""


def test_a_signal_that_is_handled_elsewhere_in_the_process_ends_nothing(root):
    script = f"""
        import signal, sys
        from zeno.cli.parser import main
        signal.signal(signal.SIGUSR1, lambda *_: print("handled", file=sys.stderr, flush=True))
        main(["serve", "--root", {str(root)!r}])
    """
    command = [sys.executable, "-c", dedent(script)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        asked = b'{"id":"1","op":"list_files","args":{}}\n'
        for _ in range(3):
            process.stdin.write(asked)
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["ok"]
            process.send_signal(signal.SIGUSR1)
            assert process.stderr.readline() == b"handled\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


def answered(server) -> bool:
    return bool(select.select([server.process.stdout], [], [], 0)[0])


def test_a_signal_lets_the_request_under_way_finish(root, pipe):
    (root / "big").write_bytes(b"a\n" * 50_000_000)
    server = pipe("--no-cache")
    assert server.ask("list_files")["ok"]
    request = {"id": "slow", "op": "peek", "args": {"path": "big", "head_lines": 1, "tail_lines": 1}}
    server.process.stdin.write(json.dumps(request).encode() + b"\n")
    server.process.stdin.flush()
    under_way = str(root / "big")
    # On a fast machine it may be answered before it was seen to be under way.
    until(lambda: under_way in open_files(server.process.pid) or answered(server), "the file is being read")
    server.process.send_signal(signal.SIGTERM)
    out = server.process.stdout.read()
    assert server.process.wait(PATIENCE) == 0
    assert json.loads(out)["id"] == "slow"


def test_a_closed_pipe_is_a_normal_goodbye(root, pipe):
    server = pipe()
    assert server.ask("list_files")["ok"]
    server.process.stdout.close()
    server.process.stdin.write(b'{"id":"1","op":"list_files","args":{}}\n' * 3)
    server.process.stdin.close()
    assert server.process.wait(PATIENCE) == 0
    assert server.process.stderr.read() == b""


def test_a_bug_answers_internal_and_tells_stderr(root, caplog):
    class Broken:
        tree = revisions = None

        def preparations(self) -> list[object]:
            return []

    server = Server(Broken())  # type: ignore[arg-type] # it is no corpus, that is the bug
    answer = json.loads(server.answer(b'{"id":"1","op":"read_file","args":{"path":"a"}}'))
    assert (answer["id"], answer["error"]["code"]) == ("1", "internal")
    assert "Traceback" in caplog.text


def test_of_a_long_request_only_the_first_thing_that_is_wrong_is_told(root):
    with Tree(str(root)) as tree:
        server = Server(ColdCorpus(tree))
        more = "; there may be more: of a request this long only the first is reported"
        for number, told, rest in ((3, 3, ""), (30_000, 1, more)):
            request = {"id": "1", "op": "grep", "args": {"pattern": "x", "paths": [0] * number}}
            error = json.loads(server.answer(json.dumps(request).encode()))["error"]
            assert error["code"] == "invalid_args"
            assert (
                error["message"]
                == "; ".join(f"args.paths[{index}] must be a string, not a number" for index in range(told)) + rest
            )


def test_the_same_request_gives_the_same_bytes_in_another_process_and_on_a_copy(tmp_path, pipe):
    requests: list[tuple[str, dict[str, Any]]] = [
        ("list_files", {}),
        ("grep", {"pattern": "[a-c]", "regex": True, "context": 1, "max_hits": 7}),
        ("read_file", {"path": "d/1", "end_line": 9}),
        ("peek", {"path": "d/2"}),
        ("extract_symbols", {"path": "e.py"}),
    ]
    texts = {**{f"d/{n}": f"a{n}\nb\r\nc\xe9\n" for n in range(9)}, "e.py": "def f(): ...\n", "a-b": "c"}
    answers = []
    for number, order in enumerate([sorted(texts), sorted(texts, reverse=True)]):
        root = tmp_path / f"tree{number}"
        (root / "d").mkdir(parents=True)
        for name in order:
            (root / name).write_bytes(texts[name].encode("latin-1"))
        server = pipe(at=root)
        answers.append([server.ask(op, **args)["result"] for op, args in requests * 2])
    for result in answers[0] + answers[1]:
        del result["metrics"]
    assert answers[0] == answers[1]
    assert answers[0][:5] == answers[0][5:]


def test_files_that_vanish_shrink_or_grow_are_answered(root, pipe):
    server = pipe()
    (root / "f").write_bytes(b"line\n" * 200_000)
    asked: list[tuple[str, dict[str, Any]]] = [
        ("read_file", {"path": "f", "end_line": 3}),
        ("peek", {"path": "f"}),
        ("grep", {"pattern": "line"}),
    ]
    done = threading.Event()

    def fidget():
        while not done.is_set():
            (root / "f").write_bytes(b"line\n" * 100)
            with open(root / "f", "ab") as file:
                file.write(b"line\n" * 200_000)
            os.unlink(root / "f")

    thread = threading.Thread(target=fidget)
    thread.start()
    try:
        for _ in range(60):
            for op, args in asked:
                answer = server.ask(op, **args)
                assert answer["ok"] or answer["error"]["code"] == "not_found"
    finally:
        done.set()
        thread.join()
    assert server.close() == (0, b"")


def test_a_search_ends_when_its_client_has_left(tmp_path):
    """It would take an hour: each byte of this text costs a step for each of over a thousand states."""
    for number in range(800):
        (tmp_path / f"{number}.txt").write_text(("ab1\u00e9" * 50 + "\n") * 250)
    pattern = r"(?i)(?:\pL\pN?){100}[0-4][5-9][0-4]"
    line = json.dumps({"id": "1", "op": "grep", "args": {"pattern": pattern, "regex": True}})
    command = [sys.executable, "-m", "zeno", "serve", "--root", str(tmp_path), "--log", str(tmp_path / ".log")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line.encode() + b"\n")
    process.stdin.flush()
    until(lambda: (tmp_path / ".log").exists() and (tmp_path / ".log").read_bytes(), "the request is under way")
    process.stdout.close()
    assert process.wait(PATIENCE) == 0
    process.stdin.close()
