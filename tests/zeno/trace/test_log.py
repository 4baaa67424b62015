"""The file of a trace: whole lines, also behind a line that was torn."""

import errno
import os

import pytest

from zeno.trace.log import Log, seconds_of, timestamp


def test_lines_are_appended_to_those_that_are_there(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"old\n")
    log = Log(str(path))
    log.append(b"new")
    log.close()
    assert path.read_bytes() == b"old\nnew\n"


def test_a_torn_last_line_is_ended_first(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b'{"torn": ')
    log = Log(str(path))
    log.append(b"one")
    log.append(b"two")
    log.close()
    assert path.read_bytes() == b'{"torn": \none\ntwo\n'


def test_a_line_that_was_written_in_part_is_ended_before_the_next(tmp_path, monkeypatch):
    log = Log(str(tmp_path / "log"))
    write = os.write

    def full(descriptor: int, data: bytes) -> int:
        if len(data) < 7:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data[:3])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        log.append(b"lost line")
    monkeypatch.undo()
    log.append(b"whole")
    log.close()
    assert (tmp_path / "log").read_bytes().splitlines()[-1] == b"whole"


def test_the_log_is_readable_by_its_owner_alone(tmp_path):
    Log(str(tmp_path / "log")).close()
    assert (tmp_path / "log").stat().st_mode & 0o077 == 0


def test_a_timestamp_is_read_back_and_a_date_that_does_not_exist_is_none():
    assert timestamp(0) == "1970-01-01T00:00:00Z"
    assert seconds_of(timestamp(1_700_000_000)) == 1_700_000_000
    assert seconds_of("2026-02-31T00:00:00Z") is None
