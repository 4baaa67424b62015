"""Rebuild a damaged ledger from its raw bundles: normalize each again under the settings that its line names.

A ledger is a function of its bundles and their settings, so the rebuilt one has the bytes of the original. The line
of a bundle in headers or audit is the only place that says under which settings it was normalized. Where that line is
damaged, or names what is not kept, every combination of the kept documents is tried for such bundles of a bucket, and
taken only if the rebuilt lines have the digests in the commit record: nothing is guessed.
"""

import contextlib
import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby, islice, product
from pathlib import Path
from tempfile import TemporaryDirectory

from normalizer.batch.part_files import PartFiles
from normalizer.batch.run import run
from normalizer.batch.workers import outcome_of
from normalizer.documents import protocol
from normalizer.documents.lossless import dumps
from normalizer.documents.settings import Settings, load, parse_document
from normalizer.errors import CannotRun, UnusableDocument, UnusableLedger
from normalizer.ledger import commit_record
from normalizer.ledger.commit_record import SpanDigester, Spans, bucket_of
from normalizer.ledger.durable import create_folder, sync
from normalizer.ledger.line_format import DOCUMENT_NAME, SHA256, settings_in, sha_slice
from normalizer.ledger.reader import Ledger

_DOCUMENTS = {
    "rubric": "rubric",
    "manifest": "run_manifest",
    "dialect": "dialect",
    "stated": "run_metadata",
    "joined": "joined_file",
    "limits": "bundle_limits",
}
"""The documents that settings may name, in the order of `load`, and their schemas."""
_MOST_TRIED = 1000
"""Combinations of documents that are tried at most."""


@dataclass(slots=True)
class Repaired:
    """Outcome of a repair."""

    rebuilt: int = 0
    lost: list[tuple[str, str]] = field(default_factory=list)
    """Bundles that could not be rebuilt, by hash, and why."""
    same: bool | None = None
    """Whether the new ledger has the digests of the old commit record; None if that cannot be read."""


def repair(ledger: Ledger, out: Path, jobs: int = 1) -> Repaired:
    """Rebuild an open ledger, unchecked, into a new folder. Raises CannotRun if nothing can be rebuilt."""
    if out.exists():
        raise CannotRun(f"{out} is there already: give --out a new folder")
    outcome = Repaired()
    named = _named_settings(ledger)
    groups: dict[bytes, list[Path]] = {}
    unnamed: list[Path] = []
    for path in _raw_bundles(ledger, outcome):
        if path.stem in named:
            groups.setdefault(named[path.stem], []).append(path)
        else:
            unnamed.append(path)
    for sha256 in sorted(named.keys() - {path.stem for paths in groups.values() for path in paths}):
        if sha256 not in dict(outcome.lost):
            outcome.lost.append((sha256, "its raw bytes are missing"))
    usable, refused = _usable(ledger, groups)
    doubtful = (
        dict.fromkeys(unnamed, "the line that named its settings is damaged, and no digest proves others") | refused
    )
    spans = _old_spans(ledger.folder)
    possible = _possible(ledger, usable) if doubtful and spans is not None else {}
    for bucket, together in groupby(sorted(doubtful), lambda path: bucket_of(path.stem)):
        paths = list(together)
        text = _proven(bucket, paths, groups, usable, possible, spans or {})
        if text is None:
            outcome.lost += [(path.stem, doubtful[path]) for path in paths]
        else:
            usable[text] = possible[text]
            groups.setdefault(text, []).extend(paths)
    if not usable:
        why = f": bundle {outcome.lost[0][0]}: {outcome.lost[0][1]}" if outcome.lost else ""
        raise UnusableLedger(f"no bundle of {ledger.folder} can be rebuilt{why}")
    # There is a run for each of the settings: after some of them the ledger would look whole. It is built beside its
    # place, and moved there when nothing is missing.
    with create_folder(out.parent), TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as beside:
        rebuilt = Path(beside) / out.name
        for text, settings in usable.items():
            run(sorted(map(str, groups[text])), rebuilt, settings, jobs=jobs)
            outcome.rebuilt += len(groups[text])
        outcome.same = None if spans is None else commit_record.load(rebuilt) == spans
        rebuilt.rename(out)
        sync(out.parent)
    outcome.lost.sort()
    return outcome


def _named_settings(ledger: Ledger) -> dict[str, bytes]:
    """The settings of each bundle as its own line names them, where exactly one line of the right form does."""
    found: dict[str, bytes] = {}
    lines: Counter[str] = Counter()
    for kind in ("headers", "audit"):
        where = sha_slice(kind)
        for line in ledger.lines(kind) if ledger.path(kind).is_file() else ():
            sha256, text = line[where].decode("latin-1"), settings_in(kind, line)
            if SHA256.fullmatch(sha256) and _is_named(ledger, text):
                lines[sha256] += 1
                found[sha256] = text
    return {sha256: text for sha256, text in found.items() if lines[sha256] == 1}


