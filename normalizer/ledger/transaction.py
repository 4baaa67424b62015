"""Change a ledger in one transaction: everything or nothing.

A run writes all new files to `.staging/`, then a file COMMIT, then moves the files into place. If it is cut before
COMMIT, the ledger is unchanged and the next run starts anew; if it is cut after COMMIT, the next run completes the
moves (see `recovery`). In both cases the final bytes are those of an undisturbed run. Moves need no space, so a full
disk fails before COMMIT.
"""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from normalizer.documents.settings import Settings
from normalizer.errors import CannotRun, UnusableLedger
from normalizer.ledger.bucket_merge import Merged, MergeTask, plan_merge
from normalizer.ledger.commit_record import LineFile, encode, node_name
from normalizer.ledger.commit_tree import Change
from normalizer.ledger.durable import sync, sync_tree
from normalizer.ledger.integrity import Intact
from normalizer.ledger.line_format import FILES, holds_comparisons, sha_slice
from normalizer.ledger.reader import COMMIT, STAGING
from normalizer.ledger.recovery import commit_marker, put_in_place, recover

_SETTINGS = {
    "manifest": "another manifest",
    "stated": "other values of --set",
    "rubric": "another rubric",
    "dialect": "another dialect",
    "joined": "another file as --join",
    "limits": "other limits",
    "protocol": "another protocol version",
}
"""The settings that the records of a bundle depend on, and the words for a difference in each."""


class Counts(NamedTuple):
    """How many lines a ledger's files have, and what its headers promise."""

    bundles: int
    unreadable: int
    entries: int
    valid: int
    invalid: int


class Staging:
    """Prepares the next state of a ledger and commits it. The ledger's lock must be held."""

    def __init__(self, folder: Path, settings: Settings, *, replace: bool) -> None:
        self._folder = folder
        self._settings = settings
        self._replace = replace
        self.root = folder / STAGING
        recover(folder)
        self._intact = Intact(folder)
        self.committed = False
        self._written: list[LineFile] = []
        self._removed: set[LineFile] = set()
        self._change = Change()

    def begin(self) -> None:
        """Create the folders of `.staging`."""
        for name in ("incoming", "known", "parts", "new", "settings"):
            (self.root / name).mkdir(parents=True)

    def has_flawed_known(self) -> bool:
        """Whether a given bundle that the ledger has already is unreadable or has INVALID records.

        Raises UnusableLedger if it was normalized under other settings.
        """
        flawed = False
        for kind in ("headers", "audit"):
            region: str | None = None
            lines: dict[str, bytes] = {}
            for sha256 in self._list_staged("known"):
                if region is None or not sha256.startswith(region):
                    region = self._intact.tree.region(kind, sha256)
                    files = self._intact.tree.files_of(kind, sha256)
                    self._intact.check_sizes(sha256)
                    lines = {line[sha_slice(kind)].decode(): line for line in self._intact.lines(kind, files)}
                if sha256 in lines:
                    item = self._intact.item(kind, lines[sha256])
                    self._same_settings(sha256, item["settings"])
                    flawed = flawed or bool(item["reasons"]) or item["invalid"] > 0
        return flawed

    def _same_settings(self, sha256: str, before: dict[str, str]) -> None:
        now = self._settings.identity
        differing = [words for name, words in _SETTINGS.items() if before.get(name) != now.get(name)]
        if differing:
            raise UnusableLedger(
                f"bundle {sha256} is in {self._folder} already, normalized with {' and '.join(differing)}: "
                "give --replace to normalize it again, or another folder as --out"
            )

    def buckets(self) -> list[str]:
        """Names of the folders with staged bundles; each is normalized on its own."""
        return sorted(os.listdir(self.root / "incoming"))

    def merge(self, run: Callable[[Iterable[MergeTask]], Iterable[Merged]]) -> Counts:
        """Make the next state of the buckets that the run changes, and count what the ledger will have.

        `run` does the tasks, here or elsewhere, in any order. Damage is reported here, before anything has changed.
        """
        self._intact.check(self._list_staged("incoming"), self._settings.documents, replace=self._replace)
        tasks = (
            task for kind in FILES for task in plan_merge(self._folder, self._intact.tree, kind, replace=self._replace)
        )
        merged = list(run(tasks))
        for part in merged:
            self._written += part.written
            self._removed |= part.removed
        self._require_one_kind(set[bool]().union(*(part.holds for part in merged)))
        self._require_conservation(merged)
        self._change = self._intact.tree.change([file.place for file in self._removed], self._written)
        lines = {kind: total.lines for kind, total in self._change.totals.items()}
        valid, invalid = lines["records"], lines["invalid"]
        return Counts(lines["headers"], lines["audit"], valid + invalid, valid, invalid)

    def commit(self) -> None:
        """Move everything into place. All staged files are synced to disk before COMMIT is written."""
        for digest, text in self._settings.documents.items():
            (self.root / "settings" / f"{digest}.json").write_bytes(text.encode("ascii") + b"\n")
        for prefix, node in self._change.nodes.items():
            (self.root / "new" / node_name(prefix)).write_bytes(encode(node))
        marker = self.root / "marker"
        marker.write_bytes(commit_marker(self._obsolete(), replaced=self._replace))
        sync_tree(self.root)
        sync(self._folder)
        marker.rename(self.root / COMMIT)
        self.committed = True
        sync(self.root)
        put_in_place(self._folder)

    def _obsolete(self) -> list[str]:
        """Return the names of the files of lines and records that the next state has no more."""
        written = {file.place for file in self._written}
        places = {file.place for file in self._removed} - written
        gone = {name for place in places for name in (place.name, place.index_name) if name is not None}
        return sorted(gone | self._change.removed)

    def discard(self) -> None:
        """Leave the ledger as it was."""
        shutil.rmtree(self.root, ignore_errors=True)

    def _list_staged(self, part: str) -> Iterator[str]:
        """Yield the hashes of a part of the staging folder, in order."""
        root = self.root / part
        for bucket in sorted(os.listdir(root)):
            yield from (name.removesuffix(".json") for name in sorted(os.listdir(root / bucket)))

    def _require_one_kind(self, holds: set[bool]) -> None:
        header = self._intact.first_header() if holds else None
        if len(holds | ({holds_comparisons(header)} if header else set())) > 1:
            raise CannotRun(
                f"{self._folder} would hold both single scores and comparisons, which are never mixed: normalize "
                "bundles with per_comparison into a ledger of their own; nothing was changed"
            )

    def _require_conservation(self, merged: list[Merged]) -> None:
        """Raise CannotRun unless as many lines came and went as the headers that came and went promise."""
        entries, valid, invalid = (
            sum(getattr(part, name) for part in merged) for name in ("entries", "valid", "invalid")
        )
        counted = Counter[str]()
        for file in self._written:
            counted[file.place.kind] += file.lines
        for file in self._removed:
            counted[file.place.kind] -= file.lines
        if (valid, invalid) != (counted["records"], counted["invalid"]):
            raise CannotRun(
                f"conservation does not hold: the headers promise {valid:+} valid and {invalid:+} "
                f"invalid records, but there are {counted['records']:+} and {counted['invalid']:+} in {self._folder}; "
                "nothing was changed"
            )
        if entries != valid + invalid:
            raise CannotRun(f"conservation does not hold: {entries} entries are not valid + invalid")
