"""Both commands on a real terminal, and the same into a pipe: widths, colour, progress, Ctrl-C."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from normalizer.cli import main
from tests.support.bundles import bundle, entry
from tests.support.interfaces import sample, zeno
from tests.support.terminal import normalizer, on_terminal, screen

LONG = "a-generator-with-a-name-that-is-much-too-long-for-one-cell-of-a-table-on-a-narrow-terminal"


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("terminal")
    for number in range(40):
        name = LONG if number % 2 else "short"
        quoted = {"evidence": {"A_structure": "a quote that is in no file"}}
        document = bundle(entry(f"{number}.pdf", **quoted), judge_model=f"judge-{number % 3}", generator_model=name)
        (folder / f"{number:03}.json").write_text(json.dumps(document))
    main(["normalize", *map(str, sorted(folder.glob("*.json"))), "--out", str(folder / "ledger")])
    (folder / "artifacts").mkdir()
    return folder / "ledger"


def piped(command: list[str]) -> tuple[int, str]:
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout


TABLES = {
    "aggregate": ("aggregate", "--by", "generator_model,judge_model"),
    "agreement": ("agreement",),
    "audit": ("audit",),
    "claims": ("audit", "--claims", "--all"),
    "list": ("list",),
    "sensitivity": ("aggregate", "--sensitivity", "--by", "generator_model"),
    "evidence": ("audit", "--artifacts", "artifacts"),
}


def words(name: str, ledger: Path) -> list[str]:
    return [str(ledger.parent / word) if word == "artifacts" else word for word in TABLES[name]] + [str(ledger)]


@pytest.mark.parametrize("name", TABLES)
def test_on_a_terminal_no_line_of_a_table_is_longer_than_it_is_wide(ledger, name):
    status, seen = on_terminal(normalizer(*words(name, ledger)), 60)
    plain = screen(seen)
    head = 7 if name == "audit" else 0  # sentences, which the terminal may wrap
    rows = [line for line in plain.splitlines()[head:] if not line.startswith(("bundles", "entries", "valid:"))]
    assert max(map(len, rows)) <= 60
    assert "…" in plain or "--wide shows all" in " ".join(plain.split())
    assert status == piped(normalizer(*words(name, ledger)))[0]


@pytest.mark.parametrize("name", [name for name in TABLES if name != "audit"])
def test_wide_on_a_terminal_without_colour_is_the_text_of_a_pipe(ledger, name):
    _, seen = on_terminal(normalizer(*words(name, ledger), "--wide"), 60, NO_COLOR="1")
    assert screen(seen) == piped(normalizer(*words(name, ledger)))[1]


@pytest.mark.parametrize("name", TABLES)
def test_a_pipe_gets_no_colour_no_cut_and_no_progress(ledger, name):
    done = subprocess.run(normalizer(*words(name, ledger)), capture_output=True, text=True)
    assert "\033" not in done.stdout + done.stderr
    assert "\r" not in done.stdout + done.stderr
    assert "…" not in done.stdout
    if name != "agreement":
        assert LONG in done.stdout or name in ("list", "claims", "evidence")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("audit", "LEDGER"), r"(bundles counted|parts of the ledger normalized again): \d+ of \d+"),
        (("audit", "LEDGER", "--artifacts", "ARTIFACTS"), r"records looked up: \d+ of 40"),
        (("report", "LEDGER", "--out", "PAGE"), r"parts of the report made: \d+ of 11"),
        (("aggregate", "LEDGER", "--verify"), r"parts of the ledger normalized again: \d+ of \d+"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_progress_is_shown_on_a_terminal_and_removed(ledger, tmp_path, arguments, told):
    places = {"LEDGER": ledger, "ARTIFACTS": ledger.parent / "artifacts", "PAGE": tmp_path / "page.html"}
    _, seen = on_terminal(normalizer(*(str(places.get(word, word)) for word in arguments)))
    drawn = list(re.finditer(f"\r\033\\[K{told}", seen))
    assert drawn
    assert "\r\033[K" in seen[drawn[-1].end() :], "the line is removed before anything else is printed"


def test_progress_of_normalize_and_of_the_steps_of_a_study(ledger, tmp_path):
    bundles = ledger.parent
    step = 'run = "audit"\nledger = "ledger"\nartifacts = "."\nto = "evidence.txt"\n'
    study = f'out = "out"\n[[step]]\n{step}'
    (tmp_path / "normalizer.toml").write_text(study)
    command = normalizer("normalize", bundles / "001.json", bundles / "002.json", "--out", tmp_path / "ledger")
    assert re.search("\r\033\\[K(taken in: 2|normalized: 2 of 2)", on_terminal(command)[1])
    _, seen = on_terminal(normalizer("build", tmp_path / "normalizer.toml"))
    assert "\r\033[Kstep 1 of 1, audit: records looked up: 0 of 2" in seen
    assert screen(seen) == "step 1, audit: found something\n"
    assert (tmp_path / "out" / "evidence.txt").read_text().startswith("judge ")


def pressed_when_ready(command: list[str]) -> tuple[int, str]:
    """Press Ctrl-C as soon as a command says that it is ready."""
    pressed: list[bool] = []

    def keys(seen: str) -> bytes | None:
        if "ready\r\n" not in seen or pressed:
            return None
        pressed.append(True)
        return b"\x03"

    return on_terminal(command, keys=keys)


def test_ctrl_c_ends_a_command_with_one_line_and_status_130(tmp_path):
    # A signal that comes just before one long sleep begins would be handled only at its end.
    program = (
        "import os, time\n"
        "from normalizer.batch import run as batch\n"
        "def wait(*arguments):\n"
        "    os.write(1, b'ready\\n')\n"
        "    for _ in range(6000): time.sleep(0.1)\n"
        "batch._work = wait\n"
        "from normalizer.cli import run\n"
        "run()\n"
    )
    (tmp_path / "a.json").write_text(json.dumps(bundle(entry("a"))))
    arguments = ["normalize", str(tmp_path / "a.json"), "--out", str(tmp_path / "ledger")]
    status, seen = pressed_when_ready([sys.executable, "-c", program, *arguments])
    assert status == 130
    assert screen(seen) == "ready\n^C\nnormalizer: interrupted\n"


def test_ctrl_c_at_a_zeno_command_is_one_line_and_status_130():
    program = (
        "import os, sys, time\n"
        "from zeno.cli import reference\n"
        "def wait(options):\n"
        "    os.write(1, b'ready\\n')\n"
        "    for _ in range(6000): time.sleep(0.1)\n"
        "reference.doctor = wait\n"
        "sys.argv = ['zeno', 'doctor']\n"
        "from zeno.cli.start import run\n"
        "sys.exit(run())\n"
    )
    status, seen = pressed_when_ready([sys.executable, "-c", program])
    assert status == 130
    assert screen(seen) == "ready\nzeno: interrupted\n"


def test_an_unknown_command_is_told_with_one_that_is_meant(capsys):
    assert main(["agregate"]) == 2
    assert "no command is called agregate: did you mean aggregate or gate?" in capsys.readouterr().err


def test_rows_of_coverage_are_cut_on_a_terminal_and_whole_with_wide_and_in_a_pipe(tmp_path):
    root = sample(tmp_path / "tree")
    deep = "/".join(["a-folder-with-a-long-name"] * 5)
    (root / deep).mkdir(parents=True)
    (root / deep / "file.txt").write_text("one\n")
    request = json.dumps({"id": "1", "op": "read_file", "args": {"path": f"{deep}/file.txt"}}) + "\n"
    log = tmp_path / "trace.jsonl"
    subprocess.run(zeno("serve", "--root", root, "--log", log), input=request.encode(), check=True, capture_output=True)
    command = zeno("trace", "coverage", log, "--root", root)
    whole = piped(command)[1]
    assert f"{deep}/file.txt  100%  1-1" in whole
    assert on_terminal([*command, "--wide"], 60, NO_COLOR="1")[1] == whole
    cut = on_terminal(command, 60, NO_COLOR="1")[1]
    assert max(map(len, cut.splitlines())) == 60
    assert "…" in cut
    assert on_terminal(command, 60)[1].startswith("\033[1mdelivered")


def test_outcomes_have_colour_on_a_terminal_only():
    assert "\033[32mok" in on_terminal(zeno("doctor"))[1]
    assert "\033" not in piped(zeno("doctor"))[1]
    assert "\033" not in on_terminal(zeno("doctor"), TERM="dumb")[1]


@pytest.mark.parametrize(("command", "waits_for"), [("serve", "one JSON object a line"), ("mcp", "an MCP client")])
def test_a_server_at_a_terminal_says_what_it_waits_for_and_ends_at_the_first_ctrl_c(tmp_path, command, waits_for):
    asked = {
        "serve": {"id": "1", "op": "stat", "args": {"path": "."}},
        "mcp": {"jsonrpc": "2.0", "id": 1, "method": "ping"},
    }
    typed: list[bytes] = []

    def interrupt(seen: str) -> bytes | None:
        if "Ctrl-C ends it" in seen and not typed:
            typed.append(json.dumps(asked[command]).encode() + b"\n")
        elif '"result"' in seen and len(typed) == 1:  # it reads now
            typed.append(b"\x03")
        else:
            return None
        return typed[-1]

    status, seen = on_terminal(zeno(command, "--root", sample(tmp_path / "tree")), keys=interrupt)
    assert waits_for in seen
    assert len(typed) == 2
    assert status in (0, 130)
    assert "Traceback" not in seen
