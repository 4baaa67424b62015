"""A judge that is a program of any language: the input on its standard input, the reply on its standard output.

The program is given nothing else: its arguments are the same for every file. It runs in a session of its own, so that
Ctrl-C does not reach it, and its child processes can be ended with it.
"""

import asyncio
import contextlib
import os
import shlex
import signal

from normalizer.errors import CannotRun
from normalizer.judge.calling.calls import CallFailed
from normalizer.judge.run_folder import JudgeAnswer

_BLOCK = 1 << 16
_MAX_COMPLAINT = 1 << 16
_MAX_SAID = 500
"""Characters of the last line of standard error that are told; all of it is kept."""


class CommandJudge:
    """Starts the command anew for each call."""

    def __init__(self, command: str, *, timeout: float, max_reply: int, withheld: str | None = None) -> None:
        """`withheld` is an environment variable that the program is not given: it holds a key."""
        try:
            self._argv = shlex.split(command)
        except ValueError as error:
            raise CannotRun(f"--command cannot be read: {error}") from None
        if not self._argv:
            raise CannotRun("--command is empty: give a program and its arguments")
        self._environment = {name: value for name, value in os.environ.items() if name != withheld}
        self._timeout = timeout
        self._max_reply = max_reply

    async def ask(self, data: bytes) -> JudgeAnswer:
        """One call. A program that fails has not answered, whatever it wrote."""
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *self._argv,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                start_new_session=True,
                env=self._environment,
            )
        except OSError as error:
            raise CallFailed(f"cannot start {self._argv[0]}: {error.strerror}", hopeless=True) from None
        output, complaint = bytearray(), bytearray()
        ended = False
        try:
            async with asyncio.timeout(self._timeout):
                whole, _, _ = await asyncio.gather(
                    _read(process.stdout, output, self._max_reply, process),
                    _read(process.stderr, complaint, _MAX_COMPLAINT, None),
                    _write(process.stdin, data),
                )
                status = await process.wait()
                ended = True
        except TimeoutError:
            kept = _keep_output(output, complaint)
            raise CallFailed(f"no reply within {self._timeout:g} s (see --timeout)", kept=kept) from None
        finally:
            # Timeout or cancellation: end the program and everything that it started.
            if not ended:
                _kill(process)
                # A daemon that left the session may still hold the pipes, and `wait` waits for their end: close them.
                process._transport.close()  # type: ignore[attr-defined]
                await process.wait()
        if not whole:
            return JudgeAnswer(bytes(output), truncated=True)
        if status != 0:
            said = complaint.decode(errors="replace").strip().rpartition("\n")[2][:_MAX_SAID]
            how = f"ended with status {status}" if status > 0 else f"was ended by signal {-status}"
            raise CallFailed(f"the command {how}{': ' + said if said else ''}", kept=_keep_output(output, complaint))
        return JudgeAnswer(bytes(output))

    def stop(self) -> None:
        """Do nothing: a call has a single try, which is under way."""

    async def close(self) -> None:
        """Do nothing: no process is left running."""


def _keep_output(output: bytearray, complaint: bytearray) -> dict[str, bytes]:
    return {name: bytes(data) for name, data in (("stdout", output), ("stderr", complaint)) if data}


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


async def _read(
    stream: asyncio.StreamReader | None, into: bytearray, limit: int, ended: asyncio.subprocess.Process | None
) -> bool:
    """Read to the end and keep up to the limit; whether that was all. With `ended`, that process is ended beyond it."""
    assert stream is not None  # noqa: S101 - it was asked for
    whole = True
    while block := await stream.read(_BLOCK):
        room = limit - len(into)
        into += block[:room]
        if len(block) > room:
            whole = False
            if ended is not None:
                _kill(ended)
    return whole


async def _write(stream: asyncio.StreamWriter | None, data: bytes) -> None:
    assert stream is not None  # noqa: S101 - it was asked for
    # A judge may answer without reading its whole input.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stream.write(data)
        await stream.drain()
    stream.close()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        await stream.wait_closed()
