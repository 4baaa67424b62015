"""One run of `normalize`: take bundles in, work on them, change the ledger as a whole, account for everything."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from normalizer.errors import CannotRun, UnusableLedger
from normalizer.intake import opened
from normalizer.ledger import LOCK, Counts, is_ledger, locked
from normalizer.settings import Settings
from normalizer.staging import Staging
from normalizer.workers import Done, work


class Account(NamedTuple):
    """What a run was given and what became of it."""

    bundles: int
    duplicates: int
    done: Done
    ledger: Counts
    flawed: bool
    """Whether anything is wrong with what was given, be it new to the ledger or not."""

    def lines(self) -> list[str]:
        """The conservation lines."""
        done, ledger = self.done, self.ledger
        return [
            f"bundles: {self.bundles} in = {done.read} read + {done.audited} audited + {self.duplicates} duplicates",
            f"entries: {done.valid + done.invalid} in = {done.valid} valid + {done.invalid} invalid",
            f"ledger: {ledger.bundles} bundles, {ledger.entries} entries = {ledger.valid} valid + "
            f"{ledger.invalid} invalid; {ledger.audited} audited",
        ]


def run(
    sources: Iterable[str],
    folder: Path,
    settings: Settings,
    *,
    jobs: int = 1,
    replace: bool = False,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> Account:
    """Normalize bundles into a ledger."""
    if folder.exists() and not is_ledger(folder) and any(item.name != LOCK for item in folder.iterdir()):
        raise UnusableLedger(f"{folder} holds something else than a ledger: give --out a new or an empty folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder, "write"):
            staging = Staging(folder, settings, replace=replace)
            try:
                account = _staged(staging, sources, settings, jobs, progress)
                staging.commit()
            except BaseException:
                if not staging.committed:
                    staging.discard()
                raise
    except OSError as error:
        raise CannotRun(f"cannot write to {folder}: {error.strerror or error}") from None
    return account


def _staged(
    staging: Staging,
    sources: Iterable[str],
    settings: Settings,
    jobs: int,
    progress: Callable[[str, int, int], None],
) -> Account:
    given = duplicates = 0
    for source in sources:
        with opened(source) as stream:
            taken = staging.take(stream)
        given += 1
        duplicates += taken.known
        progress("taken in", given, 0)
    if given == 0:
        raise CannotRun("no bundle was given")
    flawed = staging.known_are_flawed()
    done = Done()
    fresh = given - duplicates
    for part in work(staging.root, staging.buckets(), settings, jobs):
        done += part
        progress("normalized", done.read + done.audited, fresh)
    if given != done.read + done.audited + duplicates:
        raise CannotRun("conservation does not hold: a bundle was lost on the way; nothing was changed")
    return Account(given, duplicates, done, staging.merge(), flawed or done.flawed)
