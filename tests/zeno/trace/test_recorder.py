"""Recording: an agent's events stand beside the server's, whole, valid and in the right place."""

import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys

import contract_spec as spec
import pytest

from tests.support.patience import PATIENCE, until
from zeno.cli.parser import main
from zeno.results import seals
from zeno.results.seals import NotRecorded
from zeno.trace import log, recorder
from zeno.trace.recorder import Recorder

ANSWERED = (
    '{"ts":"2030-01-01T00:00:00Z","event":"response","id":"r1","op":"stat","summary":{"count":1,"truncated":false,'
    f'"metrics":{{"time_ms":0,"bytes_read":0,"files_scanned":0}}}},"digest":"{"0" * 64}"}}'
)
ZENO = [sys.executable, "-m", "zeno"]


@pytest.fixture
def run(capfd, monkeypatch):
    """Runs `zeno trace ...` here; whatever it starts is a process of its own. What was printed, and what complained."""

    def run(*command, check=0, lines=""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
        capfd.readouterr()
        assert main(["trace", *command]) == check
        return capfd.readouterr()

    return run


def events(log):
    return [json.loads(line) for line in log.read_bytes().splitlines()]


def test_a_claim_is_sealed_with_what_its_lines_say(traced):
    traced.file("a.txt", "one\r\ntwo\nthree")
    written = traced.record.claim(
        "two follows one", [("a.txt", 1, 2), {"path": "x", "start_line": 1, "end_line": 1, "sha256": "0" * 64}]
    )
    assert written["evidence"][0]["sha256"] == hashlib.sha256(b"one\ntwo").hexdigest()
    assert written["evidence"][1]["path"] == "x"
    assert traced.events() == [written]
    assert spec.violations("zeno/trace_event.json", written) == []


@pytest.mark.parametrize(
    "evidence",
    [("a.txt", 2, 1), ("a.txt", 1, 9), ("none", 1, 1), ("../a", 1, 1), ("a.txt", 0, 1), ("", 1, 1), {"path": "a.txt"}],
)
def test_evidence_that_is_not_there_is_refused_and_nothing_written(traced, evidence):
    traced.file("a.txt", "one\n")
    with pytest.raises(NotRecorded):
        traced.record.claim("no", [evidence])
    assert traced.events() == []


def test_a_claim_on_an_answer_takes_its_digest_from_the_trace(traced):
    traced.file("a.txt", "one\n")
    traced.ask("grep", pattern="two")
    traced.line({"id": "r1", "op": "grep", "args": {"pattern": "one"}})
    first, last = (one["digest"] for one in traced.events() if one["event"] == "response")
    given = {"id": "r1", "digest": first}
    written = traced.record.claim("no two", answers=["r1", given])
    assert written["answers"] == [{"id": "r1", "digest": last}, given]
    assert spec.violations("zeno/trace_event.json", written) == []
    assert "answers" not in traced.record.claim("nothing")


@pytest.mark.parametrize(
    "answer", ["r9", "r1", "r3", "", "\udcff", {"id": "r2"}, {"id": "r2", "digest": "x"}, {"id": 2, "digest": "0" * 64}]
)
def test_an_answer_that_was_not_given_is_refused_and_nothing_written(traced, answer):
    traced.ask("read_file", path="none")
    traced.ask("list_files")
    traced.put({"event": "request", "id": "r3", "op": "list_files", "args": {}})
    before = traced.events()
    with pytest.raises(NotRecorded):
        traced.record.claim("no", answers=[answer])
    assert traced.events() == before


@pytest.mark.parametrize(
    "event",
    [
        {"event": "request", "id": "a", "op": "stat", "args": {}},
        {"event": "claim", "claim": "", "evidence": []},
        {"event": "claim", "claim": "x", "evidence": [], "mood": "good"},
        {"event": "subcall_start"},
        {"event": "claim", "claim": "x", "evidence": [], "ts": "now"},
        {},
    ],
)
def test_what_the_schema_refuses_is_not_written(traced, event):
    with pytest.raises(NotRecorded):
        traced.record.append(event)
    assert traced.events() == []


def test_subcalls_nest_and_get_the_first_free_names(traced):
    traced.put({"event": "subcall_start", "id": "sub-2"})
    with traced.record.subcall("outer") as outer, traced.record.subcall("inner") as inner:
        traced.record.claim("deep")
        inner.outcome = "done"
    assert (outer.id, inner.id) == ("sub-1", "sub-3")
    told = [(one["event"], one.get("id"), one.get("parent"), one.get("outcome")) for one in traced.events()[1:]]
    assert told == [
        ("subcall_start", "sub-1", None, None),
        ("subcall_start", "sub-3", "sub-1", None),
        ("claim", None, "sub-3", None),
        ("subcall_end", "sub-3", None, "done"),
        ("subcall_end", "sub-1", None, None),
    ]


def test_a_subcall_that_fails_is_ended_all_the_same(traced):
    with pytest.raises(ZeroDivisionError), traced.record.subcall("doomed"):
        raise ZeroDivisionError
    assert traced.events()[-1]["outcome"] == "failed: ZeroDivisionError"


def test_the_line_after_a_torn_one_is_not_glued_to_it(tmp_path, root, pipe):
    log = tmp_path / "trace.jsonl"
    log.write_bytes(b'{"ts":"2030-01-01T0')
    with Recorder(str(log)) as record:
        record.claim("after")
    assert json.loads(log.read_bytes().splitlines()[1])["claim"] == "after"
    log.write_bytes(b'{"ts":"2030-01-01T0')
    server = pipe("--log", str(log))
    server.ask("list_files")
    assert json.loads(log.read_bytes().splitlines()[1])["event"] == "session"


def test_lines_of_many_writers_are_never_torn(root, pipe, tmp_path):
    log = tmp_path / "trace.jsonl"
    (root / "a").write_text("x\n" * 50)
    servers = [pipe("--log", str(log)) for _ in range(2)]
    script = (
        "import sys; from zeno.trace.recorder import Recorder\n"
        "with Recorder(sys.argv[1], sys.argv[2]) as record:\n"
        "    for number in range(40):\n"
        "        with record.subcall('t' * 3000): record.claim('c' * (number * 97 % 9000 + 1), [('a', 1, 50)])\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, str(log), str(root)]) for _ in range(2)]
    asked = 0
    # As long as the others write, but not without end: they look through the whole log for each name.
    while asked < 60 or (asked < 2000 and any(writer.poll() is None for writer in writers)):
        for server in servers:
            server.ask("grep", pattern="y" * 5000)
            asked += 1
    assert [writer.wait() for writer in writers] == [0, 0]
    written = events(log)
    assert [spec.violations("zeno/trace_event.json", event) for event in written] == [[]] * len(written)
    names = [event["id"] for event in written if event["event"] == "subcall_start"]
    assert len(names) == len(set(names)) == 80
    assert sum(event["event"] == "request" for event in written) == asked


def test_words_that_are_not_utf8_never_make_a_line_that_no_reader_takes(root, tmp_path, run):
    log = tmp_path / "trace.jsonl"
    for command in (["claim", "\udcff"], ["subcall", "start", "--task", "\udcff"], ["subcall", "end", "\udcff"]):
        assert "half a surrogate pair" in run(*command, "--log", str(log), check=2).err
    assert log.read_bytes() == b""
    with Recorder(str(log), str(root)) as record, pytest.raises(NotRecorded, match="surrogate"):
        record.claim("x", [("\udcff.txt", 1, 1)])


def test_a_file_whose_name_is_not_utf8_is_cited_from_the_command_line_by_its_printed_name(root, tmp_path, run):
    with open(os.fsencode(root) + b"/\xff.txt", "w") as file:
        file.write("odd\n")
    log = tmp_path / "trace.jsonl"
    run("claim", "odd", "\udcff.txt:1", "--log", str(log), "--root", str(root))
    assert events(log)[0]["evidence"][0]["path"] == "\0ff.txt"


def test_a_line_number_that_no_file_has_is_told_in_one_line(root, tmp_path, run):
    complaint = run("claim", "x", "a:" + "9" * 5000, "--log", str(tmp_path / "t"), "--root", str(root), check=2).err
    assert "is not PATH:FIRST-LAST" in complaint


def test_a_recorded_command_finds_its_trace_and_root_and_ends_as_it_does(root, tmp_path, run):
    (root / "a.txt").write_text("one\ntwo\n")
    log = tmp_path / "trace.jsonl"
    asked = tmp_path / "asked"
    asked.write_text('{"id":"1","op":"read_file","args":{"path":"a.txt"}}\n')
    zeno = " ".join(ZENO)
    inner = f'--root "$ZENO_ROOT" --log "$ZENO_TRACE" --task inner -- {zeno} trace claim deep a.txt:1-2'
    script = (
        f'{zeno} serve --root "$ZENO_ROOT" --log "$ZENO_TRACE" < {asked}; '
        f'{zeno} trace claim "it says one" a.txt:1; {zeno} trace record {inner}; exit 3'
    )
    flags = ["--root", str(root), "--log", str(log), "--task", "outer"]
    run("record", *flags, "--", "sh", "-c", f"cd {tmp_path}; {script}", check=3)
    told = [(one["event"], one.get("id"), one.get("parent")) for one in events(log)]
    assert told == [
        ("subcall_start", "sub-1", None),
        ("session", None, None),
        ("request", "1", None),
        ("response", "1", None),
        ("claim", None, "sub-1"),
        ("subcall_start", "sub-2", "sub-1"),
        ("claim", None, "sub-2"),
        ("subcall_end", "sub-2", None),
        ("subcall_end", "sub-1", None),
    ]
    assert events(log)[-1]["outcome"] == "exit status 3"
    run("lint", str(log))


def test_a_recorded_command_keeps_standard_output_and_tells_its_counts_apart(root, tmp_path, run):
    log = tmp_path / "trace.jsonl"
    done = run("record", "--root", str(root), "--log", str(log), "--format", "json", "--", "echo", "--root", "hello")
    assert done.out == "--root hello\n"
    assert json.loads(done.err)["events"]["claim"] == 0


def test_a_command_that_cannot_be_run_is_a_failure_to_run(root, tmp_path, run):
    log = tmp_path / "trace.jsonl"
    run("record", "--root", str(root), "--log", str(log), "--task", "t", "--", "/no/such/command", check=2)
    assert [one["event"] for one in events(log)] == ["subcall_start", "subcall_end"]
    run("record", "--root", str(root), "--log", str(log), check=2)
    run("record", "--root", str(root / "none"), "--log", str(log), "--", "true", check=2)


def test_a_recording_told_to_stop_lets_its_command_end_and_tells_it(root, tmp_path):
    log, begun = tmp_path / "trace.jsonl", tmp_path / "begun"
    flags = ["record", "--root", str(root), "--log", str(log), "--task", "t", "--"]
    command = ["sh", "-c", f"touch '{begun}'; exec sleep 600"]
    process = subprocess.Popen([*ZENO, "trace", *flags, *command], stderr=subprocess.DEVNULL)
    until(begun.exists, "the command has begun")
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 128 + signal.SIGTERM
    assert events(log)[-1]["outcome"] == "exit status 143"


@pytest.mark.parametrize("moment", ["subprocess.Popen", "fcntl.flock"])
def test_a_recording_told_to_stop_before_its_command_has_begun_tells_that_too(root, tmp_path, moment):
    # Right before the command is started, and before the log is told of it.
    program = (
        "import os, signal, sys\n"
        "from zeno.cli.parser import run\n"
        "asked = []\n"
        "def hook(event, _):\n"
        f"    if event == {moment!r} and not asked:\n"
        "        asked.append(event)\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "sys.addaudithook(hook)\n"
        "sys.exit(run())\n"
    )
    log = tmp_path / "trace.jsonl"
    flags = ["trace", "record", "--root", str(root), "--log", str(log), "--task", "t", "--", "sleep", "600"]
    done = subprocess.run([sys.executable, "-c", program, *flags], capture_output=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, b"")
    assert [one["event"] for one in events(log)] == ["subcall_start", "subcall_end"]
    assert events(log)[-1]["outcome"] == "exit status 143"


def test_events_are_added_one_at_a_time_from_the_command_line(root, tmp_path, run, monkeypatch):
    (root / "a:b.txt").write_text("one\ntwo\n")
    log = tmp_path / "trace.jsonl"
    where = ["--log", str(log), "--root", str(root)]
    name = run("subcall", "start", "--task", "look", *where).out.strip()
    run("claim", "so", "a:b.txt:1-2", "--id", "c1", "--parent", name, *where)
    run("subcall", "end", name, "--outcome", "seen", *where)
    lines = '{"event":"claim","claim":"x","evidence":[],"parent":"c1"}\n\n{"event":"dream"}\n[]\nnot json\n'
    done = run("append", *where, "--format", "json", lines=lines, check=1)
    assert json.loads(done.out)["written"] == 1
    assert done.err.count("not written") == 3
    assert [one["event"] for one in events(log)] == ["subcall_start", "claim", "subcall_end", "claim"]
    run("lint", str(log))
    run("claim", "so", "a.txt", *where, check=2)
    assert "no answer to 'r1'" in run("claim", "so", "--answer", "r1", *where, check=2).err
    with Recorder(str(log)) as record:
        record._log.append(b'{"ts":"2030-01-01T00:00:00Z","event":"request","id":"r1","op":"stat","args":{}}')
        record._log.append(ANSWERED.encode())
    claimed = json.loads(run("claim", "so", "--answer", "r1", "--format", "json", *where).out)
    assert claimed["answers"] == [{"id": "r1", "digest": "0" * 64}]
    run("claim", "so", "a:b.txt:1-9", *where, check=2)
    monkeypatch.delenv("ZENO_TRACE", raising=False)
    assert "give --log" in run("claim", "so", check=2).err


def test_a_claim_reads_and_holds_only_so_much(traced, monkeypatch):
    """A server answers nobody while it looks up the lines of a claim."""
    traced.file("a.txt", "line\n" * 100)
    monkeypatch.setattr(seals, "MAX_CITED_BYTES", 60)
    monkeypatch.setattr(seals, "MAX_SCANNED_BYTES", 1700)
    monkeypatch.setattr(recorder, "MAX_ANSWERS", 2)
    two_lines = ("a.txt", 1, 2)
    assert len(traced.record.claim("yes", [two_lines] * 3)["evidence"]) == 3
    before = traced.events()
    for cited, answers, why in [
        ([("a.txt", 1, 90)], [], "a claim may cite 60 bytes of text; cite fewer lines"),
        ([two_lines] * 4, [], "at most 1700 are looked at; cite its lines with the sha256 that read_file gives"),
        ([], ["r1"] * 3, "a claim may cite 2 answers, and not 3"),
    ]:
        with pytest.raises(NotRecorded, match=re.escape(why)):
            traced.record.claim("no", cited, answers=answers)
    sealed = {"path": "a.txt", "start_line": 1, "end_line": 90, "sha256": "0" * 64}
    assert traced.events() == before
    assert traced.record.claim("yes", [sealed] * 9)["evidence"] == [sealed] * 9


@pytest.mark.parametrize("id", ["r1", 'with "quotes"', "back\\slash", "r\u00e9", "\u2028"])
def test_an_answer_far_back_in_the_trace_is_found_whatever_its_id(traced, monkeypatch, id):
    monkeypatch.setattr(log, "_BLOCK", 7)
    traced.line({"id": id, "op": "list_files", "args": {}})
    digest = next(one["digest"] for one in traced.events() if one["event"] == "response")
    for _ in range(3):
        traced.line({"id": "other", "op": "list_files", "args": {}})
    assert traced.record.claim("yes", answers=[id])["answers"] == [{"id": id, "digest": digest}]
