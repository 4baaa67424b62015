"""The command line as a user meets it: exit status, streams, help, and explanations that lead back to bytes."""

import json
import os
import re
import subprocess
import sys
from importlib import metadata

import pytest

from normalizer.cli import COMMANDS, GROUPS, UNLISTED, main
from normalizer.documents.protocol import version
from tests.support.bundles import bundle, entry
from tests.support.transcripts import environment


@pytest.fixture
def ledger(tmp_path):
    document = bundle(entry("a"), {"file": "b", "scores": {"A_structure": 3}, "total": 1.0}, run_id="r")
    (tmp_path / "bundle.json").write_text(json.dumps(document, indent=1).replace("1.0", "1.00"))
    main(["normalize", str(tmp_path / "bundle.json"), "--out", str(tmp_path / "ledger")])
    return tmp_path / "ledger"


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_has_help(command, capsys):
    assert main([command, "--help"]) == 0
    assert f"Usage: normalizer {command}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "argv", [["nonsense"], ["normalize"], ["audit"], ["normalize", "x", "--out", "y", "--jobs", "0"]]
)
def test_wrong_usage_is_status_2_with_one_message_on_stderr(argv, capsys):
    assert main(argv) == 2
    caught = capsys.readouterr()
    assert caught.out == ""
    assert re.fullmatch(r"normalizer[ \w]*: error: .+\nTry 'normalizer[ \w]* --help'\.\n", caught.err)


def test_explain_shows_the_record_its_reasons_and_the_raw_lines(ledger, tmp_path, capsys):
    [line] = (ledger / "invalid.jsonl").read_text().splitlines()
    capsys.readouterr()
    assert main(["explain", str(ledger), json.loads(line)["record_id"][:8]]) == 0
    out = capsys.readouterr().out
    assert "INVALID" in out
    assert "total: 1.00" in out
    raw = (tmp_path / "bundle.json").read_text().split("\n")
    number = next(number for number, text in enumerate(raw, start=1) if '"A_structure": 3' in text)
    assert f"{number:>7} | {raw[number - 1]}" in out
    assert "score_not_allowed: A_structure must be a whole number from 0 to 2, not 3" in out


def test_explain_of_a_valid_record_tells_whether_it_counts(ledger, capsys):
    [line] = (ledger / "records.jsonl").read_text().splitlines()
    capsys.readouterr()
    assert main(["explain", str(ledger), json.loads(line)["record_id"]]) == 0
    assert "VALID, eligible" in capsys.readouterr().out


def test_explain_wants_an_id_that_is_there_and_only_once(ledger, capsys):
    assert main(["explain", str(ledger), "zz"]) == 2
    assert main(["explain", str(ledger), ""]) == 2
    assert "no record" in capsys.readouterr().err


def test_restore_gives_back_the_bytes_or_the_document_made_anew(ledger, tmp_path):
    raw = (tmp_path / "bundle.json").read_bytes()
    [path] = (ledger / "bundles").glob("*/*")
    command = [sys.executable, "-m", "normalizer", "restore", str(ledger), path.stem]
    assert subprocess.run(command, capture_output=True).stdout == raw
    rebuilt = subprocess.run([*command, "--from-records"], capture_output=True).stdout
    assert b'"total":1.00' in rebuilt
    assert json.loads(rebuilt) == json.loads(raw)
    assert list(json.loads(rebuilt)) == list(json.loads(raw))


@pytest.mark.parametrize("sha256", ["0" * 64, "", "../records", "*"])
def test_restore_of_what_is_not_there_is_status_2(ledger, sha256, capsys):
    assert main(["restore", str(ledger), sha256]) == 2
    assert "no bundle" in capsys.readouterr().err


def test_a_folder_that_is_no_ledger_is_told_apart(tmp_path, capsys):
    for command in (["audit"], ["explain"], ["restore"]):
        assert main([*command, str(tmp_path), *(["x"] if command != ["audit"] else [])]) == 2
    assert capsys.readouterr().err.count("is not a ledger") == 3


def test_a_reader_that_has_seen_enough_changes_no_status(ledger, tmp_path):
    (tmp_path / "table.csv").write_text("n,total\n7,7\n")
    [raw] = (ledger / "bundles").glob("*/*")
    expected = {
        ("--version",): 0,
        ("audit", "--help"): 0,
        ("audit", str(ledger), "--format", "csv"): 0,
        ("restore", str(ledger), raw.stem): 0,
        ("check", str(tmp_path / "table.csv"), str(ledger)): 1,
    }
    found = {}
    for command in expected:
        reading, writing = os.pipe()
        os.close(reading)
        whole = [sys.executable, "-m", "normalizer", *command]
        done = subprocess.run(whole, stdout=writing, stderr=subprocess.PIPE)
        os.close(writing)
        assert done.stderr == b""
        found[command] = done.returncode
    assert found == expected


