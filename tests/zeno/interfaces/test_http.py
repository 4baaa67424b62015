"""The HTTP door: who may come in, what is refused and how, and that many at once are answered like one by one."""

import json
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import contract_spec as spec
import httpx
import pytest

from tests.support.interfaces import http, http_process, sample, stdio, without_metrics, zeno
from tests.support.patience import PATIENCE, until
from tests.support.slow import SLOW, children, slow_file, slow_files
from zeno.session.dispatch import OPS

TOKEN = "correct-horse-battery-staple"
JSON = {"Content-Type": "application/json"}
HEAD = "POST /v1/ops/grep HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
JSONL = {"Content-Type": "application/jsonl"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="module")
def url(root: Path) -> Iterator[str]:
    flags = ("--max-request-bytes", "2000", "--allow-host", "zeno.internal", "--allow", "secrets")
    with http(root, *flags) as url:
        yield url


def get(url: str, **what: Any) -> httpx.Response:
    return httpx.get(url, timeout=PATIENCE, **what)


def post(url: str, **what: Any) -> httpx.Response:
    return httpx.post(url, timeout=PATIENCE, **what)


def connection(url: str) -> socket.socket:
    """A connection for requests that no client would send."""
    return socket.create_connection((urlsplit(url).hostname, urlsplit(url).port), timeout=PATIENCE)


def problem(response: httpx.Response) -> dict[str, Any]:
    """The problem document of a response, after a look at everything that must hold for one."""
    assert response.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = response.json()
    assert spec.violations("zeno/problem.json", document) == []
    assert document["status"] == response.status_code
    return document


@pytest.mark.parametrize(
    ("op", "args", "status", "code"),
    [
        ("read_file", {"path": "gone"}, 404, "not_found"),
        ("read_file", {"path": "/etc/passwd"}, 403, "path_outside_root"),
        ("read_file", {"path": "bin/data"}, 409, "not_a_file"),
        ("read_file", {"path": "README.md", "start_line": 2, "end_line": 1}, 422, "invalid_args"),
        ("grep", {"pattern": "(", "regex": True}, 422, "invalid_pattern"),
        ("grep", [], 400, "invalid_request"),
        ("no/such", {}, 404, "unknown_op"),
        ("", {}, 404, "unknown_op"),
    ],
)
def test_a_refusal_is_a_problem_document_whose_status_fits(
    url: str, op: str, args: Any, status: int, code: str
) -> None:
    response = post(f"{url}/v1/ops/{op}", json=args)
    assert (response.status_code, problem(response)["code"]) == (status, code)


def test_every_code_of_the_protocol_has_a_status() -> None:
    statuses = spec.resource("rules/http.json")["statuses"]
    assert set(spec.schema("zeno/error.json")["properties"]["code"]["enum"]) == statuses.keys()
    assert all(400 <= status < 600 for status in statuses.values())


@pytest.mark.parametrize("body", [b"", b"{", b'{"a":1,"a":2}', b"\xef\xbb\xbf{}", b'{"x":NaN}', b"\xff", b"[" * 100])
def test_a_body_that_is_not_strict_json_is_refused(url: str, body: bytes) -> None:
    response = post(f"{url}/v1/ops/stat", content=body, headers=JSON)
    assert (response.status_code, problem(response)["code"]) == (400, "invalid_json")


def test_a_body_cannot_smuggle_fields_into_the_request(url: str) -> None:
    response = post(f"{url}/v1/ops/stat", content=b'{"path":"."},"op":"list_files"', headers=JSON)
    assert problem(response)["code"] == "invalid_json"


def test_a_body_over_the_limit_is_refused_and_the_limit_is_told(url: str) -> None:
    # Over the limit at once, and only with the white space around it.
    for body in (b'{"path":"%b"}' % (b"x" * 2000), b'{"path":"."}' + b" " * 2000):
        response = post(f"{url}/v1/ops/stat", content=body, headers=JSON)
        assert (response.status_code, problem(response)["code"]) == (413, "invalid_request")
        assert problem(response)["detail"] == "the body is longer than 2000 bytes"


