"""A second process that walks a part of the tree changes no answer, and a walk that stops early ends it."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.patience import PATIENCE
from tests.zeno.cache.test_warm_corpus import EDIT, REQUEST, edit

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2, reason="there is only one core"
)


@given(edits=st.lists(EDIT, min_size=4, max_size=20), asked=st.lists(REQUEST, min_size=1, max_size=4))
@settings(max_examples=60)
def test_answers_are_the_same_with_help(differences, edits, asked):
    with TemporaryDirectory() as folder:
        for change in edits:
            edit(Path(folder), *change)
        for path in ("d-d/deep/er/and/deep/er", "e/.hidden/x", "f/g"):
            (Path(folder) / path).mkdir(parents=True, exist_ok=True)
            (Path(folder) / path / "x.py").write_bytes(b"foo ab\n")
        os.mkdir(os.fsencode(folder) + b"/f/\xff not utf-8")
        Path(os.fsdecode(os.fsencode(folder) + b"/f/\xff not utf-8/a\n\x01b")).write_bytes(b"foo ab\n")
        (Path(folder) / "f" / "out").symlink_to("/etc")
        (Path(folder) / "sealed").mkdir()
        (Path(folder) / "sealed" / "x").write_bytes(b"foo")
        (Path(folder) / "sealed").chmod(0)
        found = differences(folder, asked)
        (Path(folder) / "sealed").chmod(0o700)
        assert found == []


@pytest.fixture
def wide(root):
    """A tree of 400 directories with a file in each."""
    for number in range(400):
        (root / f"{number % 20:02}" / f"{number:03}").mkdir(parents=True)
        (root / f"{number % 20:02}" / f"{number:03}" / "x").write_text("x")
    return root


def run(script: str, root: Path) -> str:
    """What a script with one thread prints about the names that one and two processes find."""
    setting = f"""
        import os
        from zeno.files.tree import Tree
        from unittest.mock import patch
        from zeno.search import corpus, fork_helper
        from zeno.files.rules import NameRules
        from zeno.search.corpus import walk_shared
        rules = NameRules()
        tree = Tree({str(root)!r})
        before = os.listdir("/proc/self/fd")
        forks, fork = [], os.fork
        def counted():
            forks.append(fork())
            return forks[-1]
        os.fork = counted
        """
    text = textwrap.dedent(setting) + textwrap.dedent(script)
    text += "assert os.listdir('/proc/self/fd') == before\n"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def test_many_directories_are_walked_by_two_processes_in_the_order_of_one(wide):
    script = """
        with patch.object(corpus, "SHARED_DIRECTORIES", 1000):
            alone = list(walk_shared(tree, rules, ""))
        assert not forks
        shared = list(walk_shared(tree, rules, ""))
        assert len(forks) == 1
        assert shared == alone
        print(sum(len(paths) for paths, _ in shared))
        """
    assert run(script, wide) == "400\n"


def test_a_lone_directory_is_divided_between_the_processes(tmp_path):
    for number in range(300):
        for folder in ("s/t/u", "w"):
            (tmp_path / folder / str(number)).mkdir(parents=True)
    script = """
        counts = []
        class Noted(corpus.ForkHelper):
            def __init__(self, count, *rest):
                counts.append(count)
                super().__init__(count, *rest)
        with patch.object(corpus, "ForkHelper", Noted):
            list(walk_shared(tree, rules, ""))
        print(counts)
        """
    assert run(script, tmp_path) == "[600]\n"


def test_a_second_process_that_dies_changes_nothing(wide):
    script = """
        import signal
        with patch.object(corpus, "SHARED_DIRECTORIES", 1000):
            alone = list(walk_shared(tree, rules, ""))
        def doomed():
            process = fork()
            if process == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return process
        os.fork = doomed
        print(list(walk_shared(tree, rules, "")) == alone)
        """
    assert run(script, wide) == "True\n"


def test_who_stops_early_ends_the_other_process(wide):
    script = """
        walked = walk_shared(tree, rules, "")
        print(next(walked).paths)
        walked.close()
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            print("no child")
        """
    assert run(script, wide) == "['00/000/x']\nno child\n"
