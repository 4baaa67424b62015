"""verify: verdicts on what claims cite, and whether the agent had seen it."""

import hashlib
import json
import os

import pytest

from zeno.trace.digest import digest_of

TEXT = "".join(f"line {number}\n" for number in range(1, 31))


def sha(*lines):
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def cite(path="a.txt", first=3, last=5, **more):
    return {"path": path, "start_line": first, "end_line": last, **more}


@pytest.fixture
def session(traced):
    traced.file("a.txt", TEXT)
    traced.file("b.txt", TEXT)
    return traced


def judged(session, *evidence):
    session.put({"event": "claim", "claim": "so it is", "evidence": list(evidence)})
    _, report = session.run("verify")
    return [(one["verdict"], one["provenance"]) for one in report["claims"][-1]["evidence"]]


def test_a_claim_on_lines_that_were_read_holds(session):
    session.ask("read_file", path="a.txt", start_line=1, end_line=10)
    session.record.claim("it counts", [("a.txt", 3, 5)])
    status, report = session.run("verify")
    assert (status, report["hold"], report["claims"][0]["holds"]) == (0, 1, True)


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("read_file", {"start_line": 2, "end_line": 6}),
        ("peek", {"head_lines": 5, "tail_lines": 0}),
        ("grep", {"pattern": "line 4", "context": 1}),
        ("grep", {"pattern": "line 3\nline 4\nline 5", "multiline": True}),
        ("grep", {"pattern": "line 4\n", "multiline": True, "context": 1, "max_line_chars": 6}),
    ],
)
def test_every_answer_with_text_delivers_its_lines(session, op, args):
    session.ask(op, **({"path": "a.txt"} if op != "grep" else {}), **args)
    good = cite(sha256=sha("line 3", "line 4", "line 5"))
    assert judged(session, good) == [("ok", "delivered")]


def test_lines_of_a_clipped_multiline_hit_do_not_count_as_delivered(session):
    session.ask("grep", pattern="line 3\nline 4\nline 5", multiline=True, max_line_chars=5)
    assert judged(session, cite(sha256=sha("line 3", "line 4", "line 5"))) == [("ok", "unknown")]


def test_a_multiline_search_that_found_nothing_is_evidence(session):
    session.ask("grep", pattern="line 3\nline 5", multiline=True)
    assert resting(session, "r1") == ("ok", True)


def test_lines_put_together_from_several_answers_are_delivered(session):
    session.ask("read_file", path="a.txt", start_line=1, end_line=4)
    session.ask("grep", pattern="line 5", paths=["a.txt"])
    assert judged(session, cite()) == [("ok", "delivered")]


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("list_files", {}),
        ("extract_symbols", {"path": "a.txt"}),
        ("stat", {"path": "a.txt"}),
        ("read_file", {"path": "b.txt", "end_line": 30}),
        ("read_file", {"path": "a.txt", "start_line": 4, "end_line": 30}),
    ],
)
def test_what_was_never_delivered_is_said_to_be_so(session, op, args):
    session.ask(op, **args)
    good = cite(sha256=sha("line 3", "line 4", "line 5"))
    assert judged(session, good) == [("ok", "not_delivered")]


def test_a_delivery_after_the_claim_is_too_late(session):
    session.record.claim("too quick", [("a.txt", 3, 5)])
    session.ask("read_file", path="a.txt", end_line=30)
    status, report = session.run("verify")
    assert (status, report["claims"][0]["evidence"][0]["provenance"]) == (1, "not_delivered")


def test_a_link_and_its_file_are_one(session):
    (session.root / "link").symlink_to("a.txt")
    session.ask("read_file", path="link", end_line=30)
    assert judged(session, cite()) == [("ok", "delivered")]


def test_each_verdict_is_that_of_the_operation(session):
    session.ask("read_file", path="a.txt", start_line=1, end_line=30)
    session.file("a.txt", "new\n" + TEXT.replace("line 20\n", "line twenty\n"))
    found = judged(
        session,
        cite(first=3, last=5, sha256=sha("line 3", "line 4", "line 5")),
        cite(first=20, last=20, sha256=sha("line 20")),
        cite(first=90, last=91, sha256=sha("x", "y")),
        cite(path="gone.txt", sha256=sha("x", "y", "z")),
        cite(path="../a.txt"),
        cite(first=5, last=3),
    )
    assert [verdict for verdict, _ in found] == [
        "moved",
        "changed",
        "out_of_range",
        "missing",
        "outside_root",
        "invalid",
    ]
    _, report = session.run("verify")
    assert report["claims"][0]["evidence"][0]["moved_to"] == [4, 6]


