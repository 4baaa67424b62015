"""Several roots behind every command, run as a user runs it."""

import json
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.interfaces import http_process, zeno
from tests.support.patience import PATIENCE
from zeno.client import Zeno
from zeno.trace.recorder import Recorder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for path, text in {"A/src/app.py": "def main():\n", "A/.env": "KEY\n", "B/note.txt": "main thing\n"}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def flags(home: Path) -> list[str]:
    return ["--root", f"web={home / 'A'}", "--root", f"api={home / 'B'}"]


def run(*arguments: Any, given: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(zeno(*arguments), input=given, capture_output=True, text=True, timeout=PATIENCE)


def test_call_and_shell_take_names_before_paths(home: Path) -> None:
    found = json.loads(run("call", "grep", "main", *flags(home)).stdout)["result"]
    assert [hit["path"] for hit in found["hits"]] == ["api/note.txt", "web/src/app.py"]
    assert (found["complete"], found["files_selected"], found["left_out"]["hidden"]) == (True, 2, 1)
    assert "api/note.txt\n1\tmain thing\n" in run("shell", *flags(home), given="grep main\n").stdout


@pytest.mark.parametrize("cache", [[], ["--no-cache"]])
def test_serve_answers_about_all_roots_and_describe_names_them(home: Path, cache: list[str]) -> None:
    with Zeno({"web": home / "A", "api": home / "B"}, flags=["--deny", "web/.env", *cache]) as client:
        assert client.describe(schemas=False).roots == ["api", "web"]
        assert client.list_files(include_hidden=True).files == ["api/note.txt", "web/src/app.py"]
        first = client.list_files(max=1)
        assert first.files == ["api/note.txt"]
        assert client.list_files(max=1, cursor=first.cursor).files == ["web/src/app.py"]
        assert client.read_file("web/src/app.py").text == "def main():"
        # A change is seen in each root.
        (home / "B" / "new.txt").write_text("main too\n")
        assert client.grep("main").files_selected == 3


def test_one_root_without_a_name_is_served_as_before(home: Path) -> None:
    (home / "a=b").mkdir()
    (home / "a=b" / "x").write_text("x\n")
    with Zeno(home / "A") as client:
        assert client.describe(schemas=False).roots is None
        assert client.list_files().files == ["src/app.py"]
    done = subprocess.run(zeno("call", "list_files", "--root", "./a=b"), cwd=home, capture_output=True, text=True)
    assert json.loads(done.stdout)["result"]["files"] == ["x"]


def test_http_and_its_confinement_reach_all_roots(home: Path) -> None:
    with http_process(f"web={home / 'A'}", "--root", f"api={home / 'B'}") as (url, _):
        for path in ("web/src/app.py", "api/note.txt"):
            answer = httpx.post(f"{url}/v1/ops/read_file", json={"path": path}, timeout=PATIENCE)
            assert answer.status_code == 200


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["web=A", "B"], "has no name"),
        (["web=A", "web=B"], "called 'web' already"),
        (["web=A", "src=A/src"], "is inside the root"),
        (["web=A", "api=none"], "'none': No such file"),
        ([".x=A"], "is no name"),
    ],
)
def test_roots_that_make_no_sense_are_told_in_one_line(home: Path, given: list[str], told: str) -> None:
    words = [word for one in given for word in ("--root", one)]
    for command in (["serve"], ["call", "list_files"], ["trace", "replay", "-"]):
        done = subprocess.run(zeno(*command, *words), input="", capture_output=True, text=True, cwd=home)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
        assert told in done.stderr


def test_a_trace_of_several_roots_is_replayed_verified_and_measured_with_them(home: Path) -> None:
    log = home / "log"
    with Zeno({"web": home / "A", "api": home / "B"}, flags=["--log", str(log)]) as client:
        client.grep("main")
        client.read_file("web/src/app.py")
        client.list_files(max=1)
    named = run("trace", "claim", "main is there", "web/src/app.py:1", "--log", log, *flags(home))
    assert named.returncode == 0, named.stderr
    assert "1 claim: 1 checks out" in run("trace", "verify", log, *flags(home)).stdout
    assert "3 answers: 3 the same, 0 different" in run("trace", "replay", log, *flags(home)).stdout
    covered = json.loads(run("trace", "coverage", log, *flags(home), "--all", "--format", "json").stdout)
    assert [file["path"] for file in covered["files_table"]] == ["api/note.txt", "web/src/app.py"]
    (home / "A" / "src" / "app.py").write_text("def main(): pass\n")
    assert "web/src/app.py" in run("trace", "replay", log, *flags(home)).stdout


def test_a_recording_hands_several_roots_on(home: Path) -> None:
    log = home / "log"
    claim = zeno("trace", "claim", "it is there", "api/note.txt:1")
    done = run("trace", "record", "--log", log, *flags(home), "--", *claim)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(log.read_text())["evidence"][0]["sha256"]) == 64
    with Recorder(str(log), f"a={home / 'A'}") as recorder:
        assert "sha256" in recorder.claim("x", [("a/src/app.py", 1, 1)])["evidence"][0]
