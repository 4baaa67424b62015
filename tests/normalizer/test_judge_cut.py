"""A run that is cut: killed outright, stopped by Ctrl-C, alone on its folder, and watched on a terminal."""

import os
import pty
import resource
import signal
import subprocess
import sys
import time

import pytest

from normalizer.cli import main
from normalizer.errors import UnusableLedger
from normalizer.ledger import locked
from tests.normalizer.judging import COMMAND, Study, bad_endpoint
from tests.patience import PATIENCE, until

SLOW = {f"f{place}.pdf": b"%d\nBEHAVE slow 0.25" % place for place in range(8)}


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


def wait_until(condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.01)


def is_free(folder) -> bool:
    try:
        with locked(folder, "write"):
            return True
    except UnusableLedger:
        return False


def undisturbed(study):
    other = Study(study.folder / "undisturbed", SLOW)
    assert other.command("--jobs", "8") == 0
    return (other.out / "bundle.json").read_bytes()


def test_a_killed_run_goes_on_without_asking_again_what_was_answered(study, monkeypatch):
    one = study(SLOW)
    for target in (1, 4):
        process = start(one, "--jobs", "2")
        wait_until(lambda target=target: answered(one) >= target)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        # A judge that it was just about to start may hold its lock until it is another program.
        until(lambda: is_free(one.out), "the folder is free")
        assert not (one.out / "bundle.json").exists()
    records = {path: path.read_bytes() for path in (one.out / "calls").glob("*-1.json")}
    assert len(records) < len(SLOW)
    # The judges of the killed runs may still be about: calls are told apart by their round.
    monkeypatch.setenv("ROUND", "last")
    assert one.command("--jobs", "2") == 0
    rounds = [line.partition(" ")[0] for line in one.calls.read_text().splitlines()]
    assert rounds.count("last") == len(SLOW) - len(records)
    assert rounds.count("") <= len(records) + 2 * 2  # at most the calls under way were lost, twice
    assert all(path.read_bytes() == data for path, data in records.items())
    assert main(["replay", str(one.out)]) == 0
    bundle = (one.out / "bundle.json").read_bytes()
    assert bundle == undisturbed(one)


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


def test_ctrl_c_lets_the_calls_under_way_end_and_keeps_what_is_done(study):
    one = study(SLOW)
    process = start(one, "--jobs", "2")
    wait_until(lambda: answered(one) >= 1)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert b"the same command goes on there" in error
    assert one.asked == answered(one) < len(SLOW)
    assert one.command("--jobs", "2") == 0
    assert one.asked == len(SLOW)


@pytest.mark.parametrize("signals", [[signal.SIGINT, signal.SIGINT], [signal.SIGTERM]], ids=["twice Ctrl-C", "SIGTERM"])
def test_a_second_ctrl_c_or_a_term_drops_the_calls_under_way(study, signals):
    one = study({"a.pdf": b"BEHAVE slow 60", "b.pdf": b"fine"})
    process = start(one, "--jobs", "2")
    wait_until(lambda: one.out.exists() and answered(one) >= 1 and one.asked == 2)
    begun = time.monotonic()
    for number in signals:
        process.send_signal(number)
        time.sleep(0.2)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert time.monotonic() - begun < 15
    assert answered(one) == 1


def test_ctrl_c_does_not_wait_out_a_long_back_off(study):
    one = study({"a.pdf": b"BEHAVE status 429 9 retry-after=300"})
    with bad_endpoint() as server:
        argv = [sys.executable, "-m", "normalizer", *one.argv("--endpoint", server.url, "--model", "judge-x")]
        environment = {**os.environ, "NO_PROXY": "127.0.0.1"}
        process = subprocess.Popen(argv, stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        wait_until(lambda: len(server.requests) == 1)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert b"stopped: 0 of 1 files" in error


def test_two_runs_do_not_share_a_folder(study, capsys):
    one = study({"a.pdf": b"BEHAVE slow 2.5"})
    process = start(one)
    wait_until(lambda: one.asked == 1)
    assert one.command() == 2
    assert "another run is using" in capsys.readouterr().err
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def small_files_only():
    # Modules that nobody has compiled yet would be left compiled to their beginnings, for everybody.
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


def test_a_disk_that_takes_no_more_stops_the_run_and_says_so(study):
    one = study({f"{place}.pdf": b"%d" % place for place in range(6)})
    # Inputs and documents fit, the first long reply does not.
    (one.artifacts / "0.bin").write_bytes(b"BEHAVE huge")
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
