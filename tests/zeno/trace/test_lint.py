"""lint: what it finds in traces that nobody should have written, and that it finds nothing in those of the server."""

import json

import pytest

from zeno.cli.parser import main
from zeno.trace.events import MAX_LINE_BYTES

METRICS = {"time_ms": 0, "bytes_read": 0, "files_scanned": 0}


def request(id="a", op="stat", **args):
    return {"event": "request", "id": id, "op": op, "args": args}


def response(id="a", op="stat", count=1, digest="0" * 64, **metrics):
    summary = {"count": count, "truncated": False, "metrics": METRICS | metrics}
    return {"event": "response", "id": id, "op": op, "summary": summary, "digest": digest}


def claim(*evidence, **fields):
    return {"event": "claim", "claim": "so it is", "evidence": list(evidence), **fields}


CITED = {"path": "f", "start_line": 1, "end_line": 2}


def test_a_trace_of_the_server_and_the_recorder_is_clean(traced):
    traced.file("a.py", "def f():\n    return 1\n")
    for op in ("read_file", "peek", "extract_symbols", "stat"):
        traced.ask(op, path="a.py")
    traced.ask("list_files")
    traced.ask("grep", pattern="f")
    traced.ask("read_file", path="../x")
    traced.ask("sing")
    traced.line({"id": "q"})
    traced.line([])
    with traced.record.subcall("look"):
        traced.record.claim("f is there", [("a.py", 1, 1)])
    assert traced.run("lint") == (0, {"events": 21, "errors": 0, "warnings": 0, "findings": []})


def test_searches_and_lists_that_only_count_are_clean(traced):
    traced.file("a.py", "def f():\n    return 1\n")
    for output in ("files", "count"):
        traced.ask("grep", pattern="f", output=output)
    traced.ask("list_files", tree=True)
    traced.ask("list_files", sort="mtime")
    assert traced.run("lint") == (0, {"events": 8, "errors": 0, "warnings": 0, "findings": []})


FLAWS = {
    "an answer to nothing": ([response()], ["without_request"]),
    "a request that is not answered": ([request()], ["unanswered"]),
    "an answer to another operation": ([request(), response(op="peek", count=None)], ["other_op"]),
    "a second answer": ([request(), response(), response()], ["without_request"]),
    "an id used twice": ([request(), response(), request(), response()], ["repeated_id"]),
    "an id used twice at once": ([request(), request(), response(), response()], ["repeated_id"]),
    "a tree that changed": (
        [request("a"), response("a"), request("b"), response("b", digest="1" * 64)],
        ["digest_changed"],
    ),
    "counts that disagree": ([request(op="grep"), response(op="grep", count=2, hits=3)], ["miscounted"]),
    "a count of what is not counted": ([request(op="peek"), response(op="peek", count=3)], ["miscounted"]),
    "a count of what a server tells of itself": (
        [request(op="describe"), response(op="describe", count=3)],
        ["miscounted"],
    ),
    "a clock set back": ([request() | {"ts": "2030-01-01T00:00:01Z"}, response()], ["time_backwards"]),
    "an error to nothing": (
        [{"event": "error", "id": "a", "op": "x", "error": {"message": "m", "code": "unknown_op"}}],
        ["without_request"],
    ),
    "a refused line": (
        [{"event": "error", "id": None, "op": None, "error": {"message": "m", "code": "invalid_json"}}],
        [],
    ),
    "a subcall twice": (
        [{"event": "subcall_start", "id": "s"}, {"event": "subcall_end", "id": "s"}] * 2,
        ["repeated_subcall"],
    ),
    "a subcall without end": ([{"event": "subcall_start", "id": "s"}], ["unended_subcall"]),
    "an end without start": ([{"event": "subcall_end", "id": "s"}], ["without_start"]),
    "a parent nobody knows": ([claim(CITED, parent="s")], ["unknown_parent"]),
    "a claim below a claim": ([claim(CITED, id="c"), claim(CITED, parent="c")], []),
    "a claim id twice": ([claim(CITED, id="c")] * 2, ["repeated_claim"]),
    "a claim on nothing": ([claim()], ["no_evidence"]),
    "a range that runs backwards": ([claim(CITED | {"end_line": 1, "start_line": 2})], ["backward_range"]),
    "a claim on an answer": (
        [request(), response(), claim(answers=[{"id": "a", "digest": "0" * 64}])],
        [],
    ),
    "a claim on another answer": (
        [request(), response(), claim(answers=[{"id": "a", "digest": "1" * 64}])],
        ["unknown_answer"],
    ),
    "a claim on an answer that comes later": (
        [claim(answers=[{"id": "a", "digest": "0" * 64}]), request(), response()],
        ["unknown_answer"],
    ),
    "a claim on an answer to nothing": (
        [response(), claim(answers=[{"id": "a", "digest": "0" * 64}])],
        ["without_request", "unknown_answer"],
    ),
    "a claim on no answers": ([claim(answers=[])], ["no_evidence"]),
    "a field too many": ([request() | {"more": 1}], ["not_an_event"]),
    "a kind nobody knows": ([{"event": "dream"}], ["not_an_event"]),
    "a digest that is none": ([request(), response(digest="x")], ["not_an_event", "unanswered"]),
}