def test_without_a_digest_only_an_answer_that_still_replays_vouches_for_the_lines(session):
    session.ask("read_file", path="a.txt", end_line=9)
    assert judged(session, cite()) == [("ok", "delivered")]
    session.file("a.txt", TEXT.replace("line 9", "line nine"))
    assert judged(session, cite()) == [("unsealed", "unknown")]


def test_lines_that_changed_after_they_were_read_were_not_delivered_as_they_are_now(session):
    session.ask("read_file", path="a.txt", start_line=1, end_line=9)
    session.file("a.txt", TEXT.replace("line 4\n", "line four\n"))
    assert judged(session, cite(sha256=sha("line 3", "line four", "line 5"))) == [("ok", "unknown")]


def test_a_forged_number_of_lines_delivers_nothing(session):
    session.ask("read_file", path="a.txt", start_line=1, end_line=1)
    lines = [json.loads(line) for line in session.log.read_text().splitlines()]
    lines[-1]["digest"] = "0" * 64
    lines[-1]["summary"]["metrics"]["lines_returned"] = 30
    session.log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert judged(session, cite(sha256=sha("line 3", "line 4", "line 5"))) == [("ok", "unknown")]
    _, report = session.run("coverage")
    assert (report["lines_delivered"], len(report["unknown"])) == (0, 1)


def test_answers_that_the_tree_no_longer_gives_leave_delivery_unknown(session):
    session.ask("grep", pattern="line 4", context=1)
    session.ask("peek", path="b.txt")
    session.file("a.txt", TEXT + "line 400\n")
    assert judged(session, cite(sha256=sha("line 3", "line 4", "line 5"))) == [("ok", "unknown")]


def test_an_answer_that_changed_casts_no_doubt_on_files_it_could_not_reach(session):
    session.ask("grep", pattern="line 4", paths=["b.*"])
    session.ask("peek", path="b.txt")
    session.file("b.txt", TEXT.replace("line 4\n", "line 44\n"))
    assert judged(session, cite()) == [("unsealed", "not_delivered")]
    assert judged(session, cite(path="b.txt")) == [("unsealed", "unknown")]


def test_a_clipped_line_is_not_taken_for_delivered(session):
    session.ask("grep", pattern="line 4", paths=["a.txt"], max_line_chars=3)
    session.ask("read_file", path="a.txt", start_line=4, end_line=4, max_line_chars=3)
    assert judged(session, cite(first=4, last=4)) == [("unsealed", "unknown")]


def test_a_claim_on_nothing_does_not_hold(session):
    session.record.claim("trust me")
    status, text = session.text("verify")
    assert status == 1
    assert "it cites nothing" in text


def test_text_says_what_became_of_each_citation(session):
    session.ask("read_file", path="a.txt", end_line=9)
    session.record.claim("seen", [("a.txt", 3, 5)])
    session.record.claim("guessed", [("b.txt", 1, 1)])
    assert session.text("verify") == (
        1,
        "checks out  line 3: seen\n            ok  a.txt:3-5\n"
        "FAILS       line 4: guessed\n            ok, never delivered before  b.txt:1-1\n"
        "2 claims: 1 checks out, 1 does not\n",
    )


# Whole answers as evidence


def resting(session, id, digest=None):
    """What becomes of a claim that cites an answer, and how the claim as a whole fares."""
    if digest is None:
        session.record.claim("so it is", answers=[id])
    else:
        session.put({"event": "claim", "claim": "so", "evidence": [], "answers": [{"id": id, "digest": digest}]})
    status, report = session.run("verify")
    claim = report["claims"][-1]
    assert status == (0 if report["hold"] == len(report["claims"]) else 1)
    return claim["answers"][0]["verdict"], claim["holds"]


def test_a_search_that_found_nothing_is_evidence(session):
    assert session.ask("grep", pattern="rain")["result"]["hits"] == []
    assert resting(session, "r1") == ("ok", True)
    _, report = session.run("verify")
    told = report["claims"][0]["answers"][0]
    assert (told["id"], told["line"], told["op"], told["args"]) == ("r1", 2, "grep", {"pattern": "rain"})
    assert told["found"] == ["hits", 0]
    assert told["digest"] == session.events()[1]["digest"]
    assert session.text("verify") == (
        0,
        "checks out  line 3: so it is\n            ok  the answer r1: grep pattern=rain: 0 hits\n"
        "            2 files searched; no rule left anything out\n1 claim: 1 checks out, 0 do not\n",
    )


