"""The command line, run as a user runs it."""

import json
import os
import pty
import re
import signal
import subprocess
import sys

import pytest

from tests.support.patience import PATIENCE, until
from zeno.cli.parser import main
from zeno.interfaces.colour import END, NUMBER
from zeno.session.dispatch import OPS


def zeno(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "zeno", *arguments], capture_output=True, text=True, **options)


def test_version_tells_package_and_protocol():
    assert zeno("--version").stdout.startswith("zeno 0.1.0 (protocol 1.0)")


@pytest.mark.parametrize("command", [[], ["serve"], ["call"], ["schema"]])
def test_help_is_everywhere(command):
    done = zeno(*command, "--help")
    assert done.returncode == 0
    assert "Usage: zeno" in done.stdout


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("serve", "zeno: name the directory to work on, such as . for this one\n"),
        ("trace replay t", "zeno: name the directory to work on, such as . for this one\n"),
        ("call grep x", "zeno: name the directory before the operation, such as: zeno call . list_files\n"),
        ("--verison", "zeno: error: unrecognized arguments: --verison; did you mean --version?"),
        ("sarve", "zeno: error: no command is called sarve; did you mean serve?"),
        (". grep x", "zeno: error: no command is called .; did you mean zeno call . list_files, or zeno mcp .?"),
        ("trace view x.jsonl", "required: --out FILE: the page to write"),
        ("xyzzy", "zeno: error: no command is called xyzzy; there are serve, mcp, http, shell, call, schema, "),
        ("trace verify . x", "; the trace comes first, then the directory\n"),
        ("trace verfy", "did you mean verify?"),
        ("serve . --max-linse 4", "zeno serve: error: unrecognized arguments: --max-linse; did you mean --max-lines?"),
        (
            "call . grep x --pathes y",
            "--pathes; arguments are KEY=VALUE, did you mean paths=...?\nTry 'zeno call --help'.",
        ),
        ("call . grep x --formt text", "zeno call: error: unrecognized arguments: --formt; did you mean --format?"),
        ("call . grp x", "zeno: no operation is called 'grp'; did you mean grep?\n"),
        ("call grp x --root .", "zeno: no operation is called 'grp'; did you mean grep?\n"),
        ("call xyzzy x --root .", f"zeno: no operation is called 'xyzzy'; there are {', '.join(sorted(OPS))}\n"),
        ("serve --root . --max-lines x", "zeno serve: error: argument --max-lines: 'x' is not a whole number above 0"),
        ("trace claim x a.txt --root . --log t", "cite lines, as in src/app.py:3-7 or src/app.py:3"),
    ],
)
def test_a_mistake_is_told_in_two_lines_with_what_to_do_next(typed, told, tmp_path):
    done = zeno(*typed.split(), cwd=tmp_path, input="")
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert done.stderr.count("\n") <= 2


def test_without_a_command_the_help_is_printed_to_standard_error():
    done = zeno()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == zeno("--help").stdout


@pytest.mark.parametrize("root", ["nowhere", "file"])
def test_a_root_that_is_no_directory_is_told_in_one_line(tmp_path, root):
    (tmp_path / "file").write_text("")
    for command in (["serve"], ["call", "list_files"]):
        done = zeno(*command, "--root", str(tmp_path / root), input="")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
        assert root in done.stderr


def test_call_takes_pairs_by_the_type_of_the_argument(root):
    (root / "a").write_text("5\n")
    (root / "b").write_text("5\n")
    done = zeno("call", "grep", "pattern=5", "paths=a", "--root", str(root), "paths=b", "max_hits=9", "regex=true")
    assert done.returncode == 0
    assert len(json.loads(done.stdout)["result"]["hits"]) == 2


def test_a_list_takes_every_word_given_for_it(root):
    done = zeno("call", "stat", "paths=a", 'paths=["b", "c"]', "paths=d", "--root", str(root))
    assert [item["path"] for item in json.loads(done.stdout)["result"]["items"]] == ["a", "b", "c", "d"]


def test_call_takes_json_and_prints_prettily(root):
    done = zeno("call", "list_files", "--args", '{"max": 3}', "--root", str(root), "--format", "pretty")
    assert done.returncode == 0
    assert json.loads(done.stdout)["result"]["files"] == []
    assert done.stdout.count("\n") > 5


def test_an_unknown_operation_in_a_pipe_is_an_answer_with_the_cure_beside_it(root):
    done = zeno("call", str(root), "ls")
    assert json.loads(done.stdout)["error"]["message"] == "unknown op: ls"
    assert done.stderr == "zeno: no operation is called 'ls'; did you mean list_files?\n"


