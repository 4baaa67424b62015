"""One run of `normalize`: take bundles in, normalize them, commit the new state of the ledger, and count everything."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import contract_spec as spec
from contract_spec.extras import install_command

from normalizer.batch.intake import ProgressCallback
from normalizer.batch.workers import STANDARD_INPUT, BundleCounts, Normalize, Take, TaskRunner, Work, WorkerPool
from normalizer.documents.settings import Settings
from normalizer.errors import CannotRun, UnusableLedger
from normalizer.ledger.reader import LOCK, is_ledger
from normalizer.ledger.recovery import make_and_lock
from normalizer.ledger.transaction import Counts, Staging
from normalizer.regular_files import shell_word

if TYPE_CHECKING:
    from normalizer.batch.spark import SparkPool

_AT_ONCE = 16
"""Number of bundles in one task."""


class Account(NamedTuple):
    """Counts of one run: its inputs, their outcomes, and the ledger afterwards."""

    done: BundleCounts
    ledger: Counts
    flawed: bool
    """Whether any input of the run, new to the ledger or known to it, is not entirely valid."""
    rubric: str = ""
    """The name of the active rubric."""

    def advise_dialect(self) -> list[str]:
        """Return what to do about a file that no dialect was given for and that is no bundle; nothing if all are."""
        names = dict(self.done.names)
        unread = [names.get(sha256, "FILE") for sha256, read, _ in self.done.shown if not read]
        advice = "a file that is no judge bundle needs a dialect: normalizer guess"
        return [f"{advice} {shell_word(name)}" for name in unread[:1]]

    def lines(self) -> list[str]:
        """Return the lines that account for every input, then the first reasons."""
        done, ledger = self.done, self.ledger
        entries = done.valid + done.invalid + done.unreadable_rows
        rows = f"; {done.unselected} rows without an entry" if done.unselected else ""
        return [
            f"bundles: {done.taken} in = {done.read} read + {done.unreadable_bundles} unreadable + "
            f"{done.duplicates} duplicates",
            f"entries: {entries} in = {done.valid} valid + {done.invalid} invalid + {done.unreadable_rows} "
            f"unreadable{rows}",
            f"ledger: {ledger.bundles} bundles, {ledger.entries} entries = {ledger.valid} valid + "
            f"{ledger.invalid} invalid; {ledger.unreadable} unreadable",
            *self._reasons(),
            *self._cure(),
        ]

    def _cure(self) -> Iterator[str]:
        """Yield what to do, if nothing became valid and all of it for one reason."""
        if self.done.valid == 0 and len(self.done.codes) == 1:
            [code] = self.done.codes
            cure = spec.resource("rules/cures.json").get(code)
            if cure is not None:
                yield f"nothing is valid, all of it because of {code}: {cure.format(rubric=self.rubric)}"

    def _reasons(self) -> Iterator[str]:
        names = dict(self.done.names)
        for sha256, read, reasons in self.done.shown:
            for reason in reasons:
                at = f" at {reason.pointer}" if reason.pointer else ""
                what = "" if read else " is unreadable"
                yield f"{names.get(sha256, sha256)}{what}: {reason.code}{at}: {reason.message}"


def run(
    sources: Iterable[str],
    folder: Path,
    settings: Settings,
    *,
    jobs: int = 1,
    engine: str = "processes",
    replace: bool = False,
    progress: ProgressCallback = lambda *_: None,
    settling: Callable[[], None] = lambda: None,
) -> Account:
    """Normalize bundles into a ledger. `settling` is called when everything is staged, before the ledger changes."""
    if folder.exists() and not is_ledger(folder) and any(item.name != LOCK for item in folder.iterdir()):
        raise UnusableLedger(f"{folder} holds something else than a ledger: give --out a new or an empty folder")
    around = [parent for parent in folder.resolve().parents if is_ledger(parent)]
    if around:
        raise UnusableLedger(f"{folder} is in the ledger {around[0]}: give --out a folder outside of it")
    staging: Staging | None = None
    try:
        with make_and_lock(folder):
            staging = Staging(folder, settings, replace=replace)
            try:
                staging.begin()
                with _pool(
                    engine, jobs, TaskRunner(folder, settings, replace, progress if jobs == 1 else None)
                ) as pool:
                    done, flawed = _work(staging, pool, sources, progress)
                    account = Account(done, staging.merge(pool.each), flawed, settings.rubric.name)
                settling()
                staging.commit()
            except BaseException:
                if not staging.committed:
                    staging.discard()
                raise
    except OSError as error:
        told = f"cannot write to {folder}: {error.strerror or error}"
        if staging is not None and staging.committed:
            told += f"; everything was staged before, and `normalizer repair {folder}` completes the run"
        raise CannotRun(told) from None
    return account


def _pool(engine: str, jobs: int, runner: TaskRunner) -> "WorkerPool[Work, Any] | SparkPool":
    if engine != "spark":
        return WorkerPool(jobs, runner)
    try:
        from normalizer.batch.spark import SparkPool  # heavy, and only here
    except ImportError:
        raise CannotRun(f"this engine needs Spark: {install_command('spark')}") from None
    return SparkPool(runner)


def _work(
    staging: Staging,
    pool: "WorkerPool[Work, Any] | SparkPool",
    sources: Iterable[str],
    progress: ProgressCallback,
) -> tuple[BundleCounts, bool]:
    done = BundleCounts()
    for part in pool.each(_takes(sources)):
        done += part
        progress("taken in", done.taken, 0)
    if done.taken == 0:
        raise CannotRun("no bundle was given")
    flawed = bool(done.known) and staging.has_flawed_known()
    fresh = done.taken - done.duplicates
    for part in pool.each(map(Normalize, staging.buckets())):
        done += part
        progress("normalized", done.read + done.unreadable_bundles, fresh)
    if done.taken != done.read + done.unreadable_bundles + done.duplicates:
        raise CannotRun("conservation does not hold: a bundle was lost on the way; nothing was changed")
    return done, flawed or done.flawed


def _takes(sources: Iterable[str]) -> Iterator[Take]:
    some: list[str] = []
    for source in sources:
        if source == "-":
            yield STANDARD_INPUT
            continue
        some.append(source)
        if len(some) == _AT_ONCE:
            yield Take(some)
            some = []
    if some:
        yield Take(some)