def test_a_ranked_search_is_evidence_of_the_lines_it_showed_and_not_of_absence(session):
    shown = session.ask("search", query="rain")["result"]
    assert (shown["results"], shown["complete"]) == ([], True)
    assert resting(session, "r1") == ("partial", False)
    session.file("weather.txt", "a sunny day\n")
    (found,) = session.ask("search", query="sunny")["result"]["results"]
    session.record.claim("it was sunny", [(found["path"], found["start_line"], found["end_line"])])
    assert session.run("verify")[1]["claims"][-1]["holds"]


def test_what_rules_left_out_of_a_cited_search_is_told(session):
    session.file(".env", "rain\n")
    session.file(".cache/x", "rain\n")
    session.file(".ignore", "out\n")
    session.file("out", "rain\n")
    session.file("c.md", "rain\n")
    session.ask("grep", pattern="rain", gitignore=True, exclude_globs=["*.md"])
    assert resting(session, "r1") == ("ok", True)
    told = session.run("verify")[1]["claims"][0]["answers"][0]
    left_out = {"hidden": 3, "ignored": 1, "excluded": 1, "directories": 1}
    assert told["covered"] == {"files": 2, **left_out}
    sentence = "2 files searched; left out: 3 hidden, 1 ignored, 1 excluded (1 directory)"
    assert f"       {sentence}\n" in session.text("verify")[1]


def test_a_search_of_no_file_proves_nothing(session):
    session.ask("grep", pattern="line", paths=["nowhere"])
    session.ask("list_files", glob="*.nothing")
    for answer in ("r1", "r2"):
        assert resting(session, answer) == ("partial", False)
    assert "no file was selected, so nothing was searched" in session.text("verify")[1]


@pytest.mark.parametrize(
    ("op", "args", "verdict"),
    [
        ("grep", {"pattern": "rain"}, "ok"),
        ("grep", {"pattern": "rain", "paths": ["nowhere"]}, "partial"),
        ("grep", {"pattern": "line", "max_hits": 1}, "partial"),
        ("list_files", {"max": 1}, "partial"),
        ("list_files", {}, "ok"),
    ],
)
def test_an_answer_of_a_server_that_did_not_tell_what_it_covers_is_known_again(session, op, args, verdict):
    result = session.ask(op, **args)["result"]
    for name in ("files_selected", "left_out"):
        del result[name]
    result["complete"] = not result["truncated"]
    events = session.events()
    events[1]["digest"] = digest_of(result)
    session.log.write_text("".join(json.dumps(event) + "\n" for event in events))
    status, report = session.run("replay")
    assert (status, report["same"]) == (0, 1)
    assert resting(session, "r1") == (verdict, verdict == "ok")


def test_what_is_found_since_or_could_be_searched_since_undoes_it(session):
    session.ask("grep", pattern="rain")
    session.file("b.txt", TEXT.replace("line 7", "fine 7"))
    assert resting(session, "r1") == ("ok", True)
    session.file("c.txt", "no hit, but a file that nobody had searched\n")
    assert resting(session, "r1") == ("changed", False)
    (session.root / "c.txt").unlink()
    session.file("b.txt", TEXT + "rain\n")
    assert resting(session, "r1") == ("changed", False)


@pytest.mark.parametrize(
    ("op", "args", "why"),
    [
        ("grep", {"pattern": "line", "max_hits": 3}, "a limit cut it"),
        ("grep", {"pattern": "rain", "max_files": 1}, "a limit cut it"),
        ("grep", {"pattern": "rain", "max_bytes": 5}, "it left out 2 too_large"),
        ("list_files", {"max": 1}, "a limit cut it"),
        ("read_file", {"path": "a.txt", "end_line": 30, "max_lines": 2}, "a limit cut it"),
        ("read_file", {"path": "a.txt", "end_line": 30, "max_line_chars": 2}, "lines of it were clipped"),
        ("peek", {"path": "a.txt", "max_line_chars": 2}, "lines of it were clipped"),
    ],
)
def test_an_answer_that_was_not_all_there_is_proves_nothing(session, op, args, why):
    session.ask(op, **args)
    assert resting(session, "r1") == ("partial", False)
    assert f"            partial  the answer r1: {op} " in session.text("verify")[1]
    assert f"\n            {why}\n" in session.text("verify")[1]


