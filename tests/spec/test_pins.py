"""Locks have pins with hashes and nothing else."""

import shutil

import pytest

from tools import pins
from tools.licences import LOCKS


@pytest.fixture
def locks(tmp_path):
    return shutil.copytree(LOCKS, tmp_path / "locks")


def test_the_locks_have_pins_with_hashes_and_nothing_else():
    assert pins.main() == 0


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://elsewhere.example/simple",
        "--extra-index-url https://elsewhere.example/simple",
        "planted @ https://elsewhere.example/planted.whl",
        "-r other.txt",
        "-e .",
        "planted==1.0",
        "planted==1.0 --hash=sha256:" + "0" * 64,
        "planted>=1.0 \\\n    --hash=sha256:" + "0" * 64,
        "planted==1.0 \\\n    --hash=md5:" + "0" * 32,
        "planted==1.0 \\",
        "# a comment\u2028--index-url https://elsewhere.example/simple",
    ],
)
def test_anything_else_is_noticed(locks, capsys, line):
    lock = locks / "run.txt"
    lock.write_text(lock.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    assert pins.main(locks) == 1
    assert "run.txt line" in capsys.readouterr().err


def test_a_pin_without_its_hashes_is_noticed(locks, capsys):
    lock = locks / "dev.txt"
    kept = [line for line in lock.read_text(encoding="utf-8").splitlines() if not line.startswith("    --hash")]
    lock.write_text("\n".join(kept) + "\n", encoding="utf-8")
    assert pins.main(locks) == 1
    assert "no hash" in capsys.readouterr().err


def test_a_link_and_a_missing_lock_are_noticed(locks, capsys):
    (locks / "run.txt").rename(locks / "elsewhere.txt")
    (locks / "run.txt").symlink_to("elsewhere.txt")
    (locks / "demo.txt").unlink()
    assert pins.main(locks) == 1
    assert capsys.readouterr().err.count("is no regular file") == 2
