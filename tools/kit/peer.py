"""A server process and a conversation with it. Nothing waits for ever: a server that hangs is reported and ended."""

import itertools
import json
import os
import selectors
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Self

from tools.kit.trees import Site
from tools.kit.vectors import Change, Vector

START_LIMIT = 60
"""Seconds that a server may take to start, whatever an answer may take."""

FLAGS = "{flags}"
"""The word of a command that stands for the flags a vector asks for."""

OUR_SERVER = f"{shlex.quote(sys.executable)} -m zeno serve --root {{root}} {{flags}}"

# Root reads every file whatever its permissions. Without these two capabilities (DAC_OVERRIDE, DAC_READ_SEARCH) it is
# held to them like anyone else. The bounding set is what a program started by root gets.
_AS_ANYONE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if any(libc.prctl(24, capability, 0, 0, 0) for capability in (1, 2)):
    sys.exit("cannot drop capabilities")
try:
    os.execvp(sys.argv[1], sys.argv[1:])
except OSError as error:
    sys.exit(f"cannot start {sys.argv[1]!r}: {error.strerror}")
"""


class NoServer(Exception):
    """The command does not start a server that answers; the message says what happened."""


class Trouble(Exception):
    """The server stopped answering in the middle of a vector; the message says how."""


class Peer:
    """A running server over one tree. `flags` stand where the command has the word {flags}."""

    def __init__(self, command: str, site: Site, time_limit: float, flags: Sequence[str] = ()) -> None:
        self._time_limit = time_limit
        self._numbers = itertools.count(1)
        try:
            split = shlex.split(command)
            words = [each for word in split for each in (flags if word == FLAGS else [_filled(word, site)])]
        except ValueError as error:
            raise NoServer(f"cannot read the command {command!r}: {error}") from None
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        if permissions_hold() and os.geteuid() == 0:
            words = [sys.executable, "-c", _AS_ANYONE, *words]
        try:
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr, bufsize=0
            )
        except (OSError, ValueError) as error:
            self._stderr.close()
            raise NoServer(f"cannot start {command!r}: {error}") from None
        self._held = b""
        self._source, self._sink = self._pipes()

    def _pipes(self) -> tuple[int, int]:
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise NoServer("the process has no pipes")
        for pipe in (process.stdin, process.stdout):
            os.set_blocking(pipe.fileno(), False)
        return process.stdout.fileno(), process.stdin.fileno()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the server: close its input, and kill it if it does not end."""
        process = self._process
        if process.stdin:
            process.stdin.close()
        try:
            process.wait(min(self._time_limit, 5))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()
        self._stderr.close()

    def check(self) -> None:
        """Ask something small and wait for the server to be there, so that no vector pays for its start."""
        try:
            self._ask(b"", max(START_LIMIT, self._time_limit))
        except Trouble as trouble:
            raise NoServer(str(trouble)) from None

    def ask(self, payload: bytes) -> list[bytes]:
        """The answers to some lines.

        A harmless request with an id of our own is sent after them: whatever comes before its answer is an answer to
        the lines, so that too few and too many are seen alike, without waiting.
        """
        return self._ask(payload, self._time_limit)

    def _ask(self, payload: bytes, time_limit: float) -> list[bytes]:
        mark = f"kit-{next(self._numbers)}"
        question = json.dumps({"id": mark, "op": "stat", "args": {"path": "."}})
        return self._talk(payload + question.encode() + b"\n", mark, time_limit)

    def finish(self, payload: bytes) -> list[bytes]:
        """The answers to some lines after which the input ends; the last line need not end in a line feed."""
        answers = self._talk(payload, None, self._time_limit)
        try:
            status = self._process.wait(self._time_limit)
        except subprocess.TimeoutExpired:
            raise Trouble("the server did not end when its input ended") from None
        if status != 0:
            raise Trouble(f"the server ended with status {status} when its input ended, not 0{self._last_words()}")
        return answers

    def _talk(self, payload: bytes, mark: str | None, time_limit: float) -> list[bytes]:
        """Write all and read all, both at once, up to the answer that carries the mark or to the end."""
        deadline = time.monotonic() + time_limit
        answers: list[bytes] = []
        left = memoryview(payload)
        with selectors.DefaultSelector() as selector:
            selector.register(self._source, selectors.EVENT_READ)
            selector.register(self._sink, selectors.EVENT_WRITE)
            while True:
                ready = selector.select(max(0, deadline - time.monotonic()))
                if not ready:
                    self._process.kill()
                    raise Trouble(f"no answer within {time_limit:g} seconds (after {len(answers)} answers)")
                for key, _ in ready:
                    if key.fd == self._sink:
                        left = self._write(left)
                        if not left:
                            selector.unregister(self._sink)
                            if mark is None and self._process.stdin:
                                self._process.stdin.close()
                        continue
                    chunk = os.read(self._source, 1 << 16)
                    if not chunk:
                        if mark is None and not self._held:
                            return answers
                        raise Trouble(f"the server ended (after {len(answers)} answers){self._last_words()}")
                    *lines, self._held = (self._held + chunk).split(b"\n")
                    for line in lines:
                        if mark is not None and _id(line) == mark:
                            return answers
                        answers.append(line)

    def _write(self, left: memoryview) -> memoryview:
        try:
            return left[os.write(self._sink, left) :] if left else left
        except BrokenPipeError:
            return left[len(left) :]  # the reading side tells what happened

    def _last_words(self) -> str:
        self._stderr.seek(0)
        words = self._stderr.read().decode("utf-8", "replace").strip().splitlines()
        return f"; its last words: {words[-1]}" if words else ""


def _filled(word: str, site: Site) -> str:
    return word.replace("{root}", str(site.root))


def converse(vector: Vector, peer: Peer, site: Site) -> list[bytes]:
    """Play a vector to a server and hand back all its answers."""
    answers: list[bytes] = []
    for step in vector.steps:
        if isinstance(step, Change):
            site.change(step.entries)
        elif vector.input_ends:
            answers += peer.finish(step.payload(site)[:-1])
        else:
            answers += peer.ask(step.payload(site))
    return answers


def missing(vector: Vector, command: str, folder: Path) -> str | None:
    """Why a vector cannot be run with this command on trees in this folder, or None where it can."""
    requires = vector.requires
    if vector.flags and FLAGS not in command:
        return f"the server's command has no {FLAGS} for flags such as {vector.flags[0]}"
    if "permissions" in requires and not permissions_hold():
        return "permissions do not hold for this user"
    if "byte_names" in requires and not _byte_names(folder):
        return "this file system refuses names that are not UTF-8"
    return None


@cache
def permissions_hold() -> bool:
    """Whether a server that we start is held to the permissions of files."""
    with tempfile.NamedTemporaryFile() as file:
        os.chmod(file.name, 0)
        if os.geteuid() != 0:
            return not os.access(file.name, os.R_OK)
        probe = [sys.executable, "-c", f"open({file.name!r})"]
        dropped = subprocess.run([sys.executable, "-c", _AS_ANYONE, *probe], capture_output=True)
        return b"PermissionError" in dropped.stderr


@cache
def _byte_names(folder: Path) -> bool:
    path = os.fsencode(folder) + b"/\xff"
    try:
        os.close(os.open(path, os.O_CREAT))
        os.unlink(path)
    except OSError:
        return False
    return True


def _id(line: bytes) -> object:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value.get("id") if isinstance(value, dict) else None
