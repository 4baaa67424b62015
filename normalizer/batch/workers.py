"""Tasks of a run, done in this process or in several: take bundles in, normalize a bucket of them, merge its lines.

They share nothing but the staging folder. A worker ends when its pipe closes or the run has ended: none outlives it.
"""

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from normalizer.batch.intake import ProgressCallback, open_bundle, open_watched, take
from normalizer.documents.settings import Settings
from normalizer.errors import CannotRun
from normalizer.ledger.bucket_merge import MergeTask, merge_bucket
from normalizer.ledger.reader import STAGING
from normalizer.screening.pipeline import BundleOutcome, PartFiles, normalize_file
from normalizer.screening.reasons import Reason

_MOST_SHOWN = 10
_MOST_NAMES = 10_000
"""Names of inputs that a run remembers; the limit bounds its memory."""
Task = TypeVar("Task", contravariant=True)
TaskResult = TypeVar("TaskResult", covariant=True)
_ENDED = "a worker process ended early: was it killed, or is memory short? Try fewer --jobs"


@dataclass(frozen=True, slots=True)
class BundleCounts:
    """Counts of bundles by their outcome."""

    taken: int = 0
    duplicates: int = 0
    known: int = 0
    """Number of duplicates that the ledger had before the run."""
    read: int = 0
    unreadable_bundles: int = 0
    valid: int = 0
    invalid: int = 0
    unreadable_rows: int = 0
    """Entries that are rows which could not be read. In the ledger they are among the INVALID ones."""
    unselected: int = 0
    """Rows that hold no entry, by declaration of the dialect."""
    flawed: bool = False
    codes: frozenset[str] = frozenset()
    """The codes of the first reasons of entries and bundles."""
    shown: tuple[tuple[str, bool, tuple[Reason, ...]], ...] = ()
    """The first bundles with reasons: hash, whether it could be read, and its first reasons."""
    names: tuple[tuple[str, str], ...] = ()
    """Hashes of bundles taken in, with the names of their inputs."""

    def __add__(self, other: "BundleCounts") -> "BundleCounts":
        shown = self.shown
        if other.shown:
            shown = tuple(sorted(self.shown + other.shown, key=_by_weight)[:_MOST_SHOWN])
        names = (self.names + other.names)[:_MOST_NAMES] if other.names else self.names
        return BundleCounts(
            taken=self.taken + other.taken,
            duplicates=self.duplicates + other.duplicates,
            known=self.known + other.known,
            read=self.read + other.read,
            unreadable_bundles=self.unreadable_bundles + other.unreadable_bundles,
            valid=self.valid + other.valid,
            invalid=self.invalid + other.invalid,
            unreadable_rows=self.unreadable_rows + other.unreadable_rows,
            unselected=self.unselected + other.unselected,
            flawed=self.flawed or other.flawed,
            codes=self.codes | other.codes,
            shown=shown,
            names=names,
        )


def _by_weight(shown: tuple[str, bool, tuple[Reason, ...]]) -> tuple[bool, str]:
    """Bundles that could not be read come first, then by hash."""
    return shown[1], shown[0]


class Take(NamedTuple):
    """Bundles to copy into the staging folder."""

    sources: list[str]


STANDARD_INPUT = Take(["-"])


class Normalize(NamedTuple):
    """A bucket of the staging folder to make lines from."""

    bucket: str


Work = Take | Normalize | MergeTask


@dataclass(frozen=True, slots=True)
class TaskRunner:
    """Runs tasks in the staging folder of one ledger, under the settings of one run."""

    folder: Path
    settings: Settings
    replace: bool
    progress: ProgressCallback | None = None
    """Told how much of a large file is read; None in another process."""

    def do(self, part: Work) -> Any:
        """Run one task. Returns `BundleCounts`, or `Merged` for a MergeTask."""
        if isinstance(part, MergeTask):
            return merge_bucket(self.folder, part, replace=self.replace)
        if isinstance(part, Normalize):
            return _normalize(self.folder / STAGING, part.bucket, self.settings, self.progress)
        done = BundleCounts()
        for source in part.sources:
            with open_bundle(source) as stream:
                taken, sha256 = take(stream, self.folder, replace=self.replace)
            names = ((sha256, source),) if taken == "new" else ()
            done += BundleCounts(taken=1, duplicates=taken != "new", known=taken == "known", names=names)
        return done


class Runner(Protocol[Task, TaskResult]):
    """Runs tasks, in this process or, after pickling, in another."""

    @property
    def folder(self) -> Path:
        """The ledger that the tasks change."""

    def do(self, part: Task, /) -> TaskResult:
        """Run one task."""


