"""Sessions: a trace is run again under what its server stated, and flags that contradict it are refused."""

import json
import subprocess

import pytest

from tests.support.interfaces import zeno
from tests.support.patience import PATIENCE
from zeno.cli.parser import main
from zeno.files.policy import Policy
from zeno.files.tree import Tree
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server
from zeno.trace.sessions import _flags
from zeno.trace.writer import TraceWriter


@pytest.fixture
def tree(root):
    (root / ".env").write_text("SECRET=1\n")
    (root / "server.key").write_text("SECRET=2\n")
    (root / "a.txt").write_text("one SECRET\ntwo\n")
    return root


def serve(tree, log, *requests, flags=()):
    """Let a server answer requests and write them to the log; return the answers."""
    lines = [json.dumps({"id": str(number), "op": op, "args": args}) for number, (op, args) in enumerate(requests)]
    command = zeno("serve", "--root", tree, "--log", log, *flags)
    done = subprocess.run(command, input="\n".join(lines).encode(), capture_output=True, check=True, timeout=PATIENCE)
    return [json.loads(line) for line in done.stdout.splitlines()]


def run(capsys, command, log, tree, *flags):
    capsys.readouterr()
    status = main(["trace", command, str(log), "--root", str(tree), *flags])
    return status, capsys.readouterr()


ASKED = [("grep", {"pattern": "SECRET", "include_hidden": True}), ("read_file", {"path": ".env"})]


def test_a_server_states_its_policy_before_its_first_event(tree, tmp_path):
    log = tmp_path / "log"
    serve(tree, log, *ASKED, flags=["--deny", "secrets", "--deny", "*.tmp", "--gitignore", "--max-ops", "9"])
    first, *others = [json.loads(line) for line in log.read_text().splitlines()]
    del first["ts"], first["version"]
    assert first == {
        "event": "session",
        "protocol": "1.0",
        "policy": {"deny": ["*.tmp"], "only": [], "lists": ["secrets"], "ignored": False},
        "limits": {"max_request_bytes": 1 << 20, "max_response_bytes": 1 << 24, "max_ops": 9},
        "gitignore": True,
    }
    assert [event["event"] for event in others] == ["request", "response", "request", "error"]


def test_a_server_that_is_never_asked_writes_nothing(tree, tmp_path):
    serve(tree, tmp_path / "log")
    assert (tmp_path / "log").read_text() == ""


def test_a_trace_is_replayed_under_the_policy_of_its_server(tree, tmp_path, capsys):
    log = tmp_path / "log"
    serve(tree, log, *ASKED, flags=["--deny", "secrets"])
    status, told = run(capsys, "replay", log, tree)
    assert (status, told.out) == (0, "2 answers: 2 the same, 0 different\n")


def test_a_page_and_a_table_of_files_hold_no_name_that_the_server_denied(tree, tmp_path, capsys):
    log, page = tmp_path / "log", tmp_path / "page.html"
    serve(tree, log, ASKED[0], flags=["--deny", "secrets"])
    assert run(capsys, "view", log, tree, "--out", str(page))[0] == 0
    assert b"server.key" not in page.read_bytes()
    assert b"a.txt" in page.read_bytes()
    assert "server.key" not in run(capsys, "coverage", log, tree, "--all")[1].out


def test_sessions_after_another_hold_each_for_their_own_requests(tree, tmp_path, capsys):
    log = tmp_path / "log"
    serve(tree, log, *ASKED, flags=["--deny", "secrets"])
    serve(tree, log, *ASKED)
    serve(tree, log, *ASKED, flags=["--only", "*.txt", "--max-response-bytes", "400"])
    assert run(capsys, "replay", log, tree)[1].out == "6 answers: 6 the same, 0 different\n"


@pytest.mark.parametrize(
    ("flags", "given", "why"),
    [
        (["--deny", "secrets"], ["--deny", "*.pem"], "run without --deny *.pem, it was run with --deny secrets"),
        ([], ["--only", "a.txt"], "run without --only a.txt"),
        ([], ["--gitignore"], "run without --gitignore"),
        ([], ["--max-response-bytes", "400"], "run with --max-response-bytes 16777216"),
    ],
)
@pytest.mark.parametrize("command", ["replay", "verify", "coverage"])
def test_a_flag_that_differs_is_named_and_nothing_is_done(tree, tmp_path, capsys, command, flags, given, why):
    log = tmp_path / "log"
    serve(tree, log, ASKED[0], flags=flags)
    status, told = run(capsys, command, log, tree, *given)
    assert (status, told.out) == (2, "")
    assert told.err.startswith("zeno: line 1: the flags are not those of the traced server: ")
    assert why in told.err


