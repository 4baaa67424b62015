"""Another process that looks through files changes no answer, whatever becomes of it, and leaves nothing behind."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import Pipe
from tests.support.patience import PATIENCE
from tests.zeno.cache.test_warm_corpus import EDIT, GREP, edit

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2, reason="there is only one core"
)


@given(edits=st.lists(EDIT, min_size=4, max_size=20), asked=st.lists(GREP, min_size=1, max_size=3))
@settings(max_examples=40)
def test_whole_answers_with_their_metrics_are_the_same_with_help(differences, edits, asked):
    with TemporaryDirectory() as folder:
        for change in edits:
            edit(Path(folder), *change)
        # The first of all files matches, and stands in the way until the other process has looked at all others.
        (Path(folder) / " first").write_bytes(b"foo ab 42 kiss K\n")
        # Some are larger than a beginning, than the buffer, than may be searched; some are not to be read.
        (Path(folder) / "long").write_bytes(b"ab\n" * 4000)
        (Path(folder) / "long without").write_bytes(b"x\n" * 6000)
        (Path(folder) / "longer").write_bytes(b"abcdefgh" * 9000 + b"\r\nkiss")
        (Path(folder) / "binary").write_bytes(b"foo\0ab")
        (Path(folder) / "sealed").write_bytes(b"foo")
        (Path(folder) / "sealed").chmod(0)
        assert differences(folder, [("grep", {"max_files": 100, **args}) for args in asked]) == []


def run(script: str) -> list[Any]:
    """What a script with one thread prints."""
    setting = """
        import json, os, signal
        from zeno.search.fork_helper import ForkHelper
        me = os.getpid()
        # A helper that finds a number for each item, and those numbers: None for items that are left to this process.
        def helping(count, look, part):
            return ForkHelper(count, lambda items: list(map(look, items)), part)
        def told(helper):
            for items, sent in helper.results():
                yield from [None] * len(items) if sent is None else sent
        def ended():
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        def left():
            try:
                os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                return True
            except ChildProcessError:
                return False
        before = os.listdir("/proc/self/fd")
        """
    closing = """
        assert not left()
        assert os.listdir("/proc/self/fd") == before
        """
    text = "".join(map(textwrap.dedent, (setting, script, closing)))
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_what_one_process_takes_the_other_does_not():
    for count, part in ((0, 2), (1, 1), (2, 3), (10, 3), (9, 3), (300, 7), (5000, 1), (8000, 64)):
        (told,) = run(f"""
            with helping({count}, lambda index: index * 7, {part}) as halves:
                numbers = told(halves)
                first = [next(numbers)] if {count} else []
                if left():
                    ended()
                print(json.dumps([*first, *numbers]))
            """)
        mine = told.count(None)
        assert mine <= max(part, 2)
        assert told == [None] * mine + [index * 7 for index in range(mine, count)]


def test_more_is_told_than_a_pipe_holds():
    (told,) = run("""
        import select
        source, sink = os.pipe()
        def look(index):
            # The other process waits in its first part until this one has taken its own.
            if index == 49000:
                os.read(source, 1)
            return index
        with helping(50000, look, 1000) as halves:
            numbers = told(halves)
            first = next(numbers)
            os.write(sink, b".")
            # It has taken all the others once it begins to tell, and cannot end before somebody reads.
            select.select([halves._copy.descriptor], [], [])
            print(json.dumps([first, *numbers]))
        os.close(source)
        os.close(sink)
        """)
    assert told == [None] * 1000 + list(range(1000, 50000))


def test_what_a_process_does_not_tell_is_looked_at_here():
    deaths = {
        "killed": "os.kill(os.getpid(), signal.SIGKILL)",
        "ended by somebody": "os.kill(os.getpid(), signal.SIGTERM)",
        "interrupted": "os.kill(os.getpid(), signal.SIGINT)",
        "failed": "1 / 0",
        "left": "exit()",
    }
    for death in deaths.values():
        (told,) = run(f"""
            signal.signal(signal.SIGTERM, lambda *_: print("the server's handler"))
            def look(index):
                if index == 30:
                    {death}
                return 1
            with helping(100, look, 5) as halves:
                ended()
                print(json.dumps(list(told(halves))))
            """)
        assert told == [None] * 100


def test_who_stops_early_ends_the_other_process():
    run("""
        import time
        with helping(100, lambda index: time.sleep(600), 1) as halves:
            assert next(told(halves)) is None
            assert left()
        """)


@pytest.mark.parametrize("moment", ["at once", "later"])
def test_a_copy_does_not_outlive_a_server_that_is_killed(moment):
    script = f"""
        import os, signal, time
        from zeno.search.fork_helper import ForkHelper
        fork = os.fork
        def doomed():
            process = fork()
            if process and {moment == "at once"}:
                os.kill(os.getpid(), signal.SIGKILL)
            # The copy begins only now, and never meets its parent.
            time.sleep(0.1)
            return process
        os.fork = doomed
        with ForkHelper(2000, lambda items: time.sleep(1) or b"", 1):
            os.kill(os.getpid(), signal.SIGKILL)
        """
    # Its output ends when the last process that has it does: a copy that lived on would go on for half an hour.
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGKILL, b"", b"")


def test_a_signal_to_the_other_process_does_not_stop_the_server():
    run("""
        source, sink = os.pipe()
        os.set_blocking(source, False)
        os.set_blocking(sink, False)
        signal.signal(signal.SIGTERM, lambda *_: None)
        signal.set_wakeup_fd(sink)
        with helping(100, lambda index: os.kill(os.getpid(), signal.SIGTERM) or 1, 1) as halves:
            ended()
            list(told(halves))
        try:
            assert os.read(source, 1) == b"never"
        except BlockingIOError:
            pass
        signal.set_wakeup_fd(-1)
        os.close(source)
        os.close(sink)
        """)


def test_a_system_without_room_for_another_process_does_without():
    (told,) = run("""
        import resource
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, before)) + 2, most))
        with helping(3, lambda index: index, 1) as halves:
            print(json.dumps(list(told(halves))))
        """)
    assert told == [None] * 3


def test_where_nobody_waits_for_children_the_system_does():
    (told,) = run("""
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        with helping(300, lambda index: index, 1) as halves:
            told = list(told(halves))
        print(json.dumps(all(said in (None, index) for index, said in enumerate(told)) and len(told)))
        """)
    assert told == 300


def test_a_process_with_threads_makes_no_copy_of_itself():
    run("""
        import threading
        from zeno.search.fork_helper import possible
        assert possible()
        stop = threading.Event()
        thread = threading.Thread(target=stop.wait)
        thread.start()
        assert not possible()
        stop.set()
        thread.join()
        """)


def test_a_server_on_many_files_answers_the_same_with_and_without_a_second_core(root, pipe):
    for number in range(1500):
        folder = root / f"d{number % 30}"
        folder.mkdir(exist_ok=True)
        (folder / f"{number}.txt").write_bytes(b"\0" if number % 50 == 0 else b"word %d\nneedle\n" % number)
    questions: list[dict[str, Any]] = [
        {"pattern": "needle", "max_hits": 5},
        {"pattern": "needle"},
        {"pattern": "word 14"},
        {"pattern": "wor[^ ] 1499", "regex": True},
        {"pattern": "-"},
    ]
    both = Pipe(root, "--no-cache")
    command = [sys.executable, "-m", "zeno", "serve", "--no-cache", "--root", str(root)]
    alone = Pipe(root, command=["taskset", "-c", str(min(os.sched_getaffinity(0))), *command])
    try:
        for args in questions:
            answers = [server.ask("grep", **args) for server in (both, alone)]
            for answer in answers:
                assert answer["result"]["skipped"]["binary"] == 30
                del answer["result"]["metrics"]["time_ms"]
            assert answers[0] == answers[1]
        both.process.send_signal(signal.SIGTERM)
        assert both.close() == (0, b"")
        assert alone.close() == (0, b"")
    finally:
        for server in (both, alone):
            server.process.kill()
