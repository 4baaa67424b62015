"""Open ledgers, each once, and read several as one: their rubrics, shared bundles and files without an entry.

Lines are compared with the digests of the commit record when they are read, and files of records before an engine
reads them, so that edited, lost, doubled and misplaced lines are noticed in everything that a command reads. Lines that
were forged together with ids, counts and digests are not: only `reverify` notices them, which normalizes the raw
bundles again.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from normalizer.documents.lossless import dumps, loads_plain
from normalizer.documents.pointers import translate
from normalizer.documents.rubric import Rubric, rubric_of
from normalizer.documents.settings import Manifest, dialect_of, manifest_of, metadata_of_dialect, run_metadata
from normalizer.errors import CannotRun, UnusableLedger
from normalizer.ledger.line_format import has_own_id, sha_slice
from normalizer.ledger.reader import Ledger, reading

Check = Callable[[Ledger], None]
"""A check of an open ledger's records; it raises UnusableLedger."""


def refuse_changed_id(kind: str, line: bytes, number: int | None = None) -> None:
    """Raise UnusableLedger, naming bundle and line, unless a record has the id of its content."""
    if not has_own_id(kind, line):
        sha256 = line[sha_slice(kind)].decode("ascii", "replace")
        which = f"line {number}" if number is not None else "a line"
        raise UnusableLedger(
            f"bundle {sha256}: {which} of {kind}.jsonl does not have the id of its content: it was changed; "
            "see `normalizer audit`"
        )


def check_records(ledger: Ledger) -> None:
    """Raise UnusableLedger if a file of VALID records was changed, which an engine then reads itself."""
    ledger.check_digests("records")


@dataclass(slots=True)
class OpenLedger:
    """One ledger, and those of its bundles that another one had already."""

    ledger: Ledger
    skip: frozenset[str] = frozenset()


@dataclass(slots=True)
class OpenLedgers:
    """Open ledgers with the totals of their headers."""

    parts: list[OpenLedger]
    rubrics: dict[str, Rubric]
    """By name; those of bundles with VALID records, or of all where none has any."""
    active: dict[str, str] = field(default_factory=dict)
    """The rubric that bundles without a VALID record were screened under: what such a bundle names may be another."""
    relaxed: bool = False
    """Whether a manifest states relaxations, so that VALID scores may be off the scale."""
    valid: int = 0
    screened_out: int = 0
    """How many VALID and INVALID records the headers promise."""
    duplicates: int = 0
    unreadable: int = 0
    without_entry: int = 0
    expected: list[dict[str, Any]] = field(default_factory=list)
    """Metadata of the files of manifests of which a bundle lacks some."""
    lacking: list[dict[str, Any]] = field(default_factory=list)
    """Metadata of those files that have no entry."""
    supplied: list[dict[str, Any]] = field(default_factory=list)
    """Metadata of the files that a leg of a run has entries for."""

    def rubric(self, name: str | None) -> Rubric:
        """Return the rubric of that name; without a name, the only one. Raises CannotRun if there is no such one."""
        if name is not None:
            if name not in self.rubrics:
                raise CannotRun(f"no record is of rubric {name}: there are {', '.join(sorted(self.rubrics))}")
            return self.rubrics[name]
        if len(self.rubrics) > 1:
            names = sorted(self.rubrics)
            raise CannotRun(
                f"the records are of rubrics {' and '.join(names)}, whose scores cannot be put together: "
                f"choose one with --where rubric={names[0]}"
            )
        return next(iter(self.rubrics.values()))

    @property
    def size(self) -> int:
        """Bytes of VALID records."""
        return sum(part.ledger.size("records") for part in self.parts)

    def invalid(self) -> Iterator[dict[str, Any]]:
        """The INVALID records, no bundle twice."""
        count = 0
        for part in self.parts:
            for record in part.ledger.items("invalid"):
                sha256 = record["source"]["bundle_sha256"]
                if sha256 not in part.skip:
                    count += 1
                    yield record | ({"rubric": self.active[sha256]} if sha256 in self.active else {})

        check_conserved("invalid", count, self.screened_out)


def check_conserved(kind: str, there: int, promised: int) -> None:
    """Raise CannotRun unless as many records are there as the headers promise."""
    if there != promised:
        raise CannotRun(
            f"{there} {kind} records are there, but the headers promise {promised}: was a ledger edited? "
            "See `normalizer audit`"
        )


@contextmanager
def open_as_one(folders: tuple[Path, ...], check: Check = check_records) -> Iterator[OpenLedgers]:
    """Open ledgers, to be read as one, and check their records; no run changes them until they are closed."""
    with open_each(folders, check) as ledgers:
        yield as_one([ledgers[folder] for folder in folders])


@contextmanager
def open_each(folders: Iterable[Path], check: Check = check_records) -> Iterator[dict[Path, Ledger]]:
    """Open every ledger once, even if it is named twice, and check its records. Yields the ledgers by folder."""
    places = {folder: folder.resolve() for folder in folders}
    with ExitStack() as stack:
        ledgers: dict[Path, Ledger] = {}
        for folder, place in places.items():
            if place not in ledgers:
                ledgers[place] = stack.enter_context(reading(folder))
        for ledger in ledgers.values():
            check(ledger)
        yield {folder: ledgers[place] for folder, place in places.items()}


