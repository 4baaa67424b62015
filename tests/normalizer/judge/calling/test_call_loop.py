"""A run that is cut: killed outright, stopped by Ctrl-C, alone on its folder, and watched on a terminal."""

import itertools
import os
import pty
import resource
import signal
import subprocess
import sys
import time

import pytest

from normalizer.cli import INTERRUPTED, main
from normalizer.errors import UnusableLedger
from normalizer.ledger.reader import hold_lock
from tests.normalizer.ledger.test_transaction import NEVER, in_a_child
from tests.support.judging import COMMAND, GOOD, PDF, Study, bad_endpoint
from tests.support.patience import PATIENCE, until


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Makes studies whose judge notes its calls."""
    monkeypatch.setenv("CALLS", str(tmp_path / "calls.log"))
    (tmp_path / "calls.log").touch()
    return lambda contents: Study(tmp_path, contents)


def start(study, *flags, **streams):
    command = [sys.executable, "-m", "normalizer", *study.argv("--command", COMMAND, *flags)]
    return subprocess.Popen(command, **{"stderr": subprocess.PIPE, "stdout": subprocess.PIPE, **streams})


def answered(study):
    return len(list((study.out / "calls").glob("*.json")))


def wait_for_answers(study, count):
    until(lambda: answered(study) == count, f"{count} files are judged")


def is_free(folder) -> bool:
    try:
        with hold_lock(folder, "write"):
            return True
    except UnusableLedger:
        return False


def gated(folder, *gates):
    """Files whose judging ends only when their gate is there: a number for each, or None for at once."""
    return {
        f"f{place}.pdf": b"%d\n" % place + (b"" if gate is None else f"BEHAVE until {folder / gate}".encode())
        for place, gate in enumerate(gates)
    }


def test_a_killed_run_goes_on_without_asking_again_what_was_answered(study, tmp_path, monkeypatch):
    files = gated(tmp_path, None, None, "second", "second", "last", "last", "last", "last")
    one = study(files)
    for done, gate in ((2, "second"), (4, "last")):
        process = start(one, "--jobs", "2")
        wait_for_answers(one, done)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        # A judge that it was just about to start may hold its lock until it is another program.
        until(lambda: is_free(one.out), "the folder is free")
        assert not (one.out / "bundle.json").exists()
        (tmp_path / gate).touch()
    records = {path: path.read_bytes() for path in (one.out / "calls").glob("*-1.json")}
    assert len(records) == 4
    # The judges of the killed runs may still be about: calls are told apart by their round.
    monkeypatch.setenv("ROUND", "last")
    assert one.command("--jobs", "2") == 0
    rounds = [line.partition(" ")[0] for line in one.calls.read_text().splitlines()]
    assert rounds.count("last") == len(files) - len(records)
    assert rounds.count("") <= len(records) + 2 * 2  # at most the calls under way were lost, twice
    assert all(path.read_bytes() == data for path, data in records.items())
    assert main(["judge", "--replay", str(one.out)]) == 0
    undisturbed = Study(one.folder / "undisturbed", files)
    assert undisturbed.command("--jobs", "8") == 0
    assert (one.out / "bundle.json").read_bytes() == (undisturbed.out / "bundle.json").read_bytes()


@pytest.mark.parametrize(
    "left", [[".run.json.part"], ["manifest.json", "rubric.json", "inputs/0000.json", "inputs/9999.json"]]
)
def test_a_run_cut_before_its_first_call_begins_anew(study, left):
    one = study({"a.pdf": b"An answer."})
    for name in left:
        (one.out / name).parent.mkdir(parents=True, exist_ok=True)
        (one.out / name).write_bytes(b"half")
    assert one.command() == 0
    assert not (one.out / "inputs" / "9999.json").exists()
    assert not list(one.out.rglob("*.part"))


def test_a_reply_without_its_record_was_not_answered(study):
    one = study({"a.pdf": b"An answer."})
    assert one.command() == 0
    (one.out / "calls" / "0000-1.json").unlink()
    (one.out / "bundle.json").unlink()
    (one.out / "calls" / "0000-1.reply").write_bytes(b"hal")
    assert one.command() == 0
    assert one.asked == 2


def stop(process):
    """Press Ctrl-C, and wait until the run has heard it: two that come together are one to it."""
    process.send_signal(signal.SIGINT)
    return process.stderr.readline()


def test_ctrl_c_lets_the_calls_under_way_end_and_keeps_what_is_done(study, tmp_path):
    one = study(gated(tmp_path, None, *["gate"] * 7))
    process = start(one, "--jobs", "2")
    wait_for_answers(one, 1)
    assert stop(process) == b"stopping: 2 calls are under way; Ctrl-C again drops them\n"
    assert answered(one) == 1
    (tmp_path / "gate").touch()
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGINT
    assert b"stopped: 3 of 8 files have a usable reply; the same command goes on there" in error
    assert one.asked == answered(one) == 3
    assert one.command("--jobs", "2") == 0
    assert one.asked == 8


@pytest.mark.parametrize("signals", [[signal.SIGINT, signal.SIGINT], [signal.SIGTERM]], ids=["twice Ctrl-C", "SIGTERM"])
def test_a_second_ctrl_c_or_a_term_drops_the_calls_under_way(study, tmp_path, signals):
    one = study(gated(tmp_path, "never", None))
    process = start(one, "--jobs", "2")
    until(lambda: answered(one) == 1 and one.asked == 2, "one is judged, one is being judged")
    for _ in signals[1:]:
        assert stop(process) == b"stopping: 1 call is under way; Ctrl-C again drops them\n"
    process.send_signal(signals[-1])
    process.communicate(timeout=PATIENCE)  # the judge itself would be there for longer
    assert process.returncode == (2 if signals == [signal.SIGTERM] else -signal.SIGINT)
    assert answered(one) == 1


@pytest.mark.parametrize(("by", "stride"), [(signal.SIGINT, 1), (signal.SIGTERM, 3)], ids=["Ctrl-C", "SIGTERM"])
def test_stopped_at_any_step_the_same_command_goes_on_and_asks_nothing_twice(study, tmp_path, by, stride):
    one = study({"a.pdf": b"An answer.", "b.pdf": PDF})
    (tmp_path / "judge.sh").write_text(f"cat > /dev/null\necho asked >> {one.calls}\necho '{GOOD}'\n")
    flags = ("--command", f"sh {tmp_path}/judge.sh", "--jobs", "1")
    assert one.judge(*flags) == 0
    whole = (one.out / "bundle.json").read_bytes()
    ends = []
    for step in itertools.count(1, stride):
        one.out = tmp_path / f"stopped-{step}"
        status = in_a_child(one.argv(*flags), one.out, kill_at=step, by=by)
        if status == NEVER:
            break
        ends.append(status)
        answers, asked = answered(one), one.asked
        if status != 0:
            assert status in (2, INTERRUPTED, -by), f"stopped at step {step}"
            assert one.judge(*flags) == 0
        assert (one.out / "bundle.json").read_bytes() == whole, f"stopped at step {step}"
        assert one.asked - asked == 2 - answers, f"stopped at step {step}"
        assert list(one.out.rglob("*.part")) == []
    assert len(ends) - ends.count(0) > 20 // stride


def test_ctrl_c_does_not_wait_out_a_long_back_off(study):
    one = study({"a.pdf": b"BEHAVE status 429 9 retry-after=300"})
    with bad_endpoint() as server:
        argv = [sys.executable, "-m", "normalizer", *one.argv("--endpoint", server.url, "--model", "judge-x")]
        process = subprocess.Popen(argv, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        until(lambda: len(server.requests) == 1, "the endpoint is asked")
        time.sleep(0.3)  # it waits by now, or will not begin to
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGINT
    assert b"stopped: 0 of 1 files" in error


def test_two_runs_do_not_share_a_folder(study, tmp_path, capsys):
    one = study(gated(tmp_path, "gate"))
    process = start(one)
    until(lambda: one.asked == 1, "the judge is asked")
    assert one.command() == 2
    assert "another run is using" in capsys.readouterr().err
    (tmp_path / "gate").touch()
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def small_files_only():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


def test_a_disk_that_takes_no_more_stops_the_run_and_says_so(study, monkeypatch):
    one = study({f"{place}.pdf": b"%d" % place for place in range(6)})
    # Inputs and documents fit, the first long reply does not.
    (one.artifacts / "0.bin").write_bytes(b"BEHAVE huge")
    # Python would cut the modules that it caches, too, and leave them so for everybody.
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    process = start(one, "--jobs", "1", preexec_fn=small_files_only)
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert b"cannot write to" in error
    assert b"Traceback" not in error
    assert one.asked == 1


def test_progress_with_the_time_left_is_shown_on_a_terminal_and_only_there(study):
    one = study({f"f{place}.pdf": b"%d\nBEHAVE slow 0.1" % place for place in range(4)})
    primary, secondary = pty.openpty()
    process = start(one, "--jobs", "1", stderr=secondary)
    os.close(secondary)
    shown = b""
    while True:
        try:
            block = os.read(primary, 4096)
        except OSError:
            break
        if not block:
            break
        shown += block
    os.close(primary)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert b"2 of 4 judged, about" in shown
    assert b" left" in shown
    assert b"judged" not in out
    again = study({"f.pdf": b"x"})
    again.out = one.folder / "elsewhere"
    process = start(again)
    _, error = process.communicate(timeout=PATIENCE)
    assert b"judged" not in error
