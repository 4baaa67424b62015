"""Killed at any step, or out of space, a run leaves a ledger that the next run completes to the same bytes."""

import gc
import hashlib
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import warnings
from pathlib import Path

import pytest

from normalizer.cli import INTERRUPTED, main
from normalizer.ledger.buckets import BUCKET_BYTES, chunks, split
from normalizer.ledger.commit_tree import MOST_FILES
from normalizer.ledger.line_format import FILES
from normalizer.ledger.reader import reading
from tests.normalizer.batch.test_run import made, tree
from tests.support.bundles import bundle, entry
from tests.support.watching import Stopped

STEPS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "shutil.rmtree"}
NEVER = 100
USUAL = BUCKET_BYTES, MOST_FILES
STRIDE = int(os.environ.get("KILL_STRIDE", "5"))
"""Every how manyth step is tried in a ledger of many buckets; KILL_STRIDE=1 for all of them."""


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


@pytest.fixture(scope="module", params=[None, 1200], ids=["one bucket", "many buckets"])
def buckets(request):
    """How long a bucket may be; None: as long as it is, which is one bucket in these tests."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param is not None:
            patch.setattr("normalizer.ledger.buckets.BUCKET_BYTES", request.param)
            patch.setattr("normalizer.ledger.commit_tree.MOST_FILES", 4)
        yield request.param


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory, buckets):
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


def test_killed_at_any_step_the_next_run_completes_it(two_runs, buckets, tmp_path):
    first, second, before, after = two_runs
    killed_whole = refused = 0
    main([*first, str(tmp_path / "before")])
    for steps in itertools.count(1, STRIDE if buckets else 1):
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
    assert killed_whole > (2 if buckets else 5)
    assert refused > (0 if buckets else 2)


def test_a_recovery_that_is_killed_at_any_step_is_completed_by_the_next(two_runs, buckets, tmp_path):
    first, second, _, after = two_runs
    cut = tmp_path / "cut"
    stride = STRIDE if buckets else 1
    for step in itertools.count(1, stride):
        shutil.rmtree(cut, ignore_errors=True)
        main([*first, str(cut)])
        assert in_a_child([*second, str(cut)], cut, kill_at=step) == -signal.SIGKILL
        if (cut / ".staging" / "COMMIT").exists():
            break
    for step in itertools.count(1, stride):
        ledger = tmp_path / str(step)
        shutil.copytree(cut, ledger)
        status = in_a_child(["repair", str(ledger)], ledger, kill_at=step)
        if status != -signal.SIGKILL:
            assert status == NEVER
            break
        assert main(["repair", str(ledger)]) == 0
        assert tree(ledger) == after, f"killed at step {step}"
    assert step > 15


def test_interrupted_at_any_step_nothing_has_changed_or_all_of_it(two_runs, buckets, tmp_path):
    first, second, before, after = two_runs
    main([*first, str(tmp_path / "before")])
    ends = []
    for step in itertools.count(1, STRIDE if buckets else 1):
        ledger = tmp_path / str(step)
        shutil.copytree(tmp_path / "before", ledger)
        status = in_a_child([*second, str(ledger)], ledger, kill_at=step, by=signal.SIGINT)
        if status == NEVER + 1:
            break
        ends.append(status)
        assert tree(ledger) == {1: after, INTERRUPTED: before}[status], f"interrupted at step {step}"
        assert not (ledger / ".staging").exists(), f"interrupted at step {step}"
    assert ends == sorted(ends, reverse=True)
    assert ends.count(INTERRUPTED) > (3 if buckets else 20)
    assert ends.count(1) > (3 if buckets else 5)


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
def test_without_space_nothing_changes_and_the_next_run_completes_it(two_runs, buckets, limit, tmp_path):
    first, second, before, after = two_runs
    ledger = tmp_path / "ledger"
    main([*first, str(ledger)])
    fits = buckets is not None and limit > buckets  # no file of small buckets is longer
    assert in_a_child([*second, str(ledger)], ledger, kill_at=0, limit=limit) == (1 if fits else 2)
    assert tree(ledger) == (after if fits else before)
    main([*second, str(ledger)])
    assert tree(ledger) == after


@pytest.fixture
def usual_buckets(monkeypatch):
    """The buckets that workers have, whatever fixtures of this module have set in this process."""
    monkeypatch.setattr("normalizer.ledger.buckets.BUCKET_BYTES", USUAL[0])
    monkeypatch.setattr("normalizer.ledger.commit_tree.MOST_FILES", USUAL[1])


@pytest.mark.usefixtures("usual_buckets")
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


@pytest.mark.usefixtures("usual_buckets")
def test_a_worker_in_the_middle_of_a_bundle_does_not_write_where_the_next_run_does(tmp_path):
    [path] = made(tmp_path / "b", 1)
    ledger = tmp_path / "ledger"
    command = ["normalize", str(path), "--jobs", "2", "--out", str(ledger)]
    run = Stopped(tmp_path / "stopped", command, below="/.staging/incoming/", suffix=".json", mode="r")
    run.wait_for(1)
    run.kill()
    assert list(ledger.glob(".staging/incoming/*/*.json"))
    assert list(ledger.glob(".staging/parts/*")) == []


def make_buckets_small(patch: pytest.MonkeyPatch) -> None:
    """Only in this process; workers have the usual ones."""
    patch.setattr("normalizer.ledger.buckets.BUCKET_BYTES", 6000)
    patch.setattr("normalizer.ledger.commit_tree.MOST_FILES", 8)


@pytest.fixture
def crowd(whole_crowd, monkeypatch):
    make_buckets_small(monkeypatch)
    return whole_crowd


@pytest.fixture(scope="module")
def whole_crowd(tmp_path_factory):
    """Many small bundles and two that are longer than a bucket, in small buckets; and the ledger that one run makes."""
    folder = tmp_path_factory.mktemp("crowd")
    paths = made(folder / "b", 40)
    for number, entries in enumerate((30, 60)):
        document = bundle(*(entry(f"{item}.pdf") for item in range(entries)), run_id=f"long-{number}")
        document["per_file_scores"][7]["scores"]["A_structure"] = 9
        paths.append(folder / f"long-{number}.json")
        paths[-1].write_text(json.dumps(document))
    with pytest.MonkeyPatch.context() as patch:
        make_buckets_small(patch)
        assert main(["normalize", *map(str, paths), "--out", str(folder / "ledger")]) == 1
    return paths, folder / "ledger"


def test_long_bundles_and_full_buckets_are_split(crowd):
    _, ledger = crowd
    names = {path.name for path in ledger.iterdir()}
    assert {"headers.jsonl", "records.jsonl"} & names == set()
    assert [name for name in names if re.fullmatch(r"records-[0-9a-f]{64}\.[0-9]+\.jsonl", name)]
    assert [name for name in names if re.fullmatch(r"records-[0-9a-f]\.jsonl", name)]
    assert [name for name in names if re.fullmatch(r"commit-[0-9a-f]\.json", name)]
    assert main(["audit", str(ledger)]) == 0


@pytest.mark.parametrize("seed", range(int(os.environ.get("LEDGER_ORDERS", "3"))))
def test_the_set_of_bundles_decides_every_byte_of_every_bucket(crowd, seed, tmp_path):
    paths, expected = crowd
    chance = random.Random(seed)
    shuffled = chance.sample(paths, len(paths))
    ledger = tmp_path / "ledger"
    for start, stop in itertools.pairwise(sorted({0, *chance.sample(range(1, 42), 4), len(shuffled)})):
        assert main(["normalize", *map(str, shuffled[start:stop]), "--out", str(ledger)]) in (0, 1)
    assert tree(ledger) == tree(expected)
    # Under other settings lines get longer, buckets are split, and come together again on the way back.
    manifest = ledger.parent / "manifest.json"
    manifest.write_text(json.dumps({"files": [{"file": f"{item}.pdf"} for item in range(chance.randint(1, 60))]}))
    other = ["normalize", *map(str, shuffled[: chance.randint(1, 42)]), "--replace", "--out", str(ledger)]
    assert main([*other, "--manifest", str(manifest)]) in (0, 1)
    assert main(["audit", str(ledger)]) == 0
    assert main(other) in (0, 1)
    assert tree(ledger) == tree(expected)


def test_a_run_writes_only_the_buckets_of_its_bundles(crowd, tmp_path):
    paths, expected = crowd
    ledger = tmp_path / "ledger"
    main(["normalize", *map(str, paths[:-3]), *map(str, paths[-2:]), "--out", str(ledger)])
    before = {path.name: path.stat().st_ino for path in ledger.glob("*.json*")}
    assert main(["normalize", str(paths[-3]), "--out", str(ledger)]) in (0, 1)
    after = {path.name: path.stat().st_ino for path in ledger.glob("*.json*")}
    changed = {name for name, inode in after.items() if before.get(name) != inode}
    assert tree(ledger) == tree(expected)
    sha256 = hashlib.sha256(paths[-3].read_bytes()).hexdigest()
    assert "commit.json" in changed
    for name in changed - {"commit.json"}:
        prefix = name.partition("-")[2].partition(".")[0]
        assert sha256.startswith(prefix[:1]), name
    assert len(changed) < len(after) / 2


def test_in_many_buckets_one_flipped_byte_is_found_and_the_ledger_rebuilt(crowd, tmp_path, capsys):
    _, whole = crowd
    ledger = tmp_path / "ledger"
    shutil.copytree(whole, ledger)
    chance = random.Random(7)
    for path in chance.sample(sorted(ledger.glob("*.json*")), 8):
        data = bytearray(path.read_bytes())
        if not data:
            continue
        data[chance.randrange(len(data))] ^= chance.randrange(1, 256)
        path.write_bytes(bytes(data))
        assert main(["audit", str(ledger), "--no-verify"]) == 1
        assert path.name in capsys.readouterr().err
        assert main(["aggregate", str(ledger)]) == 2
        assert path.name in capsys.readouterr().err
        shutil.copy(whole / path.name, path)
    flip = max(ledger.glob("headers-*.jsonl"), key=lambda path: path.stat().st_size)
    flip.write_bytes(flip.read_bytes().replace(b'"rubric"', b'"rubrik"', 1))
    assert main(["repair", str(ledger), "--out", str(tmp_path / "rebuilt")]) == 0
    assert tree(tmp_path / "rebuilt") == tree(whole)


def test_the_records_of_a_bundle_are_read_from_its_buckets_only(crowd):
    paths, ledger = crowd
    sha256 = hashlib.sha256(paths[-1].read_bytes()).hexdigest()
    with reading(ledger) as opened:
        for other in (path for kind in ("records", "headers") for path in opened.paths(kind)):
            if sha256[:1] not in other.name.partition("-")[2][:1]:
                other.rename(other.with_suffix(".away"))
        try:
            lines = list(opened.lines_of("records", sha256))
            assert [json.loads(line)["source"]["index"] for line in lines] == [n for n in range(60) if n != 7]
        finally:
            for away in ledger.glob("*.away"):
                away.rename(away.with_suffix(".jsonl"))


@pytest.mark.usefixtures("usual_buckets")
def test_thousands_of_small_and_a_few_huge_bundles_give_one_ledger_whatever_happens_on_the_way(tmp_path, capsys):
    """In any order, in several runs, one of them killed; the files are those of the plain definition, and guarded."""
    (tmp_path / "b").mkdir()
    sizes = [1 + number % 3 for number in range(2000)] + [6000, 6000, 12000]
    for number, size in enumerate(sizes):
        odd = [{"surplus": 1} if item % 500 == 499 else {} for item in range(size)]
        entries = (entry(f"{number}-{item}.pdf", **more) for item, more in enumerate(odd))
        (tmp_path / "b" / f"{number}.json").write_text(json.dumps(bundle(*entries, run_id=f"r{number}")))
    whole, ledger = tmp_path / "whole", tmp_path / "ledger"
    assert main(["normalize", str(tmp_path / "b"), "--out", str(whole)]) == 1
    with reading(whole) as opened:
        for kind in FILES:
            plain = dict(split(kind, "", chunks(kind, opened.lines(kind))))
            assert plain == {place: (whole / place.name).read_bytes() for place in opened.places(kind)}
    assert len(list(whole.glob("records-*.jsonl"))) > 16

    chance = random.Random(5)
    paths = chance.sample(sorted((tmp_path / "b").iterdir()), len(sizes))
    for start, stop in ((0, 700), (700, 1500)):
        names = tmp_path / f"part-{start}"
        names.mkdir()
        for path in paths[start:stop]:
            (names / path.name).hardlink_to(path)
    assert main(["normalize", str(tmp_path / "part-0"), "--out", str(ledger)]) in (0, 1)
    command = ["normalize", str(tmp_path / "part-700"), "--jobs", "2", "--out", str(ledger)]
    run = Stopped(tmp_path / "stopped", command, below="/.staging/new/", suffix=".jsonl", mode="w")
    run.wait_for(1)
    run.kill()
    assert main(["normalize", str(tmp_path / "b"), "--jobs", "2", "--out", str(ledger)]) == 1
    assert tree(ledger) == tree(whole)

    for path in chance.sample(sorted(path for path in ledger.glob("*.json*") if path.stat().st_size), 6):
        data = bytearray(path.read_bytes())
        data[chance.randrange(len(data))] ^= chance.randrange(1, 256)
        path.write_bytes(bytes(data))
        capsys.readouterr()
        assert main(["aggregate", str(ledger)]) == 2
        assert path.name in capsys.readouterr().err
        shutil.copy(whole / path.name, path)
