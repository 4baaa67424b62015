"""coverage: lines delivered of lines there are, and what limits withheld."""

import json

import pytest

TEXT = "".join(f"line {number}\n" for number in range(1, 31))


@pytest.fixture
def session(traced):
    traced.file("a.txt", TEXT)
    traced.file("d/b.txt", TEXT)
    traced.file("d/c.txt", "other\n")
    (traced.root / "binary").write_bytes(b"\0")
    return traced


def test_lines_are_counted_once_however_often_they_were_delivered(session):
    for first, last in ((1, 10), (5, 12), (20, 20), (1, 3)):
        session.ask("read_file", path="a.txt", start_line=first, end_line=last)
    status, report = session.run("coverage")
    assert status == 0
    assert report["files_table"] == [{"path": "a.txt", "total": 30, "delivered": 13, "ranges": [[1, 12], [20, 20]]}]
    totals = {name: report[name] for name in ("files", "files_delivered", "lines", "lines_delivered", "binary_files")}
    assert totals == {"files": 3, "files_delivered": 1, "lines": 61, "lines_delivered": 13, "binary_files": 1}
    _, report = session.run("coverage", "--all")
    assert [file["path"] for file in report["files_table"]] == ["a.txt", "d/b.txt", "d/c.txt"]


def test_patterns_are_listed_with_what_they_found(session):
    session.ask("grep", pattern="line 7")
    session.ask("grep", pattern="line 7")
    session.ask("grep", pattern="nothing", paths=["d"])
    _, report = session.run("coverage")
    found = [(one["args"]["pattern"], one["hits"], len(one["lines"])) for one in report["patterns"]]
    assert found == [("line 7", 2, 2), ("nothing", 0, 1)]


@pytest.mark.parametrize(
    ("op", "args", "shown", "hidden", "what"),
    [
        ("read_file", {"path": "a.txt", "start_line": 5, "end_line": 40, "max_lines": 4}, 4, 22, "lines"),
        ("read_file", {"path": "a.txt", "end_line": 30, "max_chars": 13}, 2, 28, "lines"),
        ("peek", {"path": "a.txt", "head_lines": 4, "tail_lines": 4, "max_chars": 30}, 4, 4, "lines"),
        ("grep", {"pattern": "line", "max_hits": 7}, 7, 53, "hits"),
        ("grep", {"pattern": "line 30", "max_hits": 2}, 2, 0, "hits"),
        ("list_files", {"max": 1}, 1, 3, "files"),
        ("list_files", {"max_files": 2}, 2, 2, "files"),
    ],
)
def test_what_a_limit_withheld_is_counted(session, op, args, shown, hidden, what):
    session.ask(op, **args)
    status, report = session.run("coverage")
    (cut,) = report["truncations"]
    assert (cut["shown"], cut["hidden"], cut["what"], cut["at_least"]) == (shown, hidden, what, False)
    assert status == (1 if hidden else 0)


def test_a_page_that_was_gone_on_with_is_told(session):
    first = session.ask("list_files", max=1)["result"]
    session.ask("list_files", max=1, cursor=first["cursor"])
    _, report = session.run("coverage")
    assert [(one["lines"], one["continued"]) for one in report["truncations"]] == [([2], True), ([4], False)]


def test_what_the_tree_no_longer_tells_is_not_counted_but_said(session):
    session.ask("peek", path="a.txt", head_lines=2, tail_lines=2)
    session.ask("read_file", path="a.txt", start_line=2, end_line=4)
    session.file("a.txt", "changed\n" + TEXT)
    status, report = session.run("coverage")
    assert (status, report["unknown"], report["files_table"]) == (1, [2, 4], [])


def test_what_was_delivered_of_a_file_that_is_gone_is_not_known(session):
    session.ask("read_file", path="a.txt", start_line=2, end_line=4)
    (session.root / "a.txt").unlink()
    _, report = session.run("coverage")
    assert (report["unknown"], report["files_table"]) == ([2], [])


def test_text_has_a_table(session):
    session.ask("read_file", path="a.txt", start_line=1, end_line=15)
    session.ask("grep", pattern="other", max_hits=1)
    assert session.text("coverage")[1] == (
        "delivered of lines  file\n"
        "       15       30  a.txt  50%  1-15\n"
        "        1        1  d/c.txt  100%  1-1\n"
        "       16       61  in 2 of 3 files\n"
        "\npatterns\n  grep pattern=other max_hits=1: 1 hit in 3 files, cut\n"
        "\nwithheld by limits\n  line 4: grep pattern=other max_hits=1: 1 hits shown, 0 hidden\n"
    )


def test_how_many_files_a_search_was_about_does_not_depend_on_what_the_server_had_to_read(session):
    session.ask("grep", pattern="other")
    lines = session.log.read_bytes().splitlines()
    for scanned in (0, 1, 3):
        answer = json.loads(lines[1])
        answer["summary"]["metrics"]["files_scanned"] = scanned
        session.log.write_bytes(lines[0] + b"\n" + json.dumps(answer).encode() + b"\n")
        _, report = session.run("coverage")
        assert [pattern["files"] for pattern in report["patterns"]] == [3]
        assert "pattern=other: 1 hit in 3 files\n" in session.text("coverage")[1]
    session.file("d/c.txt", "another\n")
    _, report = session.run("coverage")
    assert [(pattern["hits"], pattern["files"]) for pattern in report["patterns"]] == [(1, None)]
    assert "pattern=other: 1 hit\n" in session.text("coverage")[1]


def test_an_answer_to_arguments_of_no_sense_delivers_nothing(session):
    metrics = {"time_ms": 0, "bytes_read": 0, "files_scanned": 0, "lines_returned": 3}
    summary = {"count": None, "truncated": True, "metrics": metrics}
    for name, args in (("a", {"path": ["a.txt"]}), ("b", {"start_line": "x"}), ("c", {"path": "a.txt", "cursor": []})):
        session.put({"event": "request", "id": name, "op": "read_file", "args": args})
        session.put({"event": "response", "id": name, "op": "read_file", "summary": summary, "digest": "0" * 64})
    status, report = session.run("coverage")
    assert (status, report["files_table"], report["unknown"]) == (1, [], [2, 4, 6])
    assert [one["hidden"] for one in report["truncations"]] == [None, None, None]
