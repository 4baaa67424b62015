"""Normalize a file that a tool wrote, and compare the result with the numbers that the tool published."""

import hashlib
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

_TOLERANCE = 1e-6
"""`aggregate` and `preferences` round to six places."""
_ENTRIES = re.compile(r"^entries: (\d+) in = (\d+) valid \+ (\d+) invalid \+ (\d+) unreadable", re.MULTILINE)


class Mean(NamedTuple):
    """A mean that the tool published, and the ledger's."""

    of: str
    theirs: float
    ours: float | None

    @property
    def same(self) -> bool:
        """Whether the two are equal, up to rounding."""
        return self.ours is not None and abs(self.theirs - self.ours) <= _TOLERANCE


class Checked(NamedTuple):
    """The checks of one file."""

    file: str
    dialect: str
    wrote: int
    """Entries that the tool wrote."""
    counts: tuple[int, int, int, int]
    """Entries that were read, and how many of them are valid, invalid and unreadable."""
    restored: bool
    """Whether the bytes came back, kept and made from the records, and the audit found nothing."""
    means: list[Mean]

    @property
    def passed(self) -> bool:
        """Whether nothing is missing or differs."""
        entries, *parts = self.counts
        return self.wrote == entries == sum(parts) and self.restored and all(mean.same for mean in self.means)


def check(folder: Path, told: dict[str, Any], ledger: Path) -> Checked:
    """Check one file of a `told.json`. The folder is the one in which the tool ran."""
    path = folder / told["file"]
    stated = {"phase": "1", "protocol_version": "realtools", **told["set"]}
    given = [part for key, value in stated.items() for part in ("--set", f"{key}={value}")]
    # Status 1 says that some entries are INVALID; the writers provoke that.
    said = _normalizer("normalize", path, "--dialect", told["dialect"], *given, "--out", ledger, allowed=(0, 1)).stderr
    counted = _ENTRIES.search(said.decode())
    if counted is None:
        raise RuntimeError(f"normalize did not count the entries of {path}: {said.decode()}")
    means = [Mean(one["of"], one["mean"], _mean(ledger, one)) for one in told["published"]]
    counts = tuple(int(number) for number in counted.groups())
    return Checked(
        path.name,
        told["dialect"],
        told["entries"],
        (counts[0], counts[1], counts[2], counts[3]),
        _restored(ledger, path),
        means,
    )


def _restored(ledger: Path, path: Path) -> bool:
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    kept = _normalizer("restore", ledger, digest).stdout
    made = _normalizer("restore", ledger, digest, "--from-records").stdout
    audited = _normalizer("audit", ledger, allowed=(0, 1)).returncode == 0
    # Of an archive the records give its rows, which the command has compared with the members.
    same = made == data if not zipfile.is_zipfile(path) else bool(made)
    return kept == data and same and audited


def _mean(ledger: Path, published: dict[str, Any]) -> float | None:
    """The ledger's number for a published one: a mean of scores, or a share of comparisons."""
    if "share_of" in published:
        told = json.loads(_normalizer("preferences", ledger, "--format", "json").stdout)
        name = published["share_of"]
        [pair] = [pair for group in told["groups"] for pair in group["pairs"] if name in (pair["a"], pair["b"])]
        share = float(pair["share"])
        return share if pair["a"] == name else 1 - share
    where = [part for key, level in published["where"].items() for part in ("--where", f"{key}={level}")]
    told = json.loads(_normalizer("aggregate", ledger, *where, "--format", "json").stdout)
    [row] = told["rows"]
    mean = row["total"]["mean"]
    return None if mean is None else float(mean)


def _normalizer(*arguments: object, allowed: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "normalizer", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True)
    if done.returncode not in allowed:
        raise RuntimeError(f"normalizer {' '.join(command[3:])}: {done.stderr.decode(errors='replace').strip()}")
    return done
