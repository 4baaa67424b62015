"""The calls of a run: one for each evaluated file, several at once. Every answer is stored at once.

Calls are independent, so their order and concurrency change no input and no byte of the bundle.
"""

import asyncio
import contextlib
import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from normalizer.errors import CannotRun
from normalizer.judge.calling.calls import CallFailed, Judge
from normalizer.judge.calling.progress import CallProgress
from normalizer.judge.run_folder import Kept, RunFolder


class CallOutcome(NamedTuple):
    """Outcome of the calls of a run."""

    stopped: int
    """The signal that stopped the run before all calls were made; 0 if none did."""
    failures: dict[int, str]
    """Files whose last call brought no answer, and why."""


def list_pending(kept: list[list[Kept]], attempts: int) -> list[int]:
    """Indexes of the files that still need a call."""
    return [
        index
        for index, answers in enumerate(kept)
        if len(answers) < attempts and all(one.reply.members is None for one in answers)
    ]


class CallLoop:
    """Makes the calls that are still to be made. `kept` grows with every answer."""

    def __init__(
        self,
        folder: RunFolder,
        inputs: list[str],
        kept: list[list[Kept]],
        attempts: int,
        progress: CallProgress,
    ) -> None:
        self._folder = folder
        self._inputs = inputs
        self._kept = kept
        self._attempts = attempts
        self._progress = progress
        self._failures: dict[int, str] = {}
        self._hopeless: str | None = None
        self._stopped = 0
        self._running = 0

    async def run(self, judge: Judge, jobs: int) -> CallOutcome:
        """Make calls until every file has its answer, no call can succeed, or the run is stopped."""
        waiting = iter(list_pending(self._kept, self._attempts))
        tasks = [asyncio.create_task(self._work(judge, waiting)) for _ in range(jobs)]
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError):
                loop.add_signal_handler(number, self._stop, judge, tasks, number)
        self._progress.show()
        try:
            results = await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            self._progress.close()
            await judge.close()
        for result in results:
            if isinstance(result, Exception):
                raise result
        if self._hopeless is not None:
            raise CannotRun(f"{self._hopeless}; what was answered is kept, and the same command goes on from there")
        return CallOutcome(self._stopped, self._failures)

    def _stop(self, judge: Judge, tasks: list[asyncio.Task[None]], number: int) -> None:
        """The first Ctrl-C lets the calls under way end, since they are paid for; the second drops them."""
        if number == signal.SIGTERM or self._stopped:
            for task in tasks:
                task.cancel()
        elif self._running:
            under_way = "1 call is" if self._running == 1 else f"{self._running} calls are"
            self._progress.say(f"stopping: {under_way} under way; Ctrl-C again drops them")
        self._stopped = number
        judge.stop()

    @property
    def _has_to_end(self) -> bool:
        """Whether no new call is to be made."""
        return bool(self._stopped) or self._hopeless is not None

    async def _work(self, judge: Judge, waiting: Iterator[int]) -> None:
        for index in waiting:
            if self._has_to_end:
                return
            try:
                await self._file(judge, index)
            except OSError as error:
                # An answer that cannot be kept is lost: ask for no more of them.
                self._hopeless = f"cannot write to {self._folder.path}: {error.strerror}"

    async def _file(self, judge: Judge, index: int) -> None:
        usable = False
        while not usable and len(self._kept[index]) < self._attempts and not self._has_to_end:
            attempt = len(self._kept[index]) + 1
            started_at = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
            begun = time.monotonic()
            self._running += 1
            try:
                answer = await judge.ask(self._folder.input(index))
            except CallFailed as error:
                record = {"problem": error.problem, "started_at": started_at, "tries": list(error.tries)}
                self._folder.fail(index, attempt, record, error.kept)
                self._failures[index] = error.problem
                if error.hopeless:
                    self._hopeless = error.problem
                break
            finally:
                self._running -= 1
            about = {"input_sha256": self._inputs[index], "started_at": started_at}
            kept = self._folder.keep(index, attempt, answer, {**about, "seconds": round(time.monotonic() - begun, 3)})
            self._kept[index].append(kept)
            usable = kept.reply.members is not None
        self._progress.step(usable=usable)
