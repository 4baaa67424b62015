"""The flags --rev and --revs of the commands, with processes that are confined as in use."""

import hashlib
import json
import subprocess
import sys
from argparse import Namespace
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.repositories import COMMITTED_AT, commit, git, init
from zeno.cli.servers import find_repositories
from zeno.files.tree import Tree


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = init(tmp_path / "r")
    (folder / "a.py").write_text("def one():\n    return 1\n")
    commit(folder)
    git(folder, "tag", "v1")
    (folder / "a.py").write_text("def two():\n    return 2\n")
    (folder / "b.txt").write_text("new\n")
    commit(folder)
    (folder / "a.py").write_text("def edited():\n    return 3\n")
    return folder


def run(*args: str, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "zeno", *args]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=60)


def ask(repository: Path, op: str, *flags: str, **args: Any) -> Any:
    answer = json.loads(run("call", op, "--args", json.dumps(args), "--root", str(repository), *flags).stdout)
    return answer.get("result") or answer["error"]


def test_call_answers_from_a_commit(repository: Path) -> None:
    old, new = (git(repository, "rev-parse", name).decode().strip() for name in ("v1", "main"))
    for given in ({"flags": ["--rev", "v1"]}, {"rev": "v1"}, {"rev": old}):
        flags, args = given.get("flags", []), {name: one for name, one in given.items() if name == "rev"}
        assert ask(repository, "read_file", *flags, path="a.py", **args)["text"] == "def one():"
        listed = ask(repository, "list_files", *flags, **args)
        assert (listed["files"], listed["rev"], listed["complete"]) == (["a.py"], old, True)
        found = ask(repository, "find_symbols", *flags, **args)["symbols"]
        assert [symbol["name"] for symbol in found] == ["one"]
        item = ask(repository, "stat", *flags, path="a.py", **args)["items"][0]
        assert (item["size"], item["mtime"]) == (24, COMMITTED_AT)
    assert ask(repository, "grep", pattern="def", rev="main")["rev"] == new
    assert "rev" not in ask(repository, "grep", pattern="def")
    assert ask(repository, "read_file", path="a.py")["text"] == "def edited():"


def test_with_one_commit_served_no_other_may_be_asked_for(repository: Path) -> None:
    old = git(repository, "rev-parse", "v1").decode().strip()
    assert ask(repository, "read_file", "--rev", "v1", path="a.py", rev=old)["text"] == "def one():"
    assert ask(repository, "read_file", "--rev", "v1", path="a.py", rev="main")["code"] == "denied"
    assert ask(repository, "read_file", "--rev", "v1", "--revs", "m*", path="a.py", rev="main")["text"] == "def two():"
    assert ask(repository, "read_file", "--revs", "v*", path="a.py", rev="main")["code"] == "denied"


def test_a_commit_that_cannot_be_served_ends_the_command(repository: Path, tmp_path: Path) -> None:
    for root, rev in ((repository, "none"), (repository, "--help"), (tmp_path, "HEAD")):
        done = run("serve", "--root", str(root), f"--rev={rev}")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("zeno: --rev")


def test_a_confined_server_reads_commits_of_a_worktree_too(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "w"), "v1")
    line = json.dumps({"id": "1", "op": "grep", "args": {"pattern": "def two", "rev": "main"}}) + "\n"
    for flags in ([], ["--no-cache"], ["--rev", "main"]):
        done = run("serve", "--root", str(tmp_path / "w"), *flags, text=line)
        hits = json.loads(done.stdout)["result"]["hits"]
        assert [(hit["path"], hit["line"]) for hit in hits] == [("a.py", 1)], done.stderr


def test_cursors_are_of_the_commit(repository: Path) -> None:
    (repository / "c.txt").write_text("x\n")
    commit(repository)
    first = ask(repository, "list_files", rev="main", max=1)
    again = ask(repository, "list_files", rev=first["rev"], max=1, cursor=first["cursor"])
    assert again["files"] == ["b.txt"]
    commit(repository)
    moved = ask(repository, "list_files", rev="main", max=1, cursor=first["cursor"])
    assert moved["code"] == "invalid_cursor"
    assert ask(repository, "list_files", max=1, cursor=first["cursor"])["code"] == "invalid_cursor"