def test_nothing_heavy_is_imported_to_start():
    heavy = ("pydantic", "duckdb", "scipy")
    code = f"import sys, normalizer.commands.read.normalize; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_the_beginning_of_a_hash_will_do_to_rebuild_too(ledger, tmp_path, capsys):
    [path] = (ledger / "bundles").glob("*/*")
    capsys.readouterr()
    for named in (path.stem, path.stem[:6], path.stem.upper()):
        assert main(["restore", str(ledger), named, "--from-records"]) == 0
        assert json.loads(capsys.readouterr().out) == json.loads(path.read_bytes())
    assert main(["restore", str(ledger), "x", "--from-records"]) == 2
    assert "has the hash x" in capsys.readouterr().err


def test_explain_sends_no_control_character_of_a_bundle_to_the_terminal(tmp_path, capsys, monkeypatch):
    document = bundle({**entry("a"), "\x1b[2J\x07": 1, "scores": {"\x1b[31m": 1}}, **{"\x1b]0;x\x07": 1})
    (tmp_path / "bundle.json").write_text(json.dumps(document))
    main(["normalize", str(tmp_path / "bundle.json"), "--out", str(tmp_path / "l")])
    [line] = (tmp_path / "l/invalid.jsonl").read_text().splitlines()
    capsys.readouterr()
    # Elsewhere than on a terminal, colours are taken out on the way: a terminal is what matters here.
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_: False)
    assert main(["explain", str(tmp_path / "l"), json.loads(line)["record_id"]]) == 0
    out = capsys.readouterr().out
    assert "entry_field_unknown" in out
    assert {char for char in out if not char.isprintable()} == {"\n"}


@pytest.mark.parametrize(
    "argv",
    [
        ["lint", "--rubric", "FILE"],
        ["lint", "--manifest", "FILE"],
        ["lint", "--dialect", "FILE"],
        ["lint", "--schema", "FILE"],
        ["guess", "FILE"],
        ["guess", "BUNDLE"],
        ["guess", "EMPTY"],
        ["normalize", "FILE", "BUNDLE", "EMPTY", "--out", "LEDGER"],
        ["normalize", "BUNDLE", "--manifest", "FILE", "--out", "LEDGER"],
    ],
    ids=" ".join,
)
def test_no_name_in_a_file_and_no_name_of_a_file_is_obeyed_by_the_terminal(tmp_path, capsys, monkeypatch, argv):
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_: False)
    wild = "\x1b[31m\x1b]0;x\x07\u202e\x9b\u2028\r"
    (tmp_path / f"{wild}.json").write_text(json.dumps({wild: wild, "rows": [{wild: wild, "score": 1}]}))
    (tmp_path / f"{wild}-bundle.json").write_text(json.dumps(bundle(entry(wild), {**entry("b"), wild: wild})))
    (tmp_path / f"{wild}-empty.json").write_bytes(b"")
    named = {"FILE": f"{wild}.json", "BUNDLE": f"{wild}-bundle.json", "EMPTY": f"{wild}-empty.json", "LEDGER": "ledger"}
    assert main([str(tmp_path / named[part]) if part in named else part for part in argv]) in (0, 1, 2)
    told = "".join(capsys.readouterr())
    assert told
    assert {char for char in told if not char.isprintable()} == {"\n"}


def test_a_full_disk_behind_standard_output_is_told_in_a_sentence():
    # What is buffered would be written again at exit, what is not is not.
    for buffering in ({}, {"PYTHONUNBUFFERED": "1"}):
        env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"} | buffering
        command = [sys.executable, "-m", "normalizer", "--version"]
        with open("/dev/full", "w") as full:
            ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=env)
        assert ran.returncode == 2
        assert ran.stderr == b"normalizer: standard output: No space left on device\n"


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("--version >&-", 0, ""),
        ("--version <&- >&- 2>&-", 0, ""),
        ("aggregate nothing 2>&-", 2, ""),
        ("normalize - --out ledger <&-", 2, "normalizer: standard input is closed"),
    ],
)
def test_a_standard_stream_that_is_closed_is_no_bug(tmp_path, words, status, said):
    command = ["sh", "-c", f'exec "{sys.executable}" -m normalizer {words}']
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.partition(",")[0]) == (status, "", said)


