"""Compare the raw bundles and the settings documents of a ledger with the hashes that its lines name."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from normalizer.errors import UnusableLedger
from normalizer.ledger.buckets import raw_place
from normalizer.ledger.line_format import settings_in, sha_slice
from normalizer.ledger.reader import Ledger
from normalizer.regular_files import open_regular


def changed_files(ledger: Ledger) -> Iterator[str]:
    """Yield a sentence for each missing, changed or surplus file. Compare the lines with their digests first."""
    named: set[bytes] = set()
    count = 0
    for kind in ("headers", "audit"):
        for line in ledger.lines(kind):
            named.add(settings_in(kind, line))
            sha256 = line[sha_slice(kind)].decode("ascii", "replace")
            count += 1
            yield from _complaint(raw_place(ledger.folder, sha256), sha256)
    if (there := len(ledger.raw_bundles())) != count:
        yield f"{ledger.folder / 'bundles'} has {there} raw bundles, and the lines of the ledger name {count}"
    digests = {digest for text in named for name, digest in ledger.settings(text).items() if name != "protocol"}
    for digest in sorted(digests):
        try:
            ledger.document(digest)
        except UnusableLedger as error:
            yield str(error)


def _complaint(path: Path, sha256: str) -> Iterator[str]:
    try:
        with open_regular(path) as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        yield f"cannot read {path}: {error.strerror}"
    else:
        if found != sha256:
            yield f"the bytes of {path} are not those of its hash: the file was changed"