def test_citations_are_checked_in_the_commit_that_they_name(repository: Path) -> None:
    old = git(repository, "rev-parse", "v1").decode().strip()
    citation = {"path": "a.py", "start_line": 1, "end_line": 1, "text": "def one():"}
    cited = [citation, {**citation, "rev": "v1"}, {**citation, "rev": "main"}, {**citation, "rev": "none"}]
    items = ask(repository, "verify", citations=cited)["items"]
    assert [item["verdict"] for item in items] == ["changed", "ok", "changed", "invalid"]
    assert [item.get("rev") for item in items][:2] == [None, old]


def test_a_trace_has_the_commit_that_each_answer_is_from(repository: Path, tmp_path: Path) -> None:
    old = git(repository, "rev-parse", "v1").decode().strip()
    log = tmp_path / "trace.jsonl"
    lines = "".join(
        json.dumps({"id": str(number), "op": "read_file", "args": args}) + "\n"
        for number, args in enumerate([{"path": "a.py"}, {"path": "a.py", "rev": "v1"}])
    )
    run("serve", "--root", str(repository), "--log", str(log), text=lines)
    run("serve", "--root", str(repository), "--log", str(log), "--rev", "v1", text=lines[: lines.index("\n") + 1])
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [event.get("rev") for event in events if event["event"] == "session"] == [None, old]
    assert [event["summary"].get("rev") for event in events if event["event"] == "response"] == [None, old, old]


def test_a_trace_of_a_commit_is_replayed_there_and_its_claims_are_looked_up_in_another(
    repository: Path, tmp_path: Path
) -> None:
    log, trace = str(tmp_path / "trace.jsonl"), ["--root", str(repository)]
    asked = [{"path": "a.py", "end_line": 2, "rev": "main"}, {"path": "a.py", "end_line": 2, "rev": "v1"}]
    lines = "".join(
        json.dumps({"id": str(number), "op": "read_file", "args": args}) + "\n" for number, args in enumerate(asked)
    )
    run("serve", *trace, "--log", log, "--rev", "main", "--revs", "all", text=lines)
    claim: dict[str, Any] = {"ts": "2026-01-05T12:00:00Z", "event": "claim", "claim": "two returns 2", "evidence": []}
    new = git(repository, "rev-parse", "main").decode().strip()
    text = "def two():\n    return 2"
    digest = hashlib.sha256(text.encode()).hexdigest()
    claim["evidence"] = [{"path": "a.py", "start_line": 1, "end_line": 2, "sha256": digest, "rev": new}]
    with open(log, "a") as file:
        file.write(json.dumps(claim) + "\n")
    # The branch moves on, and the lines move down.
    (repository / "a.py").write_text("import os\n\n" + text + "\n")
    commit(repository)
    replayed = json.loads(run("trace", "replay", log, *trace, "--format", "json").stdout)
    assert (replayed["same"], replayed["differs"]) == (2, 0)
    for flags, verdict, moved_to in (
        ([], "ok", None),
        (["--rev", "main"], "moved", [3, 4]),
        (["--rev", "v1"], "changed", None),
        (["--rev", new], "ok", None),
    ):
        found = json.loads(run("trace", "verify", log, *trace, *flags, "--format", "json").stdout)
        evidence = found["claims"][0]["evidence"][0]
        assert (evidence["verdict"], evidence["moved_to"]) == (verdict, moved_to), flags
        assert evidence["provenance"] == "delivered"
    assert run("trace", "verify", log, *trace, "--rev", "none").returncode == 2