def test_the_version_names_the_package_and_the_protocol(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"normalizer {metadata.version('zeno-normalizer')}\nprotocol {version()}\n"
    assert re.fullmatch(r"eval-[0-9a-f]{16}", version())


def test_help_lists_at_most_24_commands_under_headings_in_the_order_of_the_work(capsys):
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    places = [text.index(f"\n{heading}:\n") for heading in GROUPS]
    places += [text.index(f"\n  {name} ") for name in COMMANDS]
    assert places[: len(GROUPS)] == sorted(places[: len(GROUPS)])
    assert places[len(GROUPS) :] == sorted(places[len(GROUPS) :])
    assert len(COMMANDS) <= 24
    assert not [name for name in UNLISTED if f"\n  {name} " in text]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_asks_this_command(shell, capsys):
    assert main(["completion", shell]) == 0
    assert f"_NORMALIZER_COMPLETE={shell}_complete" in capsys.readouterr().out


def test_bash_completes_commands_and_flags(tmp_path):
    script = subprocess.run(
        [sys.executable, "-m", "normalizer", "completion", "bash"], capture_output=True, text=True, check=True
    ).stdout
    path = environment(tmp_path)["PATH"]
    for words, offered in (
        ("normalizer norm", "normalize"),
        ("normalizer audit --form", "--format"),
        ("eval-normalizer norm", "normalize"),
        ("normalizer normalize x --dialect judgeb", "judgebench"),
        ("normalizer dialects judgeb", "judgebench"),
        ("normalizer list x --reason score_not_al", "score_not_allowed"),
        ("normalizer docs which", "which-number"),
    ):
        program, *typed = words.split()
        function = f"_{program.replace('-', '_')}_completion"
        asked = f"{script}\nCOMP_WORDS=({words}); COMP_CWORD={len(typed)}; {function} {program}"
        done = subprocess.run(
            ["bash", "-c", f'{asked}\nprintf "%s\\n" "${{COMPREPLY[@]}}"'],
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": path},
        )
        assert done.stdout.split() == [offered], done.stderr


def test_a_bundle_where_a_ledger_is_wanted_is_told_how_to_make_one(ledger, capsys):
    file = str(ledger.parent / "bundle.json")
    assert main(["restore", file, "a"]) == 2
    told = f"{file} is a file: `normalizer normalize {file} --out FOLDER` makes a ledger of it"
    assert told in capsys.readouterr().err


def test_a_build_without_a_study_file_says_where_one_is_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["build"]) == 2
    assert "there is no study file normalizer.toml: `normalizer docs report` has one" in capsys.readouterr().err


def test_a_judge_bundle_needs_no_dialect_and_guess_says_so(ledger, capsys):
    file = str(ledger.parent / "bundle.json")
    capsys.readouterr()
    assert main(["guess", file]) == 0
    first, _, *commands = capsys.readouterr().out.splitlines()
    assert first == "It is a judge bundle, which needs no dialect:"
    out = f"guessed{ledger.parent}/bundle-json/ledger"
    assert commands == [f"normalizer normalize {file} --out {out}", f"normalizer list {out}"]


@pytest.mark.parametrize(
    "arguments", [["lint", "{}"], ["{}"], ["aggregate", "a", "--format", "{}"], ["explain", "a", "b", "{}"]]
)
def test_no_argument_is_obeyed_by_the_terminal_that_shows_a_mistake(capsys, monkeypatch, arguments):
    """A shell puts names of files there that others have chosen."""
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_: False)
    assert main([each.format("x\x1b[31m\u202e\x9b") for each in arguments]) == 2
    told = capsys.readouterr().err
    assert "x" in told
    assert not {"\x1b", "\u202e", "\x9b"} & set(told)


def test_mistakes_of_newcomers_are_met_with_the_cure(ledger, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    tried = {
        ("normalize", str(ledger), "--out", "other"): "is a ledger already",
        ("aggregate", str(ledger), "--by", "phase", "judge_model"): "judge_model is a key",
        ("aggregate", str(ledger), "--format", "jsn"): "did you mean json?",
        ("agregate", str(ledger)): "did you mean aggregate",
        ("sumary", str(ledger)): "no command is called sumary: did you mean aggregate?",
        ("verify", str(ledger)): "no command is called verify: did you mean audit?",
        ("docs", "statstics-of-x"): "`normalizer docs` lists all pages",
        ("explain", str(ledger), "zzzz"): f"`normalizer list {ledger}` prints the ids",
        ("gate", str(ledger)): "normalizer gate: error: missing argument CANDIDATE: The ledger or file that is judged",
        ("normalize", "a.json"): "normalizer normalize: error: missing option --out DIR: The ledger's folder",
        ("audit", str(ledger), "--artifact", "."): "no such option --artifact; did you mean --artifacts",
        ("aggregate", f"{ledger}r"): f"there is no such file or folder; did you mean {ledger.name}?",
        ("repair", "scores.csv"): "`normalizer normalize scores.csv --out FOLDER`",
        ("lint", "scores.csv"): "`normalizer guess scores.csv`",
        ("restore", str(ledger), "zzzz"): f"`normalizer list {ledger}` prints them all",
    }
    (tmp_path / "scores.csv").write_text("item,score\n")
    for words, told in tried.items():
        capsys.readouterr()
        assert main(list(words)) == 2
        assert told in capsys.readouterr().err
    assert main(["aggregate", str(ledger), "--where", "phase=2"]) == 0
    assert "no record has phase = 2" in capsys.readouterr().err


def test_a_document_that_does_not_fit_names_the_command_that_lists_its_mistakes(ledger, tmp_path, capsys):
    file = tmp_path / "rubric.json"
    scale = {"kind": "integer", "minimum": 1, "maximum": 5}
    file.write_text(json.dumps({"name": "one", "dimensions": {"quality": {"scale": scale}}}))
    bundle = str(ledger.parent / "bundle.json")
    assert main(["normalize", bundle, "--rubric", str(file), "--out", str(tmp_path / "other")]) == 2
    told = re.search(r"`normalizer ([^`]+)`", capsys.readouterr().err)
    assert told is not None
    assert main([str(file) if word == "FILE" else word for word in told[1].split()]) == 1
    assert "did you mean integers?" in capsys.readouterr().out
