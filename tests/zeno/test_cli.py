"""The command line, run as a user runs it."""

import json
import os
import subprocess
import sys

import pytest

from zeno.cli import main


def zeno(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "zeno", *arguments], capture_output=True, text=True, **options)


def test_version_tells_package_and_protocol():
    assert zeno("--version").stdout.startswith("zeno 0.1.0 (protocol 1.0)")


@pytest.mark.parametrize("command", [[], ["serve"], ["call"], ["schema"]])
def test_help_is_everywhere(command):
    done = zeno(*command, "--help")
    assert done.returncode == 0
    assert "usage: zeno" in done.stdout


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


def test_call_takes_json_and_prints_prettily(root):
    done = zeno("call", "list_files", "--args", '{"max": 3}', "--root", str(root), "--pretty")
    assert done.returncode == 0
    assert json.loads(done.stdout)["result"]["files"] == []
    assert done.stdout.count("\n") > 5


def test_an_error_answer_exits_1_and_a_bad_call_2(root):
    assert zeno("call", "sing", "--root", str(root)).returncode == 1
    assert zeno("call", "stat", "path=../x", "--root", str(root)).returncode == 1
    for arguments in (
        ["stat", "path"],
        ["stat", "--args", "{"],
        ["stat", "--args", "{}", "path=a"],
        ["grep", "max_hits=x"],
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
        *(("--cache-bytes", number, "is not a whole number above 0") for number in ("-1", "0")),
        *(("--port", number, "give a number from 0 to 65535") for number in ("-1", "65536", "x", "\u00b2", "9" * 5000)),
    ],
)
def test_other_numbers_are_refused_where_they_make_no_sense(flag, number, sentence, root, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["http", "--root", str(root), f"{flag}={number}"])
    assert ended.value.code == 2
    assert sentence in capsys.readouterr().err


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
        (">&-", 2, "zeno: standard output is closed, so nobody can be answered; give it somewhere to go\n"),
        (">/dev/full", 2, "zeno: cannot go on: No space left on device\n"),
        ("<&- >&- 2>&-", 2, ""),
    ],
)
def test_a_standard_stream_that_is_closed_or_full_is_told_in_one_line(root, redirection, status, complaint):
    request = '{"id":"1","op":"stat","args":{"path":"."}}\n'
    command = f'exec "{sys.executable}" -m zeno serve --root "{root}" --log "{root}/log" {redirection}'
    done = subprocess.run(["sh", "-c", command], input=request, capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stderr) == (status, complaint)


def test_a_locale_that_cannot_print_a_name_gets_utf8(root):
    (root / "é.txt").touch()
    done = zeno("call", "list_files", "--pretty", "--root", root, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, json.loads(done.stdout)["result"]["files"]) == (0, ["é.txt"])