def test_bodies_that_are_no_requests_are_in_the_trace_too(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "trace"
    with http(root, "--log", str(log), "--max-request-bytes", "100") as url:
        for body in (b"{", b"{}" + b" " * 200, b"[]"):
            post(f"{url}/v1/ops/stat", content=body, headers=JSON)
    codes = [json.loads(line)["error"]["code"] for line in log.read_text().splitlines()[1:]]
    assert codes == ["invalid_json", "invalid_request", "invalid_request"]


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/json; charset=latin-1"]
)
def test_a_body_must_be_declared_as_json(url: str, kind: str) -> None:
    response = post(f"{url}/v1/ops/stat", content=b'{"path":"."}', headers={"Content-Type": kind})
    assert problem(response)["status"] == 415


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "localhost:1"}, 200),
        ({"Host": "127.0.0.1"}, 200),
        ({"Host": "[::1]:80"}, 200),
        ({"Host": "Zeno.Internal:8080"}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Host": "localhost.evil.example"}, 403),
        ({"Host": "127.0.0.1.evil.example"}, 403),
        ({"Host": "evil.example:127"}, 403),
        ({"Host": ""}, 403),
        ({"Host": "localhost:1", "Origin": "http://localhost:1"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "localhost:1", "Origin": "http://localhost:2"}, 403),
    ],
)
def test_host_and_origin_must_be_ours(url: str, headers: dict[str, str], status: int) -> None:
    for path in ("/healthz", "/openapi.json"):
        response = get(url + path, headers=headers)
        assert response.status_code == status
        if status == 403:
            assert problem(response)


def test_a_token_is_demanded_of_all_but_the_health_check(root: Path, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    (tmp_path / "token").chmod(0o600)
    with http(root, "--token-file", str(tmp_path / "token")) as url:
        assert get(f"{url}/healthz").json() == {"status": "ok", "protocol": spec.PROTOCOL_VERSION}
        for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}):
            for response in (
                get(f"{url}/openapi.json", headers=given),
                post(f"{url}/v1/ops/list_files", json={}, headers=given),
                post(f"{url}/v1/jsonl", content=b"", headers={**JSONL, **given}),
            ):
                assert problem(response)["status"] == 401
                assert response.headers["www-authenticate"] == "Bearer"
        good = {"Authorization": f"Bearer {TOKEN}"}
        assert post(f"{url}/v1/ops/list_files", json={}, headers=good).status_code == 200


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--host", "0.0.0.0"), "--token-file"),
        (("--host", "::"), "--token-file"),
        (("--token-file", "nowhere"), "cannot read the token file"),
        (("--token-file", "README.md"), "visible ASCII"),
        (("--token-file", "open"), "chmod 600"),
        (("--token-file", "long"), "longer than 4096"),
        (("--host", "203.0.113.1", "--token-file", "token"), "cannot listen"),
        (("--port", "70000"), "no port"),
    ],
)
def test_what_would_be_open_or_cannot_be_opened_is_refused_at_the_start(
    root: Path, tmp_path: Path, flags: tuple[str, ...], told: str
) -> None:
    files = {
        "token": (TOKEN, 0o600),
        "README.md": ("short", 0o600),
        "open": (TOKEN, 0o644),
        "long": ("x" * 5000, 0o600),
    }
    for name, (text, mode) in files.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(mode)
    found = subprocess.run(
        zeno("http", "--root", root, *flags), capture_output=True, text=True, cwd=tmp_path, timeout=PATIENCE
    )
    assert found.returncode == 2
    assert told in found.stderr


def test_a_taken_port_is_told_in_one_line(root: Path, url: str) -> None:
    command = zeno("http", "--root", root, "--port", str(urlsplit(url).port))
    found = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert (found.returncode, found.stderr.count("\n")) == (2, 1)