@pytest.mark.parametrize(("events", "found"), FLAWS.values(), ids=FLAWS)
def test_each_flaw_is_named(traced, events, found):
    traced.put(*events)
    status, report = traced.run("lint")
    assert [finding["code"] for finding in report["findings"]] == found
    assert status == (1 if report["errors"] else 0)
    assert traced.run("lint", "--strict")[0] == (1 if found else 0)


def test_a_message_names_line_and_field(traced):
    traced.put(request(), response(), request("b") | {"args": 3})
    assert traced.text("lint") == (
        1,
        "line 3: error: not_an_event: args must be an object, not a number\n2 events, 1 error, 0 warnings\n",
    )


def test_an_answer_that_is_not_there_is_told_apart_from_one_with_another_digest(traced):
    cited = [{"id": "a", "digest": "1" * 64}, {"id": "b", "digest": "1" * 64}]
    traced.put(request(), response(), claim(answers=cited))
    assert [one["message"] for one in traced.run("lint")[1]["findings"]] == [
        "answers[0]: no answer to the request 'a' before this line has that digest",
        "answers[1]: no request 'b' stands before this line",
    ]


@pytest.mark.parametrize("command", ["lint", "replay", "verify", "coverage"])
def test_a_trace_cut_in_the_middle_of_a_line_is_told_and_the_rest_read(traced, command):
    traced.file("a", "one\n")
    traced.ask("read_file", path="a")
    traced.ask("read_file", path="a", end_line=1)
    whole = traced.log.read_bytes()
    for length in range(len(whole.splitlines()[0]) + 2, len(whole) - 1):
        if whole[length - 1 : length] == b"\n" or length % 7:
            continue
        traced.log.write_bytes(whole[:length])
        status, report = traced.run(command)
        assert status == 1
        assert "cut" in json.dumps(report)
        assert report["events"] == whole[:length].count(b"\n")


def test_a_last_line_without_its_end_counts_but_is_told(traced):
    traced.file("a", "one\n")
    traced.ask("read_file", path="a")
    traced.log.write_bytes(traced.log.read_bytes().rstrip(b"\n"))
    status, report = traced.run("lint")
    assert (status, report["events"], [one["code"] for one in report["findings"]]) == (1, 2, ["cut"])


def test_a_torn_line_in_the_middle_and_blank_lines_do_not_hide_the_rest(traced):
    traced.put(request())
    with traced.log.open("ab") as stream:
        stream.write(b'{"ts":"2030-01-\n\n  \n\xff\n')
    traced.put(response())
    _, report = traced.run("lint")
    assert [(one["line"], one["code"]) for one in report["findings"]] == [(2, "not_json"), (5, "not_json")]
    assert report["events"] == 2


def test_of_a_file_that_is_no_trace_one_line_is_told_and_what_writes_a_trace(traced, tmp_path, capsys):
    table = tmp_path / "scores.csv"
    table.write_text("item,score\n" * 40)
    assert main(["trace", "verify", str(table), str(traced.root)]) in (0, 1)
    told = capsys.readouterr().out
    assert told.count("not_json") == 1
    assert "none of 40 lines is an event: this is no trace, which zeno serve --log FILE writes" in told


def test_a_line_of_endless_length_is_told_without_being_held(traced):
    with traced.log.open("ab") as stream:
        stream.write(b"x" * (2 * MAX_LINE_BYTES) + b"\n")
    traced.put(request(), response())
    _, report = traced.run("lint")
    assert [(one["line"], one["code"]) for one in report["findings"]] == [(1, "too_long")]
    assert report["events"] == 2


def test_what_a_trace_holds_cannot_steer_a_terminal(traced):
    traced.put(request("\x1b[2J\u202e"))
    _, text = traced.text("lint")
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_an_empty_trace_is_fine_and_one_that_is_not_there_cannot_be_read(traced, tmp_path, capsys):
    assert traced.run("lint")[0] == 0
    assert main(["trace", "lint", str(tmp_path / "none")]) == 2
    assert main(["trace", "lint", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 2