def _is_named(ledger: Ledger, text: bytes) -> bool:
    """Whether settings are as a run writes them: a protocol, and documents by hash."""
    try:
        named = dict(ledger.settings(text))
    except UnusableLedger:
        return False
    digests = [named.pop(name, "") for name in _DOCUMENTS if name in named]
    hashes = all(SHA256.fullmatch(str(digest)) for digest in digests)
    return hashes and list(named) == ["protocol"] and bool(digests)


def _raw_bundles(ledger: Ledger, outcome: Repaired) -> Iterator[Path]:
    """The raw bundles that have the bytes of their name; others are noted as lost."""
    folder = ledger.folder / "bundles"
    for name in sorted(os.listdir(folder)) if folder.is_dir() else ():
        path = folder / name
        if not DOCUMENT_NAME.fullmatch(name):
            continue
        if not path.is_file() or path.is_symlink():
            outcome.lost.append((path.stem, "its raw bytes cannot be read"))
            continue
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() == path.stem:
                yield path
            else:
                outcome.lost.append((path.stem, "its raw bytes were changed"))


def _usable(ledger: Ledger, groups: dict[bytes, list[Path]]) -> tuple[dict[bytes, Settings], dict[Path, str]]:
    """The settings of each group that can be used, and the bundles of all other groups with why not."""
    usable: dict[bytes, Settings] = {}
    refused: dict[Path, str] = {}
    for text, paths in sorted(groups.items()):
        try:
            usable[text] = _settings(ledger, text)
        except CannotRun as error:
            refused |= dict.fromkeys(paths, str(error))
    return usable, refused


def _settings(ledger: Ledger, text: bytes) -> Settings:
    named = dict(ledger.settings(text))
    version = named.pop("protocol", None)
    if version != protocol.version():
        raise CannotRun(f"it was normalized under protocol {version}, and this program has {protocol.version()}")
    built_in = load()
    documents = {
        name: (built_in.documents.get(digest) or dumps(ledger.document(digest))).encode()
        for name, digest in named.items()
    }
    return load(**documents)


def _old_spans(folder: Path) -> Spans | None:
    try:
        return commit_record.load(folder)
    except UnusableLedger:
        return None


def _possible(ledger: Ledger, usable: dict[bytes, Settings]) -> dict[bytes, Settings]:
    """All settings that can be put together from the documents that are kept, those in use first."""
    found = dict(usable)
    documents: dict[str, list[bytes | None]] = {name: [None] for name in _DOCUMENTS}
    for path in sorted((ledger.folder / "settings").glob("*.json")):
        try:
            text = dumps(ledger.document(path.stem)).encode()
        except (CannotRun, ValueError):
            continue
        for name, schema in _DOCUMENTS.items():
            with contextlib.suppress(UnusableDocument):
                parse_document(schema, text)
                documents[name].append(text)
    for chosen in islice(product(*documents.values()), _MOST_TRIED):
        with contextlib.suppress(UnusableDocument):
            settings = load(*chosen)
            found.setdefault(dumps(settings.identity).encode(), settings)
    return found


def _proven(
    bucket: str,
    paths: list[Path],
    groups: dict[bytes, list[Path]],
    usable: dict[bytes, Settings],
    possible: dict[bytes, Settings],
    spans: Spans,
) -> bytes | None:
    """The settings for some bundles of a bucket with which all its lines have the digests of the commit record."""
    known = [(other, usable[key]) for key in usable for other in groups[key] if bucket_of(other.stem) == bucket]
    for text, settings in possible.items():
        together = [*known, *((path, settings) for path in paths)]
        found = [_digests(bucket, _lines(together, kind)) for kind in ("headers", "audit")]
        expected = [[span for span in spans[kind] if span.bucket == bucket] for kind in ("headers", "audit")]
        if found == expected:
            return text
    return None


def _lines(bundles: list[tuple[Path, Settings]], kind: str) -> bytes:
    lines = []
    with TemporaryDirectory() as scratch:
        parts = PartFiles(Path(scratch), "again")
        for path, settings in sorted(bundles, key=lambda each: each[0].stem):
            outcome = outcome_of(path, settings, parts)
            lines.append(outcome.header if kind == "headers" else outcome.audit)
        parts.close()
    return "".join(lines).encode("ascii")


def _digests(bucket: str, data: bytes) -> list[commit_record.Span]:
    digester = SpanDigester()
    digester.add(bucket, data)
    return list(digester.spans())