def test_an_error_answer_exits_1_and_a_bad_call_2(root):
    assert zeno("call", "sing", "--root", str(root)).returncode == 1
    assert zeno("call", "stat", "path=../x", "--root", str(root)).returncode == 1
    for arguments in (
        ["stat", "path"],
        ["stat", "--args", "{"],
        ["stat", "--args", "{}", "path=a"],
        ["grep", "max_hits=x"],
        ["grep", "pattern=a", "pattern=b"],
        ["grep", "pattern=a", "context=1", "context=1"],
    ):
        done = zeno("call", *arguments, "--root", str(root))
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("zeno: ")
    assert zeno("serve", "--root", str(root), "--max-request-bytes", "0").returncode == 2
    assert zeno("serve", "--root", str(root), "surplus").returncode == 2


DOORS = ["serve", "mcp", "http"]
NUMBERS = [
    *((door, flag) for door in DOORS for flag in ("request-bytes", "response-bytes", "ops", "lines", "bytes")),
    *((f"trace {name} t.jsonl", "response-bytes") for name in ("replay", "verify", "coverage", "view --out p.html")),
]


@pytest.mark.parametrize(("command", "flag"), NUMBERS)
def test_a_limit_of_nothing_or_less_is_refused_at_every_door(command, flag, root, capsys):
    for number in ("-5", "0", "1.5", "x", "", "9" * 5000):
        with pytest.raises(SystemExit) as ended:
            main([*command.split(), "--root", str(root), f"--max-{flag}={number}"])
        assert ended.value.code == 2
        assert f"--max-{flag}: '{number}' is not a whole number above 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flag", "number", "sentence"),
    [
        *(("--max-seconds", number, "is not a whole number from 0 on") for number in ("-1", "1.5", "x")),
        *(("--cache-bytes", number, "is not a whole number above 0") for number in ("-1", "0")),
        *(("--port", number, "give a number from 0 to 65535") for number in ("-1", "65536", "x", "\u00b2", "9" * 5000)),
    ],
)
def test_other_numbers_are_refused_where_they_make_no_sense(flag, number, sentence, root, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["http", "--root", str(root), f"{flag}={number}"])
    assert ended.value.code == 2
    assert sentence in capsys.readouterr().err


ODD = os.fsdecode(b"n\xff.txt")