def test_the_document_is_the_one_of_the_spec_and_names_every_operation(url: str) -> None:
    document = get(f"{url}/openapi.json").json()
    assert document == spec.resource("openapi.json")
    assert {path.removeprefix("/v1/ops/") for path in document["paths"] if "/ops/" in path} == OPS.keys()


def test_unknown_paths_and_methods_are_problems_too(url: str) -> None:
    assert problem(get(f"{url}/nowhere"))["status"] == 404
    response = get(f"{url}/v1/ops/grep")
    assert (problem(response)["status"], response.headers["allow"]) == (405, "POST")


def test_answers_are_not_to_be_stored_or_taken_for_pages(url: str) -> None:
    for response in (get(f"{url}/healthz"), get(f"{url}/x"), post(f"{url}/v1/ops/stat", json={})):
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["x-content-type-options"] == "nosniff"


def test_the_plain_protocol_streams_the_bytes_of_the_stdio_server(url: str, root: Path) -> None:
    lines = [
        b'{"id":"1","op":"read_file","args":{"path":"src/app.py","end_line":9}}',
        b"   ",
        b"nonsense",
        b'{"id":"2","op":"grep","args":{"pattern":"' + b"x" * 3000 + b'"}}',
        b'{"id":"3","op":"list_files","args":{}}',
    ]
    response = post(f"{url}/v1/jsonl", content=b"\n".join(lines), headers=JSONL)
    assert response.headers["content-type"] == "application/jsonl"
    answers = [json.loads(line) for line in response.text.splitlines()]
    with stdio(root, "--max-request-bytes", "2000") as pipe:
        expected = [pipe.line(line) for line in lines if line.strip()]
    for answer in [*answers, *expected]:
        answer.get("result", {}).pop("metrics", None)
    assert answers == expected


def test_a_streamed_line_is_answered_before_the_next_one_is_sent(url: str) -> None:
    with socket.create_connection((urlsplit(url).hostname, urlsplit(url).port), timeout=PATIENCE) as connection:
        head = "POST /v1/jsonl HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/jsonl\r\n"
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        answers = connection.makefile("rb")
        for number in ("1", "2", "3"):
            line = json.dumps({"id": number, "op": "stat", "args": {"path": "."}}).encode() + b"\n"
            connection.sendall(b"%x\r\n%b\r\n" % (len(line), line))
            while not (answer := answers.readline()).startswith(b'{"id"'):
                assert answer
            assert json.loads(answer)["id"] == number
        connection.sendall(b"0\r\n\r\n")


def test_many_at_once_are_answered_like_one_after_the_other(url: str, root: Path, tmp_path: Path) -> None:
    requests = [("read_file", {"path": "src/deep/er/notes.txt", "start_line": n}) for n in range(1, 61)]
    requests += [("grep", {"pattern": pattern}) for pattern in ("e", "zwei", "nothing", "class")]
    log = tmp_path / "trace"
    with http(root, "--log", str(log)) as traced, httpx.Client(timeout=PATIENCE) as client:

        def ask(request: tuple[str, dict[str, Any]]) -> dict[str, Any]:
            return without_metrics(client.post(f"{traced}/v1/ops/{request[0]}", json=request[1]).json())

        alone = [ask(request) for request in requests]
        with ThreadPoolExecutor(16) as threads:
            together = list(threads.map(ask, requests))
    assert together == alone
    events = [json.loads(line) for line in log.read_text().splitlines()[1:]]
    by_id: dict[str, list[str]] = {}
    for event in events:
        by_id.setdefault(event["id"], []).append(event["event"])
    assert list(by_id.values()) == [["request", "response"]] * (2 * len(requests))


