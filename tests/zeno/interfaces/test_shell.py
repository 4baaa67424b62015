"""The shell, as a person uses it: on a real terminal, with the Tab key, and a history that is there the next time."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.interfaces import sample, zeno
from tests.support.patience import PATIENCE, until
from tests.support.terminal import on_terminal


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return sample(tmp_path / "tree")


class Terminal:
    """A shell on a pseudo-terminal."""

    def __init__(self, root: Path, home: Path) -> None:
        self._master, slave = pty.openpty()
        environment = {**os.environ, "XDG_STATE_HOME": str(home), "TERM": "dumb", "INPUTRC": "/dev/null"}
        environment |= {"COLUMNS": "200", "LINES": "50"}  # wide enough for every line, whoever set them before
        command = zeno("shell", "--root", root)
        self._process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment)
        os.close(slave)
        self.greeting = self.wait_for("zeno> ")

    def type(self, keys: str, until: str) -> str:
        os.write(self._master, keys.encode())
        return self.wait_for(until)

    def wait_for(self, text: str) -> str:
        seen, deadline = "", time.monotonic() + PATIENCE
        while text not in seen:
            ready, _, _ = select.select([self._master], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"waited for {text!r}, saw {seen!r}"
            seen += os.read(self._master, 4096).decode()
        return seen

    def end(self) -> int:
        os.write(self._master, b"quit\n")
        status = self._process.wait(PATIENCE)
        os.close(self._master)
        return status


def test_tab_completes_operations_arguments_and_paths_and_history_stays(root: Path, tmp_path: Path) -> None:
    shell = Terminal(root, tmp_path)
    assert "read_file " in shell.type("rea\t", "read_file ")
    shell.type("sr\t", "src/")
    shell.type("ap\t", "app.py")
    told = shell.type(" end_l\t4\n", "zeno> ")
    assert "end_line=4" in told
    assert "def main():" in told
    shell.type("grep zwei case_sensitive=f\t", "case_sensitive=false")
    assert "zwei" in shell.type("\n", "zeno> ")
    shell.type("grep zwei src/ap\t", "grep zwei src/app.py")
    assert "complete: 1 file" in shell.type("\n", "zeno> ")
    assert shell.end() == 0

    again = Terminal(root, tmp_path)
    assert "grep zwei" in again.type("\x1b[A\x1b[A", "grep zwei src")  # the line before `quit`
    again.type("\n", "zeno> ")
    again.end()
    assert (tmp_path / "zeno" / "history").stat().st_mode & 0o077 == 0


def test_names_that_a_terminal_would_obey_are_no_completions(root: Path, tmp_path: Path) -> None:
    for hostile in ("\x9b31m", "\x1b[31m", "\u202e", "\u2028", "\n", "\U000e0041"):
        (root / f"odd{hostile}.txt").touch()
    (root / "odd\x9b31m").mkdir()
    (root / "odd\x9b31m" / "a.txt").touch()
    (root / "odd-a.txt").touch()
    (root / "odd-b.txt").touch()
    shell = Terminal(root, tmp_path)
    told = shell.type("read_file odd\t\t\t", "odd-b.txt")
    assert "odd-a.txt" in told
    assert not set("\x9b\x1b\u202e\u2028\U000e0041") & set(told)
    shell.type("\x15\n", "zeno> ")
    assert shell.end() == 0


def test_the_shell_reads_the_tree_into_memory_while_nothing_is_typed_and_says_so(root: Path, tmp_path: Path) -> None:
    (root / "many").mkdir()
    for number in range(50):
        (root / "many" / f"{number}.txt").write_text("nothing\n")
    shell = Terminal(root, tmp_path)
    assert "While nothing is typed, the tree is read into memory." in shell.greeting
    # From memory only files that may match are looked at; from disk all of them.
    until(lambda: "files_scanned=1 " in shell.type("grep zwei max_hits=1\n", "zeno> "), "files are searched in memory")
    assert shell.end() == 0


def piped(root: Path, text: str) -> str:
    found = subprocess.run(zeno("shell", "--root", root), input=text, capture_output=True, text=True, timeout=PATIENCE)
    assert (found.returncode, found.stderr) == (0, "")
    return found.stdout


def test_lines_from_a_pipe_are_answered_without_a_prompt(root: Path) -> None:
    told = piped(
        root,
        "read_file src/app.py start_line=4\nread_file README.md\n\nstat paths=src paths=gone\n"
        "grep pattern=def paths=src\n",
    )
    assert "# Sample" in told
    # Text reads on to the end.
    lines = len((root / "src/app.py").read_text().splitlines())
    assert f"[src/app.py: lines 4-{lines} of {lines}]" in told
    assert "src: directory" in told
    assert "gone: " in told
    assert "src/app.py\n4\tdef main():" in told
    assert "zeno>" not in told


def test_what_cannot_be_read_or_done_is_told_and_the_shell_goes_on(root: Path) -> None:
    told = piped(
        root,
        "grep 'x\ngrep x max_hits=many\nnonsense\nread_file gone\nread_file ../x\nhelp nonsense\nhelp peek\nhelp\n",
    )
    assert told.count("cannot read this") == 2
    for expected in (
        "unknown_op",
        "not_found",
        "path_outside_root",
        "no operation is called",
        "head_lines",
        "list_files",
    ):
        assert expected in told


def test_a_file_cannot_command_the_terminal(root: Path) -> None:
    (root / "trap").write_text("red \x1b[31m \x9b0m bell \x07\r\n")
    told = piped(root, "read_file trap\n")
    assert "red \\x1b[31m \\x9b0m bell \\x07" in told
    assert not set("\x1b\x9b\x07") & set(told)


def test_while_the_tree_is_read_into_memory_the_shell_says_so(root: Path, tmp_path: Path) -> None:
    """It says so after a second; here at once, since a sample is read before that."""
    program = (
        "import sys\n"
        "from zeno.interfaces import shell\n"
        "shell.TELLING = -1.0\n"
        f"sys.argv = ['zeno', 'shell', '--root', {str(root)!r}]\n"
        "from zeno.cli.start import run\n"
        "sys.exit(run())\n"
    )
    told = "(reading the tree into memory; ask when you like) zeno> "

    def keys(seen: str) -> bytes | None:
        return b"quit\n" if seen.endswith("\rzeno> ") and seen.count("zeno> ") == 3 else None

    status, seen = on_terminal([sys.executable, "-c", program], keys=keys, XDG_STATE_HOME=str(tmp_path), TERM="dumb")
    assert status == 0
    assert f"\r{told}\r{' ' * len(told)}\r" in seen
