"""Rebuild a damaged ledger from its raw bundles: normalize each again under the settings that its line names.

A ledger is a function of its bundles and their settings, so the rebuilt one has the bytes of the original. The line
of a bundle in headers or audit is the only place that says under which settings it was normalized. Where that line is
damaged, or names what is not kept, combinations of the kept documents are tried for such bundles of a bucket, and
taken only if the rebuilt lines have the digests in the commit record: nothing is guessed.
"""

import contextlib
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, groupby, islice, product
from pathlib import Path
from tempfile import TemporaryDirectory

from normalizer.batch.run import run
from normalizer.batch.workers import outcome_of
from normalizer.documents import protocol
from normalizer.documents.lossless import dumps
from normalizer.documents.settings import Settings, load, parse_document
from normalizer.errors import CannotRun, UnusableDocument, UnusableLedger
from normalizer.ledger.buckets import Chunk, raw_place, split
from normalizer.ledger.commit_record import line_file, load_node
from normalizer.ledger.commit_tree import CommitTree
from normalizer.ledger.durable import create_folder, sync
from normalizer.ledger.line_format import SHA256, settings_in, sha_slice
from normalizer.ledger.reader import Ledger
from normalizer.screening.pipeline import PartFiles

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
    named = _read_named_settings(ledger)
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
    tree = _old_tree(ledger.folder)
    possible = _possible(ledger, usable) if doubtful and tree is not None else {}
    for prefix, together in groupby(sorted(doubtful), lambda path: _region(tree, path.stem)):
        paths = list(together)
        known = [(path, usable[text]) for text in usable for path in groups[text] if path.stem.startswith(prefix)]
        proven = _prove_settings(_Bucket(tree, prefix, known), paths, possible) if tree is not None else None
        if proven is None:
            outcome.lost += [(path.stem, doubtful[path]) for path in paths]
            continue
        for path, text in proven.items():
            usable[text] = possible[text]
            groups.setdefault(text, []).append(path)
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
        outcome.same = None if tree is None else load_node(rebuilt) == load_node(ledger.folder)
        rebuilt.rename(out)
        sync(out.parent)
    outcome.lost.sort()
    return outcome


def _read_named_settings(ledger: Ledger) -> dict[str, bytes]:
    """The settings of each bundle as its own line names them, where exactly one line of the right form does."""
    found: dict[str, bytes] = {}
    lines: Counter[str] = Counter()
    for kind in ("headers", "audit"):
        where = sha_slice(kind)
        for line in ledger.lines(kind):
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
    for sha256 in ledger.raw_bundles():
        path = raw_place(ledger.folder, sha256)
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


def _old_tree(folder: Path) -> CommitTree | None:
    try:
        tree = CommitTree(folder)
        list(tree.names())
    except UnusableLedger:
        return None
    return tree


def _region(tree: CommitTree | None, sha256: str) -> str:
    """Return the prefix of the bundles whose lines a digest covers together with those of this one."""
    return "" if tree is None else min((tree.region(kind, sha256) for kind in ("headers", "audit")), key=len)


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


class _Bucket:
    """The lines of headers and audit that some bundles give, and the digests that the commit record has of them."""

    def __init__(self, tree: CommitTree, prefix: str, known: list[tuple[Path, Settings]]) -> None:
        self._prefix = prefix
        self._digests = {kind: list(tree.files(kind, prefix)) for kind in ("headers", "audit")}
        self._known = {path.stem: _lines(path, settings) for path, settings in known}

    def fits(self, lines: dict[str, dict[str, str]]) -> bool:
        """Whether the known bundles and these, by hash, together have the digests."""
        together = sorted((self._known | lines).items())
        for kind, digests in self._digests.items():
            content = (Chunk(sha256, each[kind].encode("ascii")) for sha256, each in together if each[kind])
            if [line_file(place, data) for place, data in split(kind, self._prefix, content)] != digests:
                return False
        return True


def _prove_settings(bucket: _Bucket, paths: list[Path], possible: dict[bytes, Settings]) -> dict[Path, bytes] | None:
    """Return settings for bundles of a bucket with which all its lines have the digests of the commit record."""
    lines = cache(lambda path, text: _lines(path, possible[text]))
    alike = ([text] * len(paths) for text in possible)
    for texts in islice(chain(alike, product(possible, repeat=len(paths))), _MOST_TRIED):
        if bucket.fits({path.stem: lines(path, text) for path, text in zip(paths, texts, strict=True)}):
            return dict(zip(paths, texts, strict=True))
    return None


def _lines(path: Path, settings: Settings) -> dict[str, str]:
    """Return the header and the audit item of a bundle; one of them is empty."""
    with TemporaryDirectory() as scratch:
        parts = PartFiles(Path(scratch), "again")
        outcome = outcome_of(path, settings, parts)
        parts.close()
    return {"headers": outcome.header, "audit": outcome.audit}
