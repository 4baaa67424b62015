"""The work on staged bundles, bucket by bucket, in this process or in several.

Each bucket's lines go to part files of its own, so that processes share nothing but the folder. A worker ends when
its pipe closes, so that none outlives the run, however that ends.
"""

import gc
import multiprocessing
import os
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path

from normalizer.bundle import too_large
from normalizer.errors import CannotRun
from normalizer.ledger import FILES
from normalizer.normalize import Outcome, audited, normalize
from normalizer.settings import LIMITS, Settings


@dataclass(frozen=True, slots=True)
class Done:
    """What became of some bundles."""

    read: int = 0
    audited: int = 0
    valid: int = 0
    invalid: int = 0
    flawed: bool = False

    def __add__(self, other: "Done") -> "Done":
        return Done(
            self.read + other.read,
            self.audited + other.audited,
            self.valid + other.valid,
            self.invalid + other.invalid,
            self.flawed or other.flawed,
        )


def work(root: Path, buckets: list[str], settings: Settings, jobs: int) -> Iterator[Done]:
    """Normalize the buckets; yields as they are done, in no particular order."""
    if jobs == 1 or len(buckets) < 2:
        for bucket in buckets:
            yield _bucket(root, bucket, settings)
        return
    context = multiprocessing.get_context("spawn")  # a forked child would keep its siblings' pipes open
    pending = list(reversed(buckets))
    idle: dict[Connection, multiprocessing.process.BaseProcess] = {}
    try:
        for _ in range(min(jobs, len(buckets))):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, root, settings), daemon=True)
            process.start()
            theirs.close()
            idle[ours] = process
            ours.send(pending.pop())
        busy = len(idle)
        while busy:
            for ready in [connection for connection in wait(list(idle)) if isinstance(connection, Connection)]:
                yield _answer(ready)
                if pending:
                    ready.send(pending.pop())
                else:
                    busy -= 1
                    ready.close()
                    idle.pop(ready).join()
    finally:
        for connection, worker in idle.items():
            connection.close()
            worker.terminate()
            worker.join()


def _answer(connection: Connection) -> Done:
    try:
        answer = connection.recv()
    except EOFError:
        raise CannotRun("a worker process ended early: was it killed, or is memory short? Try fewer --jobs") from None
    if isinstance(answer, str):
        raise CannotRun(answer)
    done: Done = answer
    return done


def _serve(connection: Connection, root: Path, settings: Settings) -> None:
    """A worker's life: buckets in, counts out, until the pipe closes."""
    while True:
        try:
            bucket = connection.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            answer: Done | str = _bucket(root, bucket, settings)
        except OSError as error:
            answer = f"cannot write to the ledger: {error}"
        except KeyboardInterrupt:
            return
        try:
            connection.send(answer)
        except BrokenPipeError:
            return


def _bucket(root: Path, bucket: str, settings: Settings) -> Done:
    total = Done()
    folder = root / "incoming" / bucket
    # What a bundle leaves behind has no cycles: the collector would only walk it again and again.
    gc.disable()
    try:
        files = {kind: (root / "parts" / f"{bucket}.{kind}").open("wb") for kind in FILES}
        try:
            for name in sorted(os.listdir(folder)):
                outcome = _outcome(folder / name, settings)
                for kind, lines in zip(
                    FILES, (outcome.records, outcome.invalid, outcome.header, outcome.audit), strict=True
                ):
                    files[kind].write(lines.encode("ascii"))
                read = outcome.audit == ""
                total += Done(read, not read, outcome.valid_count, outcome.invalid_count, outcome.flawed)
        finally:
            for file in files.values():
                file.close()
    finally:
        gc.enable()
    return total


def _outcome(path: Path, settings: Settings) -> Outcome:
    size = path.stat().st_size
    if size > LIMITS["max_bundle_bytes"]:
        return audited(path.stem, size, too_large(size), settings)  # not read: it may not fit into memory
    return normalize(path.read_bytes(), settings)
