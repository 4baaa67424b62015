"""The work of a run in parts that know nothing of each other: taking bundles in, and normalizing a bucket of them.

Parts share nothing but the staging folder, so that they may be done here or in several processes. A worker ends when
its pipe closes or the run is gone, so that none outlives it, however that ends.
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

from normalizer.batch.intake import opened
from normalizer.batch.part_files import PartFiles
from normalizer.documents.settings import LIMITS, Settings
from normalizer.errors import CannotRun
from normalizer.ledger import transaction
from normalizer.ledger.reader import STAGING
from normalizer.screening.bundle import too_large
from normalizer.screening.pipeline import Outcome, audited, normalize, of_rows
from normalizer.screening.reasons import Reason
from normalizer.screening.row_pipeline import normalize_rows

_MOST_SHOWN = 10
_MOST_NAMES = 10_000
"""Names of inputs that a run remembers, so that memory does not grow with their number."""
Part = TypeVar("Part", contravariant=True)
Answer = TypeVar("Answer", covariant=True)
_ENDED = "a worker process ended early: was it killed, or is memory short? Try fewer --jobs"


@dataclass(frozen=True, slots=True)
class Done:
    """Counts of what became of some bundles."""

    taken: int = 0
    duplicates: int = 0
    known: int = 0
    """Number of duplicates that the ledger had before the run."""
    read: int = 0
    audited: int = 0
    valid: int = 0
    invalid: int = 0
    unreadable: int = 0
    """Entries that are rows which could not be read. In the ledger they are among the INVALID ones."""
    unselected: int = 0
    """Rows that hold no entry, by declaration of the dialect."""
    flawed: bool = False
    shown: tuple[tuple[str, bool, tuple[Reason, ...]], ...] = ()
    """The first bundles with reasons: hash, whether it could be read, and its first reasons."""
    names: tuple[tuple[str, str], ...] = ()
    """Hashes of bundles taken in, with the names of their inputs."""

    def __add__(self, other: "Done") -> "Done":
        numbers = {
            name: getattr(self, name) + getattr(other, name)
            for name in (
                "taken",
                "duplicates",
                "known",
                "read",
                "audited",
                "valid",
                "invalid",
                "unreadable",
                "unselected",
            )
        }
        shown = tuple(sorted(self.shown + other.shown, key=_by_weight)[:_MOST_SHOWN])
        names = (self.names + other.names)[:_MOST_NAMES] if other.names else self.names
        return Done(**numbers, flawed=self.flawed or other.flawed, shown=shown, names=names)


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


@dataclass(frozen=True, slots=True)
class Bench:
    """Where the work is done, and under what."""

    folder: Path
    settings: Settings
    replace: bool

    def do(self, part: Take | Normalize) -> Done:
        """Do one part."""
        if isinstance(part, Normalize):
            return _normalize(self.folder / STAGING, part.bucket, self.settings)
        done = Done()
        for source in part.sources:
            with opened(source) as stream:
                taken, sha256 = transaction.take(stream, self.folder, replace=self.replace)
            names = ((sha256, source),) if taken == "new" else ()
            done += Done(taken=1, duplicates=taken != "new", known=taken == "known", names=names)
        return done


class Workplace(Protocol[Part, Answer]):
    """Does parts of some work, in this process or, sent there, in another."""

    @property
    def folder(self) -> Path:
        """The ledger that is worked on."""

    def do(self, part: Part, /) -> Answer:
        """Do one part."""


class Team(Generic[Part, Answer]):
    """One process or several; with one, everything happens here."""

    def __init__(self, jobs: int, bench: Workplace[Part, Answer]) -> None:
        self._jobs, self._bench = jobs, bench
        self._workers: dict[Connection, BaseProcess] = {}
        self._idle: list[Connection] = []
        self._busy: set[Connection] = set()
        """With something to do, or not yet begun."""
        self._beginning: set[Connection] = set()

    def each(self, parts: Iterable[Part]) -> Iterator[Answer]:
        """Do the parts; yields as they are done, in no particular order."""
        if self._jobs == 1:
            yield from map(self._bench.do, parts)
            return
        for part in parts:
            if len(self._workers) < self._jobs:
                self._hire()
            yield from self._answers(timeout=0)
            # Bundles are taken in here while nobody is free, as nobody is at the beginning: to start a process takes
            # longer than to take in many bundles. Standard input only this process has.
            if part == STANDARD_INPUT or (not self._idle and isinstance(part, Take)):
                yield self._bench.do(part)
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

    def _answers(self, timeout: float | None = None) -> Iterator[Answer]:
        """Collect answers of workers, which are idle afterwards."""
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

    def _hire(self) -> None:
        context = multiprocessing.get_context("spawn")  # a forked child would keep its siblings' pipes open
        ours, theirs = context.Pipe()
        worker = context.Process(target=_serve, args=(theirs, self._bench), daemon=True)
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

    def __enter__(self) -> "Team[Part, Answer]":
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


def _serve(connection: Connection, bench: Workplace[Any, Any]) -> None:
    """Work in a process: receive parts, send answers, until the pipe closes. The first answer says it has begun."""
    threading.Thread(target=_end_with_the_run, daemon=True).start()
    try:
        connection.send(Done())
        while True:
            part = connection.recv()
            try:
                answer = bench.do(part)
            except CannotRun as error:
                answer = str(error)
            except OSError as error:
                answer = f"cannot write to {bench.folder}: {error.strerror or error}"
            connection.send(answer)
    except (EOFError, ConnectionError):
        # The run is done, be it that it did not even read the first answer, which resets the connection. Every file is
        # closed. To take an interpreter apart takes time, for which the run would wait.
        os._exit(0)


def _end_with_the_run() -> None:
    """End the worker when the run has ended, so that it writes nothing where the next run makes its files."""
    run = multiprocessing.parent_process()
    if run is not None:
        run.join()
        os._exit(0)


def _normalize(root: Path, bucket: str, settings: Settings) -> Done:
    done = Done()
    folder = root / "incoming" / bucket
    parts = PartFiles(root / "parts", bucket)
    # What a bundle leaves behind has no cycles: the collector would only walk it again and again.
    gc.disable()
    try:
        for name in sorted(os.listdir(folder)):
            outcome = outcome_of(folder / name, settings, parts)
            parts.write_all(outcome.files())
            done += _done(outcome)
    finally:
        parts.close()
        gc.enable()
    return done


def _done(outcome: Outcome) -> Done:
    read = outcome.audit == ""
    return Done(
        read=read,
        audited=not read,
        valid=outcome.valid_count,
        invalid=outcome.invalid_count - outcome.unreadable_count,
        unreadable=outcome.unreadable_count,
        unselected=outcome.unselected_count,
        flawed=outcome.flawed,
        shown=((outcome.sha256, read, outcome.reasons),) if outcome.reasons else (),
    )


def outcome_of(path: Path, settings: Settings, parts: PartFiles) -> Outcome:
    """Normalize the bundle in a file that is named by its hash. Records of a container's rows go to `parts`."""
    size = path.stat().st_size
    if settings.reads_rows:
        with path.open("rb") as stream:
            return of_rows(path.stem, size, normalize_rows(stream, path.stem, settings, parts), settings)
    if size > LIMITS["max_bundle_bytes"]:
        return audited(path.stem, size, too_large(size), settings)  # not read: it may not fit into memory
    return normalize(path.read_bytes(), settings)