def test_nobody_waits_for_a_slow_request_and_it_ends_when_its_client_leaves(root: Path, tmp_path: Path) -> None:
    tree = sample(tmp_path / "tree")
    slow_file(tree)
    log = tmp_path / "trace"
    with http_process(tree, "--log", str(log)) as (url, process):
        with connection(url) as slow:
            body = json.dumps(SLOW)
            slow.sendall(f"{HEAD}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            until(lambda: children(process.pid), "the request runs in a process of its own")
            for _ in range(3):
                assert post(f"{url}/v1/ops/stat", json={"path": "."}).status_code == 200
                assert post(f"{url}/v1/ops/grep", json={"pattern": "class"}).json()["hits"]
        until(lambda: not children(process.pid), "it has ended")
        until(lambda: b'"cancelled"' in log.read_bytes(), "the trace tells of it")
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [spec.violations("zeno/trace_event.json", event) for event in events] == [[]] * len(events)


def test_a_stream_answers_in_order_and_ends_when_its_client_leaves(root: Path, tmp_path: Path) -> None:
    tree = sample(tmp_path / "tree")
    slow_file(tree)
    with http_process(tree) as (url, process):
        with connection(url) as stream:
            head = "POST /v1/jsonl HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/jsonl\r\n"
            lines = [json.dumps({"id": "1", "op": "grep", "args": SLOW}), '{"id":"2","op":"stat","args":{"path":"."}}']
            body = "\n".join(lines)
            stream.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            until(lambda: children(process.pid), "the request runs in a process of its own")
            assert post(f"{url}/v1/ops/stat", json={"path": "."}).status_code == 200
        until(lambda: not children(process.pid), "it has ended")


def test_a_slow_request_sees_every_change_made_before_it(root: Path, tmp_path: Path) -> None:
    tree = sample(tmp_path / "tree")
    # Too large a program to be run where others wait, but quick on little text.
    pattern = {"pattern": r"(?:\pL{1,9}){9}needle", "regex": True}
    with http_process(tree) as (url, _):
        for number in range(10):
            (tree / "src" / f"{number}.txt").write_text(f"abcdefghiineedle {number}\n")
            (tree / "src" / "again.txt").write_text(f"abcdefghiineedle {number}\n")
            texts = sorted(hit["text"] for hit in post(f"{url}/v1/ops/grep", json=pattern).json()["hits"])
            expected = sorted([f"abcdefghiineedle {n}" for n in range(number + 1)] + [f"abcdefghiineedle {number}"])
            assert texts == expected
            plain = post(f"{url}/v1/ops/grep", json={"pattern": "iineedle"}).json()["hits"]
            assert sorted(hit["text"] for hit in plain) == expected


def test_a_request_over_its_time_is_a_problem_with_its_code(tmp_path: Path) -> None:
    slow_file(sample(tmp_path))
    with http(tmp_path, "--max-seconds", "1") as url:
        response = post(f"{url}/v1/ops/grep", json=SLOW)
        assert (response.status_code, problem(response)["code"]) == (422, "deadline_exceeded")


def limits_at(root: Path, *flags: str) -> dict[str, int]:
    """The limits in force that an HTTP server tells."""
    with http(root, *flags) as url:
        limits: dict[str, int] = post(f"{url}/v1/ops/describe", json={"schemas": False}).json()["limits"]
    return limits


def test_servers_that_are_shared_give_a_request_up_after_five_minutes(tmp_path: Path) -> None:
    assert limits_at(tmp_path)["max_seconds"] == 300
    assert limits_at(tmp_path, "--max-seconds", "7")["max_seconds"] == 7
    assert "max_seconds" not in limits_at(tmp_path, "--max-seconds", "0")
    with stdio(tmp_path) as pipe:
        answer = pipe.line(b'{"id": "1", "op": "describe", "args": {"schemas": false}}')
        assert "max_seconds" not in answer["result"]["limits"]


def test_where_the_system_cannot_fork_a_request_over_its_time_has_one_answer_in_the_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZENO_WITHOUT", "fork")
    tree, log = sample(tmp_path / "tree"), tmp_path / "trace"
    args = slow_files(tree)
    with http(tree, "--max-seconds", "1", "--log", str(log)) as url:
        assert problem(post(f"{url}/v1/ops/grep", json=args))["code"] == "deadline_exceeded"
        assert post(f"{url}/v1/ops/stat", json={"path": "."}).status_code == 200
    events = [json.loads(line)["event"] for line in log.read_text().splitlines()]
    assert events == ["session", "request", "error", "request", "response"]


def test_a_claim_on_a_denied_path_is_denied(tmp_path: Path) -> None:
    root = sample(tmp_path / "tree")
    with http(root, "--log", str(tmp_path / "trace"), "--deny", "app.py") as url:
        for path in ("src/app.py", "src/app.py/gone"):
            cited = {"path": path, "start_line": 1, "end_line": 1}
            for evidence in (cited, {**cited, "sha256": "0" * 64}):
                refused = post(f"{url}/v1/claims", json={"claim": "x", "evidence": [evidence]})
                assert (refused.status_code, problem(refused)["code"]) == (403, "denied")


def test_a_claim_goes_into_the_trace_and_cites_an_answer_by_its_id(root: Path, url: str, tmp_path: Path) -> None:
    log = tmp_path / "trace"
    with http(root, "--log", str(log)) as traced:
        found = post(f"{traced}/v1/ops/grep", json={"pattern": "nowhere to be found"})
        request_id = found.headers["zeno-request-id"]
        claim = {"claim": "it is not there", "answers": [request_id]}
        written = post(f"{traced}/v1/claims", json=claim)
        assert (written.status_code, spec.violations("zeno/trace_event.json", written.json())) == (201, [])
        search = {"type": "absent", "pattern": "nowhere to be found"}
        searched = post(f"{traced}/v1/claims", json={"claim": "it is not there", "search": search})
        assert (searched.status_code, searched.json()["search"]) == (201, search)
        refused: list[Any] = [{"claim": 1}, {"claim": "x", "answers": ["never asked"]}, []]
        refused += [{"claim": "x", "search": {"type": "absent"}}]
        for wrong in refused:
            assert problem(post(f"{traced}/v1/claims", json=wrong))["code"] == "invalid_args"
        assert post(f"{traced}/v1/ops/read_file", json={"path": "gone"}).headers["zeno-request-id"] != request_id
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert (events[1]["id"], events[3]) == (request_id, written.json())
    assert problem(post(f"{url}/v1/claims", json=claim))["status"] == 404


def test_a_signal_ends_the_server_with_status_0(root: Path) -> None:
    with subprocess.Popen(zeno("http", "--root", root, "--port", "0"), stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        process.stderr.readline()
        process.terminate()
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == b""


def test_a_client_that_leaves_in_the_middle_of_its_body_is_no_bug(root: Path) -> None:
    with subprocess.Popen(zeno("http", "--root", root, "--port", "0"), stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        url = process.stderr.readline().split()[-1]
        with socket.create_connection((urlsplit(url).hostname, urlsplit(url).port), timeout=PATIENCE) as connection:
            head = "POST /v1/ops/grep HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            connection.sendall(f'{head}Content-Length: 100\r\n\r\n{{"pattern":'.encode())
        assert post(f"{url}/v1/ops/stat", json={"path": "."}).status_code == 200
        process.terminate()
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == ""


def test_the_tree_is_read_into_memory_before_anybody_asks(tmp_path: Path) -> None:
    sample(tmp_path)
    with http_process(tmp_path) as (_, process):
        watches = Path(f"/proc/{process.pid}/fdinfo")
        if not watches.exists():
            pytest.skip("only Linux tells what a process watches")

        def watched() -> int:
            count = 0
            for one in watches.iterdir():
                with suppress(FileNotFoundError):  # closed meanwhile
                    count += one.read_text().count("inotify wd:")
            return count

        until(lambda: watched() > 5, "files are watched")