class WorkerPool(Generic[Task, TaskResult]):
    """One process or several; with one, every task runs in this process."""

    def __init__(self, jobs: int, runner: Runner[Task, TaskResult]) -> None:
        self._jobs, self._runner = jobs, runner
        self._workers: dict[Connection, BaseProcess] = {}
        self._idle: list[Connection] = []
        self._busy: set[Connection] = set()
        """Workers that have a task or have not reported their start."""
        self._beginning: set[Connection] = set()

    def each(self, parts: Iterable[Task]) -> Iterator[TaskResult]:
        """Run the tasks; yields their results as they finish, in no particular order."""
        if self._jobs == 1:
            yield from map(self._runner.do, parts)
            return
        for part in parts:
            if len(self._workers) < self._jobs:
                self._start_worker()
            yield from self._answers(timeout=0)
            # While no worker is free, take bundles in here: starting a process takes longer than taking in many
            # bundles. Only this process has the standard input.
            if part == STANDARD_INPUT or (not self._idle and isinstance(part, Take)):
                yield self._runner.do(part)
                continue
            while not self._idle:
                yield from self._answers()
            connection = self._idle.pop()
            self._busy.add(connection)
            try:
                connection.send(part)
            except OSError:
                raise CannotRun(_ENDED) from None
        while any(connection not in self._beginning for connection in self._busy):
            yield from self._answers()

    def _answers(self, timeout: float | None = None) -> Iterator[TaskResult]:
        """Receive the results of workers, which are idle afterwards."""
        for connection in wait(list(self._busy), timeout):
            if not isinstance(connection, Connection):
                continue
            answer = _answer(connection)
            self._busy.remove(connection)
            self._idle.append(connection)
            if connection in self._beginning:
                self._beginning.remove(connection)
            else:
                yield answer

    def _start_worker(self) -> None:
        context = multiprocessing.get_context("spawn")  # a forked child would keep its siblings' pipes open
        ours, theirs = context.Pipe()
        worker = context.Process(target=_serve, args=(theirs, self._runner), daemon=True)
        # An interrupt from the terminal is for the run, which ends its workers; they start with SIGINT blocked.
        resource_tracker.ensure_running()  # which the first start would do, and hear interrupts again afterwards
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            worker.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
        self._workers[ours] = worker
        self._busy.add(ours)
        self._beginning.add(ours)

    def __enter__(self) -> "WorkerPool[Task, TaskResult]":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection, worker in self._workers.items():
            connection.close()
            if kind is not None:
                worker.terminate()
            worker.join()


def _answer(connection: Connection) -> Any:
    try:
        answer = connection.recv()
    except (EOFError, OSError):
        raise CannotRun(_ENDED) from None
    if isinstance(answer, str):
        raise CannotRun(answer)
    return answer


def _serve(connection: Connection, runner: Runner[Any, Any]) -> None:
    """Work in a process: receive tasks and send results until the pipe closes. The first message reports the start."""
    threading.Thread(target=_end_with_the_run, daemon=True).start()
    try:
        connection.send(BundleCounts())
        while True:
            part = connection.recv()
            try:
                answer = runner.do(part)
            except CannotRun as error:
                answer = str(error)
            except OSError as error:
                answer = f"cannot write to {runner.folder}: {error.strerror or error}"
            connection.send(answer)
    except (EOFError, ConnectionError):
        # The run has ended, or closed the pipe before it read the first message. All files are closed; exit at once,
        # because the run waits for it.
        os._exit(0)


def _end_with_the_run() -> None:
    """End the worker when the run has ended, so that it writes nothing where the next run makes its files."""
    run = multiprocessing.parent_process()
    if run is not None:
        run.join()
        os._exit(0)


def _normalize(root: Path, bucket: str, settings: Settings, progress: ProgressCallback | None) -> BundleCounts:
    done = BundleCounts()
    folder = root / "incoming" / bucket
    parts = PartFiles(root / "parts", bucket)
    # Outcomes have no reference cycles, so collecting garbage would only cost time.
    gc.disable()
    try:
        for name in sorted(os.listdir(folder)):
            outcome = outcome_of(folder / name, settings, parts, progress)
            parts.write_all(outcome.files())
            done += _count_outcome(outcome)
    finally:
        parts.close()
        gc.enable()
    return done


def _count_outcome(outcome: BundleOutcome) -> BundleCounts:
    read = outcome.audit == ""
    return BundleCounts(
        read=read,
        unreadable_bundles=not read,
        valid=outcome.valid_count,
        invalid=outcome.invalid_count - outcome.unreadable_count,
        unreadable_rows=outcome.unreadable_count,
        unselected=outcome.unselected_count,
        flawed=outcome.flawed,
        codes=frozenset(reason.code for reason in outcome.reasons),
        shown=((outcome.sha256, read, outcome.reasons),) if outcome.reasons else (),
    )


def outcome_of(
    path: Path, settings: Settings, parts: PartFiles, progress: ProgressCallback | None = None
) -> BundleOutcome:
    """Normalize the bundle in a file that is named by its hash. Its records go to `parts`.

    `progress` is told how many bytes of a large file are read.
    """
    size = path.stat().st_size
    with open_watched(path, size, progress) as stream:
        return normalize_file(stream, path.stem, size, settings, parts)
