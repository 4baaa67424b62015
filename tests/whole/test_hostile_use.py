"""What an odd, careless or hostile user does: an answer or one sentence, and nothing of theirs is lost."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pytest

from normalizer.batch.workers import Normalize, Take, TaskRunner, WorkerPool, _serve
from normalizer.cli import main
from normalizer.documents.settings import load
from normalizer.errors import CannotRun
from normalizer.ledger.transaction import Staging
from tests.normalizer.batch.test_run import made, tree
from tests.support.bundles import bundle, entry
from tests.support.patience import PATIENCE, until
from tests.support.studies import refusal

NOT_UTF8 = "\udcff"
"""The byte 255, as Python has it in arguments."""


@pytest.fixture
def ledger(tmp_path):
    folder = tmp_path / "ledger"
    assert main(["normalize", *map(str, made(tmp_path / "b", 3)), "--out", str(folder)]) == 1
    return folder


@pytest.mark.parametrize("where", ["records.jsonl", "bundles/page.html", "page.html", "../ledger/page.html"])
def test_a_report_is_not_written_into_a_ledger(ledger, tmp_path, capsys, where):
    before = tree(ledger)
    assert "only normalize writes" in refusal(capsys, "report", str(ledger), "--out", str(ledger / where))
    flags = ["--out", str(tmp_path / "page.html"), "--tables", str(ledger / where)]
    assert "only normalize writes" in refusal(capsys, "report", str(ledger), *flags)
    assert tree(ledger) == before
    assert not (tmp_path / "page.html").exists()


def test_a_report_is_not_written_into_a_ledger_that_it_is_not_about(ledger, tmp_path, capsys):
    other = tmp_path / "other"
    assert main(["normalize", str(tmp_path / "b"), "--out", str(other)]) == 1
    before = tree(other)
    for flags in (["--out", str(other / "records.jsonl")], ["--out", "page.html", "--tables", str(other)]):
        assert "only normalize writes" in refusal(capsys, "report", str(ledger), *flags)
    assert tree(other) == before


def test_a_table_is_not_written_through_a_link_into_a_ledger(ledger, tmp_path):
    before = tree(ledger)
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "headline.csv").symlink_to(ledger / "records.jsonl")
    (tmp_path / "tables" / "all.tex").hardlink_to(ledger / "headers.jsonl")
    flags = ["--out", str(tmp_path / "page.html"), "--tables", str(tmp_path / "tables")]
    assert main(["report", str(ledger), *flags]) == 0
    assert tree(ledger) == before
    assert (tmp_path / "tables" / "headline.csv").read_text().startswith("row,")


def test_a_ledger_is_not_taken_for_bundles_of_its_own(ledger, tmp_path, capsys):
    before = tree(ledger)
    for name in (str(ledger), f"{ledger}/", f"{tmp_path}/b/../ledger"):
        assert "is the ledger itself" in refusal(capsys, "normalize", name, "--out", str(ledger))
    assert tree(ledger) == before
    assert main(["normalize", str(ledger / "bundles"), "--out", str(ledger)]) == 1  # this is what was meant
    assert tree(ledger) == before


@pytest.mark.parametrize("inner", ["inner", "bundles/inner", "settings"])
def test_no_ledger_is_made_within_another(ledger, tmp_path, capsys, inner):
    before = sorted(ledger.rglob("*"))
    said = refusal(capsys, "normalize", str(tmp_path / "b"), "--out", str(ledger / inner))
    assert "is in the ledger" in said or "something else than a ledger" in said
    assert sorted(ledger.rglob("*")) == before


@pytest.mark.parametrize(
    "flags",
    [["--by", f"factors.{NOT_UTF8}"], ["--where", f"factors.x={NOT_UTF8}"], ["--where", f"factors.{NOT_UTF8}=x"],
     ["--cluster", f"factors.{NOT_UTF8}"]],
)  # fmt: skip
def test_a_name_that_is_not_utf8_is_refused_in_words(ledger, capsys, flags):
    assert "is not UTF-8 text" in refusal(capsys, "aggregate", str(ledger), *flags)


@pytest.mark.parametrize("name", ["a\nb.json", "\x1b[31m.json", f"{NOT_UTF8}.json"])
def test_a_refusal_is_one_line_whatever_a_name_holds(tmp_path, capsys, name):
    said = refusal(capsys, "normalize", name, "--out", str(tmp_path / "ledger"))
    assert said.startswith("normalizer: cannot read ")
    assert said.count("\n") == 1
    assert "\x1b" not in said


def test_a_score_with_ten_thousand_zeros_counts_for_what_it_is(tmp_path, capsys):
    text = json.dumps(bundle(entry("a"), entry("b"))).replace('"A_structure": 1', f'"A_structure": 1.{"0" * 10_000}')
    (tmp_path / "bundle.json").write_text(text)
    assert main(["normalize", str(tmp_path / "bundle.json"), "--out", str(tmp_path / "ledger")]) == 0
    for command in (
        ["aggregate"],
        ["aggregate", "--sensitivity"],
        ["audit", "--claims"],
        ["report", "--out", str(tmp_path / "page.html")],
    ):
        assert main([command[0], str(tmp_path / "ledger"), *command[1:]]) == 0
    assert main(["aggregate", str(tmp_path / "ledger"), "--format", "csv"]) == 0
    assert "group,2,2,2,1,5,0,5,5" in capsys.readouterr().out


@pytest.mark.parametrize("delay", [0, 0.15, 0.3])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupted_run_leaves_the_ledger_as_it_was(ledger, tmp_path, jobs, delay):
    paths = made(tmp_path / "more", 200)
    before = tree(ledger)
    command = [sys.executable, "-m", "normalizer", "normalize", *map(str, paths), "--out", str(ledger), "--jobs", jobs]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    staged = ledger / ".staging" / "incoming"
    until(lambda: staged.exists() or running.poll() is not None, "it takes bundles in")
    time.sleep(delay)  # with two jobs: before, while and after the workers begin
    if running.poll() is None:
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does: everybody gets it
    _, said = running.communicate(timeout=PATIENCE)
    if running.returncode == -signal.SIGINT:
        assert said.decode().splitlines()[-1] == "normalizer: interrupted"
        assert "Traceback" not in said.decode()
        assert tree(ledger) == before
    else:
        assert running.returncode == 1  # all was made when the signal came
        assert not staged.parent.exists()
        assert main(["audit", str(ledger)]) == 0
        assert len(list((ledger / "bundles").glob("*/*"))) == 200


def test_a_worker_that_was_killed_while_it_had_nothing_to_do_is_told(tmp_path):
    folder = tmp_path / "ledger"
    staging = Staging(folder, load(), replace=False)
    staging.begin()
    with WorkerPool(2, TaskRunner(folder, load(), replace=False)) as pool:
        list(pool.each([Take(list(map(str, made(tmp_path / "b", 1))))]))
        work = [Normalize(bucket) for bucket in staging.buckets()]
        for _ in range(20):  # until both have begun and rest
            list(pool.each(work))
            time.sleep(0.05)
        for worker in multiprocessing.active_children():
            worker.kill()
            worker.join()
        with pytest.raises(CannotRun, match="a worker process ended early"):
            list(pool.each(work))


def test_a_worker_whose_run_does_not_listen_any_more_ends_without_a_word(tmp_path, capfd):
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    worker = context.Process(target=_serve, args=(theirs, TaskRunner(tmp_path, load(), replace=False)), daemon=True)
    worker.start()
    theirs.close()
    assert ours.poll(PATIENCE)  # it has begun and says so, but the run is over: this is not read
    ours.close()
    worker.join(PATIENCE)
    assert worker.exitcode == 0
    assert capfd.readouterr().err == ""
