"""Killed at any step, or out of space, a run leaves a ledger that the next run completes to the same bytes."""

import itertools
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from normalizer.cli import main
from tests.normalizer.bundles import bundle, entry
from tests.normalizer.test_ledger import made, tree

STEPS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "shutil.rmtree"}


def in_a_child(
    argv: list[str], folder: Path, kill_at: int, limit: int | None = None, by: signal.Signals = signal.SIGKILL
) -> int:
    """Run the command in a forked process that sends itself a signal before the n-th change below a folder."""
    child = os.fork()
    if child == 0:
        try:
            seen = 0

            def watch(event: str, args: tuple[object, ...]) -> None:
                nonlocal seen
                if event in STEPS and str(folder) in str(args[0]):
                    seen += 1
                    if seen == kill_at:
                        os.kill(os.getpid(), by)

            sys.stderr = open(os.devnull, "w")  # noqa: SIM115
            if limit is not None:
                # A module that nobody has compiled yet would be left compiled to its beginning, for everybody.
                sys.dont_write_bytecode = True
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            sys.addaudithook(watch)
            os._exit(main(argv))
        finally:
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory):
    """A ledger with some bundles, a second run that adds and replaces, and what comes of it undisturbed."""
    folder = tmp_path_factory.mktemp("runs")
    paths = made(folder / "b", 5)
    (folder / "manifest.json").write_text(json.dumps({"files": [{"file": f"{n}.pdf"} for n in range(3)]}))
    first = ["normalize", *map(str, paths[:4]), "--out"]
    second = ["normalize", *map(str, paths[2:]), "--manifest", str(folder / "manifest.json"), "--replace", "--out"]
    main([*first, str(folder / "ledger")])
    before = tree(folder / "ledger")
    main([*second, str(folder / "ledger")])
    return first, second, before, tree(folder / "ledger")


def test_killed_at_any_step_the_next_run_completes_it(two_runs, tmp_path):
    first, second, before, after = two_runs
    steps = killed_whole = 0
    main([*first, str(tmp_path / "before")])
    while True:
        steps += 1
        ledger = tmp_path / str(steps)
        shutil.copytree(tmp_path / "before", ledger)
        status = in_a_child([*second, str(ledger)], ledger, kill_at=steps)
        if status != -signal.SIGKILL:
            assert status == 1
            break
        # Whoever reads it now sees the one state or the other, never a mixture.
        assert main(["audit", str(ledger)]) == 0
        seen = {name: data for name, data in tree(ledger).items() if not name.startswith(".staging")}
        assert seen in (before, after), f"killed at step {steps}"
        killed_whole += seen == after
        main([*second, str(ledger)])
        assert tree(ledger) == after, f"killed at step {steps}"
    assert steps > 40
    assert killed_whole > 5


def test_interrupted_at_any_step_nothing_has_changed_or_all_of_it(two_runs, tmp_path):
    first, second, before, after = two_runs
    main([*first, str(tmp_path / "before")])
    ends = []
    for step in itertools.count(1):
        ledger = tmp_path / str(step)
        shutil.copytree(tmp_path / "before", ledger)
        ends.append(in_a_child([*second, str(ledger)], ledger, kill_at=step, by=signal.SIGINT))
        assert tree(ledger) == {1: after, 2: before}[ends[-1]], f"interrupted at step {step}"
        if ends[-40:] == [1] * 40:
            break
    assert ends == sorted(ends, reverse=True)
    assert ends.count(2) > 20


def test_killed_at_any_step_of_the_first_run_the_next_one_starts_anew(tmp_path):
    paths = [str(path) for path in made(tmp_path / "b", 3)]
    main(["normalize", *paths, "--out", str(tmp_path / "whole")])
    for step in range(1, 200, 3):
        ledger = tmp_path / f"cut-{step}"
        if in_a_child(["normalize", *paths, "--out", str(ledger)], ledger, kill_at=step) != -signal.SIGKILL:
            break
        main(["normalize", *paths, "--out", str(ledger)])
        assert tree(ledger) == tree(tmp_path / "whole"), step
    else:
        pytest.fail("the run never came to its end")


@pytest.mark.parametrize("limit", [0, 100, 400, 700, 1200, 2000, 3000])
def test_without_space_nothing_changes_and_the_next_run_completes_it(two_runs, limit, tmp_path):
    first, second, before, after = two_runs
    ledger = tmp_path / "ledger"
    main([*first, str(ledger)])
    assert in_a_child([*second, str(ledger)], ledger, kill_at=0, limit=limit) == 2
    assert tree(ledger) == before
    main([*second, str(ledger)])
    assert tree(ledger) == after


def test_a_killed_run_takes_its_workers_with_it_and_can_be_completed(tmp_path):
    folder = tmp_path / "b"
    folder.mkdir()
    for number in range(20):
        document = bundle(*(entry(f"{item}.pdf") for item in range(300)), run_id=str(number))
        (folder / f"{number}.json").write_text(json.dumps(document))
    ledger = tmp_path / "ledger"
    command = [sys.executable, "-m", "normalizer", "normalize", str(folder), "--jobs", "2", "--out"]
    run = subprocess.Popen([*command, str(ledger)], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list(ledger.glob(".staging/parts/*")) and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    workers = [int(pid) for pid in Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()]
    run.kill()
    run.wait()
    while any(Path(f"/proc/{pid}/stat").exists() for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [pid for pid in workers if Path(f"/proc/{pid}/stat").exists()] == []
    assert subprocess.run([*command, str(ledger)], stderr=subprocess.DEVNULL).returncode == 0
    assert subprocess.run([*command, str(tmp_path / "whole")], stderr=subprocess.DEVNULL).returncode == 0
    assert tree(ledger) == tree(tmp_path / "whole")


def test_a_worker_in_the_middle_of_a_large_bundle_does_not_write_where_the_next_run_does(tmp_path):
    document = bundle(*(entry(f"{item}.pdf", surplus=item) for item in range(40_000)))
    (tmp_path / "large.json").write_text(json.dumps(document))
    ledger = tmp_path / "ledger"
    command = [sys.executable, "-m", "normalizer", "normalize", str(tmp_path / "large.json"), "--jobs", "2"]
    run = subprocess.Popen([*command, "--out", str(ledger)], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list(ledger.glob(".staging/incoming/*/*.json")) and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(0.8)  # its worker has begun by now, and is not done
    workers = [int(pid) for pid in Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()]
    run.kill()
    run.wait()
    while any(Path(f"/proc/{pid}/stat").exists() for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert list(ledger.glob(".staging/parts/*")) == []
