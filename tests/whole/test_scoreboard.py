"""The scoreboard: tasks of public sets, trees of their commits, and a table that follows from the records."""

import json
import subprocess
import sys

import pytest

from tools.scoreboard.checkout import Checkout, Unavailable
from tools.scoreboard.contestants import Answer, compute_ndcg, score_answer
from tools.scoreboard.tasks import read_issues, read_questions

PATCH = "diff --git a/src/store.py b/src/store.py\n--- a/src/store.py\n+++ b/src/store.py\n"


def git(folder, *arguments):
    identity = ("-c", "user.name=n", "-c", "user.email=e")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def data(tmp_path):
    """A set of one question about a repository of two commits, and one issue."""
    source = tmp_path / "repositories" / "owner+lib"
    (source / "src").mkdir(parents=True)
    git(source, "init", "-q")
    (source / "src" / "store.py").write_text("class Store:\n    def close(self): ...\n")
    (source / "src" / "other.py").write_text("close = 1\n")
    git(source, "add", ".")
    git(source, "commit", "-qm", "first")
    first = git(source, "rev-parse", "HEAD")
    (source / "src" / "other.py").unlink()
    (source / "src" / "new.py").write_text("x = 1\n")
    git(source, "add", ".")
    git(source, "commit", "-qm", "second")
    folder = tmp_path / "semble" / "benchmarks"
    (folder / "annotations").mkdir(parents=True)
    spec = {"name": "lib", "url": "https://host/owner/lib.git", "revision": first, "benchmark_root": "src"}
    (folder / "repos.json").write_text(json.dumps([spec]))
    question = {"query": "where is the store closed", "relevant": ["src/store.py"], "secondary": []}
    (folder / "annotations" / "lib.json").write_text(json.dumps([question]))
    issue = {"instance_id": "i-1", "repo": "owner/none", "base_commit": first, "problem_statement": "x", "patch": PATCH}
    (tmp_path / "swebench_lite.jsonl").write_text(json.dumps(issue) + "\n")
    return tmp_path


def test_tasks_name_the_right_files_from_where_is_searched(data):
    (question,) = read_questions(data)
    assert (question.right, question.root, question.part) == (frozenset({"store.py"}), "src", "held out")
    (issue,) = read_issues(data)
    assert (issue.right, issue.set) == (frozenset({"src/store.py"}), "issues")


def test_a_checkout_has_the_files_of_the_commit_it_was_asked_for_last(data, tmp_path):
    source, target = data / "repositories" / "owner+lib", tmp_path / "target"
    checkout = Checkout(source, target)
    for commit, other in (("HEAD", "new.py"), ("HEAD~1", "other.py"), ("HEAD", "new.py")):
        checkout.write(commit)
        assert sorted(path.name for path in target.rglob("*.py")) == sorted(["store.py", other])
    with pytest.raises(Unavailable):
        checkout.write("0" * 40)
    checkout.close()


def test_right_files_count_the_more_the_earlier_they_come():
    assert compute_ndcg(["a", "b"], {"a"}) == 1
    assert compute_ndcg(["b", "a"], {"a"}) == pytest.approx(0.6309, abs=1e-4)
    assert compute_ndcg(["b"], {"a"}) == 0
    scores = score_answer(Answer(["b", "a"], [10, 20]), {"a"}, 1.5)
    assert (scores["acc_1"], scores["acc_5"], scores["tokens"]) == (0, 1, 20)
    assert score_answer(Answer(["b"], [10]), {"a"}, 1.5)["tokens"] is None


def test_the_table_follows_from_the_records_and_tasks_without_a_repository_are_counted(data, tmp_path):
    command = [sys.executable, "-m", "tools.scoreboard.run", "--data", str(data), "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = [line.split(" | ") for line in done.stdout.splitlines()]
    assert {row[2].split()[0]: row[4] for row in rows[2:] if len(row) > 4} == {
        "BM25,": "1.000",
        "ripgrep": "1.000",
        "zeno": "1.000",
    }
    assert "left out: 1 tasks" in done.stderr
    assert "0 mismatch" in done.stderr