def test_a_later_page_is_a_part_of_an_answer(session):
    cursor = session.ask("list_files", max=1)["result"]["cursor"]
    assert session.ask("list_files", max=1, cursor=cursor)["result"]["truncated"] is False
    assert resting(session, "r2") == ("partial", False)
    assert "it is a page after others" in session.text("verify")[1]


def test_clipped_hits_are_hits_all_the_same(session):
    session.ask("grep", pattern="line 30", max_line_chars=3)
    assert resting(session, "r1") == ("ok", True)


@pytest.mark.parametrize(("id", "digest"), [("r1", "0" * 64), ("r9", None)])
def test_an_answer_that_was_not_given_is_no_evidence(session, id, digest):
    session.ask("grep", pattern="rain")
    assert resting(session, id, digest or session.events()[1]["digest"]) == ("not_given", False)


def test_an_answer_after_the_claim_is_too_late(session):
    session.ask("grep", pattern="rain")
    lines = session.log.read_bytes()
    session.record.claim("so it is", answers=["r1"])
    session.log.write_bytes(session.log.read_bytes().removeprefix(lines) + lines)
    _, report = session.run("verify")
    assert report["claims"][0]["answers"][0]["verdict"] == "not_given"
    assert [one["code"] for one in session.run("lint")[1]["findings"]] == ["unknown_answer"]


def test_what_the_server_tells_of_itself_is_not_run_again(session):
    session.ask("describe", schemas=False)
    assert resting(session, "r1") == ("not_run", False)


def test_a_stat_answer_may_differ_in_times_only_and_says_so(session):
    session.ask("stat", path="a.txt")
    assert resting(session, "r1") == ("ok", True)
    os.utime(session.root / "a.txt", (1, 1))
    assert resting(session, "r1") == ("changed", False)
    assert "perhaps only in times" in session.text("verify")[1]


def test_an_answer_that_is_refused_now_has_changed(session):
    session.ask("read_file", path="a.txt", end_line=30)
    (session.root / "a.txt").unlink()
    assert resting(session, "r1") == ("changed", False)
    assert "asked again, it is refused: not_found" in session.text("verify")[1]


def test_lines_and_answers_are_both_asked_for(session):
    session.ask("read_file", path="a.txt", end_line=9)
    session.ask("grep", pattern="rain")
    session.record.claim("both", [("a.txt", 3, 5)], answers=["r2"])
    session.record.claim("one unseen", [("b.txt", 3, 5)], answers=["r2"])
    _, report = session.run("verify")
    assert [claim["holds"] for claim in report["claims"]] == [True, False]


def test_a_trace_without_claims_fails_where_claims_are_required(session):
    session.ask("read_file", path="a.txt")
    assert session.run("verify")[0] == 0
    assert session.run("verify", "--require-claims")[0] == 1
    session.record.claim("it counts", [("a.txt", 1, 1)])
    assert session.run("verify", "--require-claims")[0] == 0


def test_a_definition_that_is_cited_is_found_again_where_it_moved(session):
    session.file("a.py", "def f():\n    return 1\n")
    session.ask("read_file", path="a.py", symbol="f")
    session.record.claim("f is one", [{"path": "a.py", "symbol": "f"}])
    status, report = session.run("verify")
    (cited,) = report["claims"][0]["evidence"]
    assert (status, cited["symbol"], cited["start_line"], cited["end_line"]) == (0, "f", 1, 2)

    def judge():
        (cited,) = session.run("verify")[1]["claims"][0]["evidence"]
        return cited["verdict"], cited["moved_to"]

    session.file("a.py", "\n\ndef f():\n    return 1\n")
    assert judge() == ("moved", [3, 4])
    session.file("a.py", "")
    session.file("b.py", "def f():\n    return 1\n")
    assert judge() == ("moved", [1, 2])
    assert "it stands in 'b.py' now" in session.text("verify")[1]
    session.file("b.py", "def f():\n    return 2\n")
    assert judge() == ("missing", None)


def test_an_answer_about_code_that_skipped_files_proves_nothing(session):
    (session.root / "wide.py").write_bytes(b"\xff\xfex\0")
    answer = session.ask("find_references", name="nowhere")
    assert answer["result"]["complete"] is False
    session.record.claim("nobody uses it", answers=[answer["id"]])
    (cited,) = session.run("verify")[1]["claims"][0]["answers"]
    assert cited["verdict"] == "partial"
