"""Explain why a ledger cannot be read, after a command failed on the content of its lines.

Digests show that a file is as its commit record says, not that a run of this program wrote it: another program can
write a ledger with right digests. Commands take lines with the right digests as they are, because checking each of
millions of lines by its schema would take longer than the work itself. If one of them fails on such a line, everything
is checked here, and the refusal names the file and the line.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import contract_spec as spec

from normalizer.documents import lossless
from normalizer.documents.settings import LIMITS, Settings, load
from normalizer.errors import CannotRun, UnusableLedger
from normalizer.ledger.buckets import places_in
from normalizer.ledger.commit_record import advice
from normalizer.ledger.line_format import (
    FILES,
    MAX_DEPTH,
    RECORD_FILES,
    SCHEMAS,
    SHA256,
    has_own_id,
    settings_in,
    starts_well,
)
from normalizer.regular_files import open_regular, regular_bytes, whole_lines

DOCUMENTS = ("rubric", "manifest", "dialect", "stated", "joined", "limits")
"""The settings documents that a line may name, besides the protocol."""
_FAILURES = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Errors that a value of another shape leads to."""


@contextmanager
def content_checked_on_failure(folder: Path) -> Iterator[None]:
    """Check the whole ledger if the block fails on a value, and raise UnusableLedger if the ledger is the reason.

    A failure that has nothing to do with the ledger is raised as it is.
    """
    try:
        yield
    except _FAILURES:
        refuse_strange_content(folder)
        raise


def refuse_strange_content(folder: Path) -> None:
    """Raise UnusableLedger, naming file and line, for the first line or settings document that no run writes."""
    named: set[bytes] = set()
    places = places_in(folder)
    for kind, place in ((kind, place) for kind in FILES for place in places if place.kind == kind):
        with open_regular(folder / place.name) as file:
            for number, line in enumerate(whole_lines(file), start=1):
                if why := _strange(kind, line):
                    path = folder / place.name
                    raise UnusableLedger(f"line {number} of {path} is not what a run writes: {why}: {advice(folder)}")
                if kind in ("headers", "audit"):
                    named.add(settings_in(kind, line))
    for text in sorted(named):
        try:
            settings_named(folder, documents_named(text))
        except (CannotRun, *_FAILURES) as error:
            raise UnusableLedger(f"settings of {folder} cannot be used: {error}: {advice(folder)}") from None


def documents_named(text: bytes) -> dict[str, str]:
    """The protocol and the settings documents, by hash, that a line names. Raises UnusableLedger, or ValueError."""
    named = lossless.loads_plain(text)
    strange = [name for name in named if name not in (*DOCUMENTS, "protocol")]
    if strange or "protocol" not in named or not all(isinstance(value, str) for value in named.values()):
        raise UnusableLedger("they are not as a run writes them")
    for name, digest in named.items():
        if name != "protocol" and not SHA256.fullmatch(digest):
            raise UnusableLedger(f"the {name} is not named by a hash")
    return dict(named)


def settings_document(folder: Path, sha256: str) -> dict[str, Any]:
    """A settings document of a ledger, numbers as they are spelled. Raises UnusableLedger, or ValueError."""
    path = folder / "settings" / f"{sha256}.json"
    if not path.is_file():
        raise UnusableLedger(f"{path} is missing: copy it from where this ledger is whole")
    try:
        data = regular_bytes(path, "max_kept_bytes")
    except OSError as error:
        raise UnusableLedger(f"cannot read {path}: {error.strerror}") from None
    text = data[:-1]
    if hashlib.sha256(text).hexdigest() != sha256 or data[-1:] != b"\n":
        raise UnusableLedger(f"the bytes of {path} are not those of its hash: the file was changed")
    value: dict[str, Any] = lossless.parse(text, LIMITS["max_depth"])
    return value


def settings_named(folder: Path, named: dict[str, str]) -> Settings:
    """The settings from a ledger's documents, each checked by its schema. Raises CannotRun."""
    documents = {name: settings_document(folder, digest) for name, digest in named.items() if name != "protocol"}
    return load(**{name: lossless.dumps(document).encode() for name, document in documents.items()})


def _strange(kind: str, line: bytes) -> str:
    """Why no run writes this line, or nothing."""
    if not starts_well(kind, line) or not line.endswith(b"}\n"):
        return "it does not begin or end like one"
    try:
        value = lossless.to_builtin(lossless.parse(line, MAX_DEPTH))
    except spec.NotStrictJson as error:
        return str(error)
    found = [spec.violations(schema, value) for schema in SCHEMAS[kind]]
    if not all(found):
        return "" if kind not in RECORD_FILES or has_own_id(kind, line) else "its id is not that of its content"
    first = min(found, key=len)[0]
    return f"{first.pointer or 'the line'} {first.message}"
