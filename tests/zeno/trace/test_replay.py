"""replay: the same tree answers the same, and a tree that changed is found out, with the file behind it."""

import os
import shutil

import pytest

TEXT = "".join(f"line {number}\n" for number in range(1, 31))


@pytest.fixture
def session(traced):
    traced.file("a.txt", TEXT)
    traced.file("d/b.py", "def f():\n    return 1\n")
    traced.ask("list_files")
    traced.ask("read_file", path="a.txt", start_line=3, end_line=9)
    traced.ask("peek", path="a.txt", head_lines=2, tail_lines=2)
    traced.ask("grep", pattern="line 1", max_hits=3, context=1)
    traced.ask("grep", pattern="return", paths=["d"])
    traced.ask("extract_symbols", path="d/b.py")
    traced.ask("stat", paths=["a.txt", "d", "none"])
    traced.ask("verify", citations=[{"path": "a.txt", "start_line": 1, "end_line": 1, "text": "line 1"}])
    traced.ask("describe")
    traced.ask("read_file", path="none")
    traced.ask("grep", pattern="(", regex=True)
    traced.line({"id": "x"})
    return traced


def test_the_same_tree_answers_the_same(session):
    status, report = session.run("replay")
    counts = {name: report[name] for name in ("same", "differs", "times", "not_run")}
    assert (status, counts) == (0, {"same": 10, "differs": 0, "times": 0, "not_run": 1})
    assert session.text("replay")[1].startswith("11 answers: 10 the same, 0 different\n")


def test_a_copy_of_the_tree_answers_the_same_though_its_times_are_others(session, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(session.root, copy, copy_function=shutil.copyfile)
    for path in copy.rglob("*"):
        os.utime(path, (1, 1))
    session.root = copy
    status, report = session.run("replay")
    assert (status, report["differs"], report["times"]) == (0, 0, 1)
    status, report = session.run("replay", "--times")
    assert (status, [one["op"] for one in report["differences"]]) == (1, ["stat"])


def test_the_first_difference_and_the_file_behind_it_are_named(session):
    session.file("a.txt", TEXT.replace("line 5\n", "line five\n"))
    status, report = session.run("replay")
    assert status == 1
    first = report["differences"][0]
    assert (first["op"], first["line"], first["files"], first["files_are_suspects"]) == (
        "read_file",
        4,
        ["a.txt"],
        False,
    )
    assert [one["op"] for one in report["differences"]] == ["read_file"]
    text = session.text("replay")[1]
    assert text.startswith("first difference: line 4: read_file path=a.txt start_line=3 end_line=9\n")
    assert "the file behind it: a.txt" in text


def test_a_search_that_differs_names_what_changed_since(session):
    for path in session.root.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    session.file("d/b.py", "def f():\n    return 2  # and return\n")
    _, report = session.run("replay")
    found = {one["op"]: (one["files"], one["files_are_suspects"]) for one in report["differences"]}
    assert found["grep"] == (["d/b.py"], True)


def test_what_changed_right_after_an_answer_is_named_though_the_clock_of_files_is_behind(traced):
    # Systems stamp files with the time of their last tick, which may lie in the second before.
    traced.file("a.txt", TEXT)
    traced.put({"event": "request", "id": "a", "op": "grep", "args": {"pattern": "x"}})
    summary = {"count": 0, "truncated": False, "metrics": {"time_ms": 0, "bytes_read": 0, "files_scanned": 1}}
    traced.put({"event": "response", "id": "a", "op": "grep", "summary": summary, "digest": "0" * 64})
    answered = 1_893_456_000  # 2030-01-01T00:00:00Z
    for behind, suspects in ((4_000_000, ["a.txt"]), (10_000_000, ["a.txt"]), (500_000_000, [])):
        moment = answered * 10**9 - behind
        os.utime(traced.root / "a.txt", ns=(moment, moment))
        os.utime(traced.root, (0, 0))
        assert traced.run("replay")[1]["differences"][0]["files"] == suspects


def test_a_list_that_differs_names_the_directory_that_changed(session):
    for path in [session.root, *session.root.rglob("*")]:
        os.utime(path, (1_000_000_000, 1_000_000_000))
    (session.root / "d" / "new.txt").write_text("")
    _, report = session.run("replay")
    assert (report["differences"][0]["op"], report["differences"][0]["files"]) == ("list_files", ["d/"])


def test_a_refusal_that_became_an_answer_is_a_difference(session):
    session.file("none", "now here\n")
    _, report = session.run("replay")
    last = report["differences"][-1]
    assert (last["op"], last["then"], last["files"]) == ("read_file", "not_found", ["none"])


def test_an_answer_over_the_limit_is_replayed_under_the_same_limit(traced):
    traced.file("a", "x" * 3000)
    traced._server.max_response_bytes = 2000
    assert traced.ask("read_file", path="a")["error"]["code"] == "response_too_large"
    assert traced.run("replay", "--max-response-bytes", "2000")[0] == 0
    assert traced.run("replay")[0] == 1


def test_what_is_not_run_again_is_told_by_its_kind(traced):
    traced.ask("describe", schemas=False)
    traced.ask("describe", schema=False)
    refused = {"event": "error", "id": "b", "error": {"message": "used up", "code": "budget_exhausted"}}
    for op in ("describe", "stat", "stat"):
        traced.put({"event": "request", "id": "b", "op": op, "args": {}}, refused | {"op": op})
    assert traced.text("replay") == (
        0,
        "5 answers: 0 the same, 0 different\n"
        "2 not run again: describe, which is about the server and not about the tree\n"
        "3 not run again: refusals that came from the session, not from the request\n",
    )
    _, report = traced.run("replay")
    assert (report["not_run"], report["not_run_describe"]) == (5, 2)


def test_a_request_without_answer_is_told(traced):
    traced.put({"event": "request", "id": "a", "op": "stat", "args": {"path": "."}})
    status, report = traced.run("replay")
    assert (status, report["unanswered"]) == (1, [{"line": 1, "id": "a"}])


def test_a_log_inside_the_tree_does_not_disturb_its_own_replay(root, pipe, capsys):
    from zeno.cli.parser import main

    (root / "a").write_text("request\n")
    log = root / "trace.jsonl"
    server = pipe("--log", str(log))
    server.ask("list_files")
    assert server.close()[0] == 0
    assert main(["trace", "replay", str(log), "--root", str(root)]) == 0
    assert "1 the same" in capsys.readouterr().out


def test_a_tree_that_is_not_there_cannot_be_replayed(session, tmp_path):
    session.root = tmp_path / "none"
    with pytest.raises(ValueError):
        session.run("replay")
    assert session.text("replay") == (2, "")