def holds_comparisons(ledger: Ledger) -> bool:
    """Whether a ledger holds comparisons. A ledger without any bundle holds none."""
    return next((header.get("kind") for header in ledger.items("headers")), None) == "comparison"


def as_one(ledgers: list[Ledger]) -> OpenLedgers:
    """Read opened ledgers as one. Raises CannotRun for comparisons, and where ledgers do not fit together."""
    sources = OpenLedgers([], {})
    documents: dict[str, dict[str, Any]] = {}
    hashes: dict[str, str] = {}
    unused: dict[str, str] = {}
    seen: dict[str, dict[str, str]] = {}
    for ledger in ledgers:
        skip = set()
        for kind in ("headers", "audit"):
            for item in ledger.items(kind):
                if item.get("kind") == "comparison":
                    raise CannotRun(
                        f"{ledger.folder} holds comparisons, not single scores: see `normalizer preferences`"
                    )
                sha256, settings = item["bundle_sha256"], item["settings"]
                if sha256 in seen:
                    _require_same_settings(sha256, seen[sha256], settings)
                    skip.add(sha256)
                    sources.duplicates += item.get("entries", 0)
                    continue
                if len(ledgers) > 1:
                    seen[sha256] = settings
                for digest in settings.values():
                    if digest != settings["protocol"] and digest not in documents:
                        documents[digest] = ledger.document(digest)
                sources.valid += item.get("valid", 0)
                sources.screened_out += item.get("invalid", 0)
                name = documents[settings["rubric"]]["name"]
                unused[name] = settings["rubric"]
                if item.get("valid") == 0:
                    sources.active[sha256] = name
                if item.get("valid") and hashes.setdefault(name, settings["rubric"]) != settings["rubric"]:
                    raise CannotRun(
                        f"two different rubrics are called {name}: normalize both with one --rubric, or ask each alone"
                    )
                _account(sources, kind, item, documents)
        sources.parts.append(OpenLedger(ledger, frozenset(skip)))
    sources.rubrics = {name: rubric_of(documents[digest]) for name, digest in (hashes or unused).items()}
    if not sources.rubrics:
        raise CannotRun("the ledger is empty: normalize a bundle into it first")
    return sources


def _require_same_settings(sha256: str, one: dict[str, str], other: dict[str, str]) -> None:
    if one != other:
        raise CannotRun(
            f"bundle {sha256} is in two of the ledgers, normalized under different settings: give only one of them"
        )


def _account(sources: OpenLedgers, kind: str, item: dict[str, Any], documents: dict[str, dict[str, Any]]) -> None:
    settings = item["settings"]
    manifest = manifest_of(documents[settings["manifest"]]) if "manifest" in settings else None
    sources.unreadable += kind == "audit"
    lacking = files_without_entry(item)
    sources.without_entry += len(lacking)
    if manifest is None:
        return
    sources.relaxed = sources.relaxed or bool(manifest.relaxations)
    is_leg = "leg" in manifest.metadata
    if lacking or kind == "audit" or is_leg:
        envelope = item.get("header", {})
        run = run_metadata(manifest, documents.get(settings.get("stated", ""), {}))
        if "dialect" in settings:
            dialect = dialect_of(documents[settings["dialect"]])
            run = {**metadata_of_dialect(dialect, run, settings["protocol"]), **run}
            envelope = translate(envelope, dialect.bundle).value if envelope else envelope
        files = list(_files(manifest, run, envelope))
        without = [file for file in files if file["file"] in lacking]
        sources.lacking += without
        if lacking or kind == "audit":
            sources.expected += files
        if is_leg and kind == "headers":
            sources.supplied += [file for file in files if file not in without]


def files_without_entry(item: dict[str, Any]) -> set[str]:
    """Return the files of its manifest that a bundle lacks, from its header or audit item."""
    reasons = [reason for reason in item["reasons"] if reason["code"] == "file_without_entry"]
    if any("file" not in reason for reason in reasons):
        raise UnusableLedger(
            f"bundle {item['bundle_sha256']} lacks files, and its ledger does not say which: normalize it again"
        )
    return {reason["file"] for reason in reasons}


def _files(manifest: Manifest, run: dict[str, Any], envelope: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the metadata that records of the manifest's files have or would have, as `records` combines it."""
    run = ordinary_metadata(run)
    factors = {name: of.get("factors", {}) for name, of in (("envelope", envelope), ("run", run))}
    known = {**run, **envelope}
    for file in manifest.files.values():
        shared = factors["envelope"] if isinstance(factors["envelope"], dict) else {}
        yield {**known, **file, "factors": {**shared, **factors["run"], **file.get("factors", {})}}


def ordinary_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    """A manifest's metadata with ordinary numbers."""
    value: dict[str, Any] = loads_plain(dumps(metadata).encode())
    return value