@pytest.mark.parametrize(
    "words",
    [
        ["read_file", f"path={ODD}"],
        ["stat", "paths=a", f"paths={ODD}"],
        ["grep", "pattern=x", f"paths={ODD}"],
        ["list_files", f"glob={ODD}"],
        ["list_files", "exclude_globs=a", f"exclude_dirs={os.fsdecode(bytes([0xFE]))}"],
    ],
    ids=lambda words: words[0],
)
def test_a_name_that_is_not_utf8_is_taken_as_answers_print_it(root, words):
    for name in (b"a", b"n\xff.txt", b"\xfe/b"):
        path = os.path.join(os.fsencode(root), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write("x\n")
    done = zeno("call", *words, "--root", str(root))
    assert (done.returncode, done.stderr) == (0, "")
    assert "n\\u0000ff.txt" in done.stdout
    assert not any(path.endswith("/b") for path in json.loads(done.stdout)["result"].get("files", []))


@pytest.mark.parametrize("words", [["grep", f"pattern={ODD}"], [ODD], ["grep", ODD], ["stat", "path=a", f"{ODD}=1"]])
def test_other_words_that_are_not_utf8_are_refused_with_a_sentence(root, words):
    done = zeno("call", *words, "--root", str(root))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "UTF-8" in done.stderr or "KEY=VALUE" in done.stderr


# Python runs a module of this name at its start.
SLEEPS_AT_ITS_LOG = """
import sys, time
def sleep(event, args):
    if event == "open" and str(args[0]).endswith("trace.jsonl"):
        open({mark!r}, "x").close()
        time.sleep({seconds!r})
sys.addaudithook(sleep)
"""


@pytest.fixture
def stuck(root, tmp_path):
    """A server that is still starting: it sleeps before it opens its log."""
    mark = tmp_path / "mark"
    (tmp_path / "sitecustomize.py").write_text(SLEEPS_AT_ITS_LOG.format(mark=str(mark), seconds=PATIENCE))
    command = [sys.executable, "-m", "zeno", "serve", "--root", str(root), "--log", str(tmp_path / "trace.jsonl")]
    with subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            until(mark.exists, "it is about to open its log")
            yield process
        finally:
            process.kill()


def test_ctrl_c_while_a_server_starts_ends_it_without_a_word(stuck):
    stuck.send_signal(signal.SIGINT)
    out, err = stuck.communicate(timeout=PATIENCE)
    assert (stuck.returncode, out, err) == (-signal.SIGINT, b"", b"")


@pytest.mark.parametrize(("loading", "said"), [("zeno.cli.parser", b""), ("decimal", b"zeno: interrupted\n")])
def test_ctrl_c_while_the_program_is_being_loaded_ends_it_in_one_line_at_most(loading, said):
    # The second belongs to pydantic, which only commands need; its native code says much about an exception there.
    program = (
        "import os, signal, sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {loading!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "sys.argv = ['zeno', 'call', '.', 'stat']\n"
        "from zeno.cli.start import run\n"
        "sys.exit(run())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", said)


def test_who_ignores_ctrl_c_before_the_program_starts_goes_on_ignoring_it():
    program = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from zeno.cli.start import run\n"
        "sys.argv = ['zeno', 'schema', '--list']\n"
        "status = run()\n"
        "sys.exit(status or signal.getsignal(signal.SIGINT) != signal.SIG_IGN)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True).returncode == 0


def test_schemas_are_printed_by_short_and_long_names():
    assert json.loads(zeno("schema", "grep").stdout)["title"] == "Grep"
    assert json.loads(zeno("schema", "zeno/request.json").stdout)["title"] == "Request"
    assert json.loads(zeno("schema").stdout)["protocol"] == "1.0"
    assert "zeno/ops/stat.json" in zeno("schema", "--list").stdout.split()
    assert zeno("schema", "sing").returncode == 2


def test_a_limit_on_the_request_is_a_flag(root, pipe):
    server = pipe("--max-request-bytes", "60")
    assert server.ask("list_files")["ok"]
    assert server.ask("list_files", glob="x" * 60)["error"]["code"] == "invalid_request"


@pytest.mark.parametrize(
    ("redirection", "status", "complaint"),
    [
        ("<&-", 0, ""),
        (">&-", 2, "zeno: standard output is closed, so no answer can be sent; open it\n"),
        (">/dev/full", 2, "zeno: cannot go on: No space left on device\n"),
        ("<&- >&- 2>&-", 2, ""),
    ],
)
def test_a_standard_stream_that_is_closed_or_full_is_told_in_one_line(root, redirection, status, complaint):
    request = '{"id":"1","op":"stat","args":{"path":"."}}\n'
    command = f'exec "{sys.executable}" -m zeno serve --root "{root}" --log "{root}/log" {redirection}'
    done = subprocess.run(["sh", "-c", command], input=request, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (status, complaint)


@pytest.mark.parametrize("door", ["shell --root .", "mcp --root .", "trace lint -", "trace append --log log --root ."])
def test_an_input_that_is_closed_is_an_empty_one(root, door):
    command = f'exec "{sys.executable}" -m zeno {door} <&-'
    done = subprocess.run(["sh", "-c", command], cwd=root, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("door", ["shell", "mcp"])
def test_doors_that_could_answer_nobody_do_not_open(root, door):
    command = f'exec "{sys.executable}" -m zeno {door} --root "{root}" >&-'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_complaints_that_nobody_hears_do_not_go_to_standard_output(root):
    command = f'exec "{sys.executable}" -m zeno serve --root "{root}/gone" 2>&-'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("lines", [1, 3000])
def test_a_reader_that_has_seen_enough_does_not_turn_a_finding_into_success(root, lines):
    log = root / "log"
    log.write_text("torn\n" * lines)
    for command in ("lint", "replay", "verify", "coverage"):
        where = [] if command == "lint" else ["--root", root]
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [sys.executable, "-m", "zeno", "trace", command, log, *where], stdout=writing, stderr=subprocess.PIPE
        )
        os.close(writing)
        assert (done.returncode, done.stderr) == (1, b"")


def test_a_page_on_standard_output_has_the_status_of_one_in_a_file(root):
    log = root / "log"
    log.write_text("torn\n")
    page = zeno("trace", "view", log, "--out", root / "page.html")
    done = zeno("trace", "view", log, "--out", "-")
    assert (page.returncode, done.returncode) == (1, 1)
    assert done.stdout == (root / "page.html").read_text()
    assert done.stderr == page.stdout.splitlines(keepends=True)[0]
    command = f'exec "{sys.executable}" -m zeno trace view "{log}" --out - >&-'
    closed = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True)
    assert (closed.returncode, closed.stderr) == (2, "zeno: standard output is closed; give --out a file\n")


def test_a_locale_that_cannot_print_a_name_gets_utf8(root):
    (root / "é.txt").touch()
    done = zeno(
        "call", "list_files", "--format", "pretty", "--root", root, env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert (done.returncode, json.loads(done.stdout)["result"]["files"]) == (0, ["é.txt"])


@pytest.mark.parametrize(
    ("words", "args"),
    [
        (["read_file", "a b.txt", "end_line=2"], {"path": "a b.txt", "end_line": 2}),
        (["grep", "x=y", "paths=a b.txt"], {"pattern": "x=y", "paths": ["a b.txt"]}),
        (["list_files", "*.txt"], {"glob": "*.txt"}),
        (["stat", "a b.txt"], {"path": "a b.txt"}),
    ],
)
def test_the_first_argument_may_stand_alone(root, words, args):
    (root / "a b.txt").write_text("x=y\ntwo\n")
    alone, spelled = (
        zeno("call", *words, "--root", str(root)),
        zeno("call", words[0], "--args", json.dumps(args), "--root", str(root)),
    )
    assert (alone.returncode, spelled.returncode) == (0, 0)
    answers = [json.loads(done.stdout)["result"] for done in (alone, spelled)]
    for answer in answers:
        del answer["metrics"]
    assert answers[0] == answers[1]


def test_text_for_people_has_the_result_alone_and_the_error_on_standard_error(root):
    (root / "a.txt").write_text("one\n")
    done = zeno("call", "read_file", "a.txt", "--format", "text", "--root", str(root))
    assert (done.returncode, done.stdout.splitlines()[1:], done.stderr) == (0, ["[a.txt: lines 1-1 of 1]"], "")
    assert done.stdout.splitlines()[0] == "1\tone"
    done = zeno("call", "read_file", "gone", "--format", "text", "--root", str(root))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("zeno: not_found: ")


def test_text_of_read_file_reads_on_and_the_response_line_is_that_of_the_protocol(root):
    (root / "a.txt").write_text("one\ntwo\n")
    words = ("call", "read_file", "a.txt", "--root", str(root))
    assert zeno(*words, "--format", "text").stdout.splitlines()[:2] == ["1\tone", "2\ttwo"]
    assert json.loads(zeno(*words).stdout)["result"]["text"] == "one"


def test_call_takes_paths_behind_the_main_argument(root):
    for name in ("a", "b", "c"):
        (root / name).write_text("x\n")
    done = zeno("call", "grep", "x", "a", "c", "--root", str(root))
    assert [hit["path"] for hit in json.loads(done.stdout)["result"]["hits"]] == ["a", "c"]


def test_on_a_terminal_an_answer_is_text(root):
    (root / "a.txt").write_text("one\n")
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "zeno", "call", "read_file", "a.txt", "--root", str(root)]
    with subprocess.Popen(command, stdout=slave, stdin=slave) as process:
        process.wait(PATIENCE)
        told = os.read(master, 4096).decode()
    os.close(master)
    os.close(slave)
    assert told.splitlines()[0] == f"{NUMBER}1{END}\tone"


def test_a_directory_may_stand_alone(root):
    (root / "a.txt").write_text("one\n")
    assert json.loads(zeno("call", str(root), "read_file", "a.txt").stdout)["result"]["text"] == "one"
    request = '{"id": "1", "op": "read_file", "args": {"path": "a.txt"}}\n'
    for words in (["serve", str(root), "--no-cache"], ["serve", "--no-cache", str(root)]):
        assert json.loads(zeno(*words, input=request).stdout)["result"]["text"] == "one"
    trace = root.parent / "trace.jsonl"
    assert zeno("serve", str(root), "--log", str(trace), input=request).returncode == 0
    assert zeno("trace", "replay", str(trace), str(root)).returncode == 0


def test_pretty_json_has_no_character_that_a_terminal_obeys(root):
    text = "a\u202eb\u2028c\x9bd\U000e0041e\rf"
    (root / "a.txt").write_text(text + "\n")
    done = zeno("call", "read_file", "a.txt", "--format", "pretty", "--root", str(root))
    assert json.loads(done.stdout)["result"]["text"] == text
    assert not set("\u202e\u2028\x9b\U000e0041\r") & set(done.stdout)


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_help_is_wrapped_to_the_terminal_and_lists_commands_under_headings(columns):
    done = zeno("--help", env={**os.environ, "COLUMNS": str(columns)})
    assert max(map(len, done.stdout.splitlines())) <= min(columns, 100)
    assert re.findall(r"^(\w+):$", done.stdout, re.MULTILINE) == ["Options", "Serve", "Ask", "Trust", "Learn"]
    served = zeno("mcp", "--help", env={**os.environ, "COLUMNS": str(columns)}).stdout
    assert served.startswith("Usage: zeno mcp [OPTIONS] [DIR]...\n")
    assert re.findall(r"^(\w+):$", served, re.MULTILINE)[-1] == "Limits"
    assert max(map(len, served.splitlines())) <= min(columns, 100)
