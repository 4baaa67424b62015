"""Killed at any step, or out of space, a run leaves a ledger that the next run completes to the same bytes."""

import gc
import itertools
import json
import os
import resource
import shutil
import signal
import sys
import warnings
from pathlib import Path

import pytest

from normalizer.cli import INTERRUPTED, main
from tests.normalizer.batch.test_run import made, tree
from tests.support.watching import Stopped

STEPS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "shutil.rmtree"}
NEVER = 100


def named(arg: object) -> str:
    """An argument of a step as text; a descriptor of a folder as that folder's path."""
    try:
        return os.readlink(f"/proc/self/fd/{arg}") if type(arg) is int and arg > 2 else str(arg)
    except OSError:
        return ""


def in_a_child(
    argv: list[str], folder: Path, kill_at: int, limit: int | None = None, by: signal.Signals = signal.SIGKILL
) -> int:
    """Run the command in a forked process that sends itself a signal before the n-th change below a folder.

    The exit status is told, and NEVER added to it where there was no n-th change.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn that the threads are not copied
        child = os.fork()
    if child == 0:
        try:
            gc.callbacks.clear()  # what is raised in one, as in those of this test suite, goes unheard
            seen = 0

            def watch(event: str, args: tuple[object, ...]) -> None:
                nonlocal seen
                if event in STEPS and str(folder) in " ".join(map(named, args)):
                    seen += 1
                    if seen == kill_at:
                        os.kill(os.getpid(), by)

            gc.freeze()  # what the tests before have left is not taken apart here, where its threads are not
            sys.dont_write_bytecode = True  # under a limit, Python would cut the modules that it caches for everybody
            sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - as long as the process
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            sys.addaudithook(watch)
            status = main(argv)
            os._exit(status if seen >= kill_at else NEVER + status)
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
    steps = killed_whole = refused = 0
    main([*first, str(tmp_path / "before")])
    while True:
        steps += 1
        ledger = tmp_path / str(steps)
        shutil.copytree(tmp_path / "before", ledger)
        status = in_a_child([*second, str(ledger)], ledger, kill_at=steps)
        if status != -signal.SIGKILL:
            assert status == NEVER + 1
            break
        # A reader sees the one state or the other, or refuses a mixture of both. It never writes.
        left = tree(ledger)
        cut_while_moving = (ledger / ".staging" / "COMMIT").exists()
        assert main(["audit", str(ledger)]) == (2 if cut_while_moving else 0)
        assert tree(ledger) == left, f"read after step {steps}"
        if cut_while_moving and steps % 2:
            assert main(["repair", str(ledger)]) == 0
        elif cut_while_moving:
            refused += 1
            main([*second, str(ledger)])
        assert main(["audit", str(ledger)]) == 0
        seen = {name: data for name, data in tree(ledger).items() if not name.startswith(".staging")}
        assert seen in (before, after), f"killed at step {steps}"
        killed_whole += seen == after
        main([*second, str(ledger)])
        assert tree(ledger) == after, f"killed at step {steps}"
    assert steps > 40
    assert killed_whole > 5
    assert refused > 2


def test_a_recovery_that_is_killed_at_any_step_is_completed_by_the_next(two_runs, tmp_path):
    first, second, _, after = two_runs
    cut = tmp_path / "cut"
    for step in itertools.count(1):
        shutil.rmtree(cut, ignore_errors=True)
        main([*first, str(cut)])
        assert in_a_child([*second, str(cut)], cut, kill_at=step) == -signal.SIGKILL
        if (cut / ".staging" / "COMMIT").exists():
            break
    for step in itertools.count(1):
        ledger = tmp_path / str(step)
        shutil.copytree(cut, ledger)
        status = in_a_child(["repair", str(ledger)], ledger, kill_at=step)
        if status != -signal.SIGKILL:
            assert status == NEVER
            break
        assert main(["repair", str(ledger)]) == 0
        assert tree(ledger) == after, f"killed at step {step}"
    assert step > 15


def test_interrupted_at_any_step_nothing_has_changed_or_all_of_it(two_runs, tmp_path):
    first, second, before, after = two_runs
    main([*first, str(tmp_path / "before")])
    ends = []
    for step in itertools.count(1):
        ledger = tmp_path / str(step)
        shutil.copytree(tmp_path / "before", ledger)
        status = in_a_child([*second, str(ledger)], ledger, kill_at=step, by=signal.SIGINT)
        if status == NEVER + 1:
            break
        ends.append(status)
        assert tree(ledger) == {1: after, INTERRUPTED: before}[status], f"interrupted at step {step}"
        assert not (ledger / ".staging").exists(), f"interrupted at step {step}"
    assert ends == sorted(ends, reverse=True)
    assert ends.count(INTERRUPTED) > 20
    assert ends.count(1) > 5


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
    paths = made(tmp_path / "b", 20)
    ledger = tmp_path / "ledger"
    command = ["normalize", *map(str, paths), "--jobs", "2", "--out"]
    # Both have written a part of their work by then.
    run = Stopped(tmp_path / "stopped", [*command, str(ledger)], below="/.staging/parts/", suffix=".headers", mode="w")
    run.wait_for(2)
    run.kill()
    assert list(ledger.glob(".staging/parts/*.records"))
    main([*command[:-3], "--out", str(tmp_path / "whole")])
    assert main([*command, str(ledger)]) == 1
    assert tree(ledger) == tree(tmp_path / "whole")


def test_a_worker_in_the_middle_of_a_bundle_does_not_write_where_the_next_run_does(tmp_path):
    [path] = made(tmp_path / "b", 1)
    ledger = tmp_path / "ledger"
    command = ["normalize", str(path), "--jobs", "2", "--out", str(ledger)]
    run = Stopped(tmp_path / "stopped", command, below="/.staging/incoming/", suffix=".json", mode="r")
    run.wait_for(1)
    run.kill()
    assert list(ledger.glob(".staging/incoming/*/*.json"))
    assert list(ledger.glob(".staging/parts/*")) == []