def test_flags_that_say_the_same_are_accepted(tree, tmp_path, capsys):
    log = tmp_path / "log"
    flags = ["--deny", "secrets", "--deny", "x", "--gitignore"]
    serve(tree, log, *ASKED, flags=flags)
    assert run(capsys, "replay", log, tree, "--deny", "x", "--deny", "secrets", "--gitignore")[0] == 0


def test_other_roots_are_told(tree, tmp_path, capsys):
    log = tmp_path / "log"
    serve(f"app={tree}", log, ("stat", {"path": "app"}))
    status, told = run(capsys, "replay", log, tree)
    assert (status, told.err) == (
        2,
        "zeno: line 1: the traced server had the roots app; give each as --root NAME=DIR\n",
    )
    assert run(capsys, "replay", log, f"app={tree}")[0] == 0


@pytest.mark.parametrize(
    ("policy", "why"), [({"lists": ["../../x"]}, "which is not known here"), ({"deny": ["/etc"]}, "cannot be used")]
)
def test_a_forged_policy_is_refused(tree, tmp_path, capsys, policy, why):
    log = tmp_path / "log"
    serve(tree, log, ASKED[0], flags=["--deny", "x"])
    first, *others = log.read_text().splitlines()
    event = json.loads(first)
    event["policy"] |= policy
    log.write_text("\n".join([json.dumps(event), *others, ""]))
    status, told = run(capsys, "replay", log, tree)
    assert (status, told.out) == (2, "")
    assert why in told.err


def test_narrowing_by_a_client_is_a_session_of_its_own(tree, tmp_path, capsys):
    (tree / "sub").mkdir()
    (tree / "sub" / "b.txt").write_text("three\n")
    log = tmp_path / "log"
    writer = TraceWriter(str(log))
    with Tree(str(tree), Policy(["*.key"])) as wide:
        server = Server(ColdCorpus(wide), writer)
        server.begin_session()
        request = b'{"id": "1", "op": "list_files", "args": {}}'
        server.answer(request)
        server.answer_from(ColdCorpus(wide.under(wide.policy.narrow(["sub"]))))
        server.answer(request)
    writer.close()
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [event["policy"].get("within") for event in events if event["event"] == "session"] == [None, ["sub"]]
    assert run(capsys, "replay", log, tree)[1].out == "2 answers: 2 the same, 0 different\n"


def test_a_policy_is_told_as_its_flags():
    policy = Policy(["x", "a/b"], ["src"], lists=["secrets"], ignored=True)
    assert _flags(policy) == ["--deny a/b", "--deny ignored", "--deny secrets", "--deny x", "--only src"]


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda line: line.replace('"deny":["x"]', '"deny":"x"'), "policy.deny must be an array"),
        (lambda line: line[:-9], "not strict JSON"),
        (lambda line: line[:30] + line, "not strict JSON"),
    ],
    ids=["no policy", "torn", "begun twice"],
)
@pytest.mark.parametrize("command", ["replay", "verify", "coverage", "view"])
def test_a_session_that_cannot_be_read_is_refused(tree, tmp_path, capsys, command, damage, why):
    """Without its policy the requests of that server would be run on files that it denied."""
    log, page = tmp_path / "log", tmp_path / "page.html"
    serve(tree, log, ASKED[0], flags=["--deny", "x"])
    first, *others = log.read_text().splitlines()
    log.write_text("\n".join([damage(first), *others, ""]))
    status, told = run(capsys, command, log, tree, *(["--out", str(page)] if command == "view" else []))
    assert (status, told.out, page.exists()) == (2, "", False)
    assert told.err.startswith("zeno: line 1: a server started here, and its policy cannot be read (")
    assert why in told.err


def test_another_line_that_cannot_be_read_is_told_and_the_rest_is_replayed(tree, tmp_path, capsys):
    log = tmp_path / "log"
    serve(tree, log, *ASKED, flags=["--deny", "secrets"])
    log.write_text(log.read_text() + '{"event": "request", "args": {"pattern": "session"}\n')
    status, told = run(capsys, "replay", log, tree)
    assert (status, "2 answers: 2 the same" in told.out, "not_json" in told.out) == (1, True, True)