def test_claims_are_sealed_at_the_commit_that_they_name(repository: Path, tmp_path: Path) -> None:
    log, root = str(tmp_path / "trace.jsonl"), ["--root", str(repository)]
    old = git(repository, "rev-parse", "v1").decode().strip()
    asked = [{"path": "a.py", "end_line": 2, "rev": "v1"}, {"path": "b.txt"}]
    lines = "".join(
        json.dumps({"id": str(number), "op": "read_file", "args": args}) + "\n" for number, args in enumerate(asked)
    )
    run("serve", *root, "--log", log, text=lines)

    def claim(*words: str) -> dict[str, Any]:
        return dict(json.loads(run("trace", "claim", "c", *words, *root, "--log", log, "--format", "json").stdout))

    digest = hashlib.sha256(b"def one():\n    return 1").hexdigest()
    event = claim("a.py:1-2", "--symbol", "a.py:one", "--defines", "one", "--rev", "v1")
    assert [(one["sha256"], one["rev"]) for one in event["evidence"]] == [(digest, old)] * 2
    assert event["search"] == {"type": "defines", "name": "one", "rev": old}
    # The same lines of the working tree, and what v1 does not have, were not delivered from there.
    claim("a.py:1-2")
    claim("b.txt:1")
    git(repository, "tag", "-d", "v1")
    found = json.loads(run("trace", "verify", log, *root, "--format", "json").stdout)["claims"]
    assert [[(one["verdict"], one["provenance"]) for one in each["evidence"]] for each in found] == [
        [("ok", "delivered")] * 2,
        [("ok", "not_delivered")],
        [("ok", "delivered")],
    ]
    assert found[0]["search"]["verdict"] == "ok"
    later = json.loads(run("trace", "verify", log, *root, "--rev", "main", "--format", "json").stdout)["claims"]
    assert [one["verdict"] for one in later[0]["evidence"]] == ["changed", "missing"]
    assert later[0]["search"]["verdict"] == "fails"
    for words, message in (
        (["b.txt:1", "--rev", old], "nothing is at this path"),
        (["a.py:1", "--rev", "none"], "'none'"),
        (["a.py:1", "--rev", "--help"], "'--help'"),
    ):
        done = run("trace", "claim", "c", *words[:-2], f"--rev={words[-1]}", *root, "--log", log)
        assert done.returncode == 2
        assert message in done.stderr


def test_a_server_that_serves_no_commit_opens_no_repository_outside_its_root(tmp_path: Path) -> None:
    folder = init(tmp_path / "r")
    commit(folder)
    git(folder, "worktree", "add", "-q", str(tmp_path / "w"), "-b", "other")
    with ExitStack() as stack:
        tree = stack.enter_context(Tree(str(tmp_path / "w")))
        for revs, count in (([], 0), (["other"], 2)):
            assert len(find_repositories(Namespace(rev=None, revs=revs), tree, stack).descriptors) == count


@pytest.mark.parametrize("names", [["a"], ["a", "b"]])
def test_commits_of_named_roots_are_served_traced_and_verified(
    repository: Path, tmp_path: Path, names: list[str]
) -> None:
    log = str(tmp_path / "t.jsonl")
    git(tmp_path, "clone", "-q", str(repository), "b")
    roots = [part for name in names for part in ("--root", f"{name}={repository if name == 'a' else tmp_path / 'b'}")]
    asked = [
        {"id": "1", "op": "read_file", "args": {"path": "a/a.py", "end_line": 1}},
        {"id": "2", "op": "grep", "args": {"pattern": "def", "rev": ",".join(f"{name}=main" for name in names)}},
    ]
    text = "".join(json.dumps(one) + "\n" for one in asked)
    done = run("serve", *roots, "--rev", "v1", "--revs", "main", "--log", log, text=text)
    read, found = (json.loads(line)["result"] for line in done.stdout.splitlines())
    assert read["text"] == "def one():"
    assert [hit["text"] for hit in found["hits"]] == ["def two():"] * len(names)
    old, new = (git(repository, "rev-parse", name).decode().strip() for name in ("v1", "main"))
    assert read["rev"] == ",".join(f"{name}={old}" for name in names)
    assert found["rev"] == ",".join(f"{name}={new}" for name in names)
    claimed = run("trace", "claim", "it is one", "a/a.py:1", "--log", log, *roots, "--rev", "v1")
    assert claimed.returncode == 0, claimed.stderr
    replayed = run("trace", "replay", log, *roots)
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
    assert run("trace", "verify", log, *roots).returncode == 0
    assert run("trace", "verify", log, *roots, "--rev", "main").returncode == 1
