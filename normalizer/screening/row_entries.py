"""The rows of a container as entries: each as its dialect maps it, one row in memory at a time."""

import base64
import hashlib
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from normalizer.containers.forms import RecordedStep
from normalizer.containers.mapping import MappedEntry, Mapping
from normalizer.containers.readers.opening import find_packing, open_container
from normalizer.containers.readers.rows import Row
from normalizer.documents.lossless import dumps, members, quoted
from normalizer.documents.settings import Settings
from normalizer.screening.comparison_rules import Comparisons
from normalizer.screening.entry_rules import Scores
from normalizer.screening.metadata import (
    Metadata,
    check_relaxations,
    contradictions,
    dialect_members,
    find_missing_metadata,
    gather,
    phase_of,
)
from normalizer.screening.reasons import Draft, Reason, sort

_MOST_KEPT = 4096
"""Metadata and steps kept for rows that have the same."""
_NOTHING: dict[str, str] = {}


class Mapped(NamedTuple):
    """A row and what the dialect makes of it; of a row that cannot be read, nothing."""

    row: Row
    entry: MappedEntry | None


class RowEntries:
    """Makes the drafts of one file of rows, and finds what is wrong with each."""

    entries_at = ""

    def __init__(self, stream: BinaryIO, sha256: str, settings: Settings) -> None:
        dialect = settings.dialect.rows if settings.dialect is not None else None
        if dialect is None:
            raise TypeError("the settings have no dialect with a container")
        self._settings = settings
        self._mapping = Mapping(dialect, settings.joined)
        packed = find_packing(stream)
        self._packed = {"packed": packed} if packed else {}
        self._reader = open_container(stream, dialect)
        envelope = {"baseline": settings.run["baseline"]} if "baseline" in settings.run else {}
        self.kind = (Comparisons if dialect.get("kind") == "comparison" else Scores)(settings, envelope)
        phase = phase_of({}, settings)
        stated = {**settings.of_dialect, **settings.run}
        shared = [*check_relaxations(settings.manifest, phase)]
        shared += find_missing_metadata(stated, phase, ("protocol_version",))
        self.shared = sort(shared)
        """Reasons that every record has."""
        self._named = dialect_members(settings, settings.list_stated_by_dialect())
        self._start = f'"source":{{"bundle_sha256":"{sha256}","index":'
        self._steps: dict[tuple[RecordedStep, ...], str] = {}
        self._known: dict[Any, Metadata] = {}
        self._factors: tuple[Any, Any, str] = (None, None, "")
        self.read = self.unreadable = self.unselected = 0
        """Bytes that were read, rows that cannot be read, and rows and parts that hold no entry."""
        self._held = ""
        """Text of rows without an entry, which goes before the next entry's."""

    @property
    def header(self) -> dict[str, Any]:
        """The content of the file besides its entries, as far as it was read."""
        return {
            "container": self._reader.kind,
            **self._packed,
            "tail": self._held + self._reader.tail,
            "unselected": self.unselected,
            "unreadable": self.unreadable,
        }

    def drafts(self) -> Iterator[Draft]:
        """Yield the entries of all rows. Raises UnreadableContainer."""
        index = 0
        for row in self._reader.rows():
            self.read += len(row.raw) + len(row.gap)
            if not row.problem and not self._mapping.selects(row.value):
                self.unselected += 1
                self._held += row.gap + row.raw.decode()
                continue
            before = index
            row = row._replace(gap=self._held + row.gap) if self._held else row
            for draft in self._of_row(row, index):
                index += 1
                yield draft
            self._held = "" if index > before else row.gap + row.raw.decode()

    def _of_row(self, row: Row, index: int) -> Iterator[Draft]:
        if row.problem:
            self.unreadable += 1
            metadata = self._gather(_NOTHING, _NOTHING)
            body = f"{self._source(index, row, '', first=True)}}},{self._text(metadata, _NOTHING)}"
            yield Draft(index, None, None, None, body, metadata, Mapped(row, None), member=row.member)
            return
        first = index
        for made in self._mapping.entries(row, self._reader.document):
            if made is None:
                self.unselected += 1
                continue
            name, key = self.kind.identity(made.value, self._mapping.key, made.metadata)
            metadata = self._metadata(made)
            value = made.value
            if not value.get("scores", True):
                value = {key: given for key, given in value.items() if key != "scores"}
            parts = (
                f'{self._source(index, row, made.part, first=index == first, answer=made.answer)},"dialect":'
                f'{{{self._named},"steps":{self._steps_text(made.steps)}}}}}',
                members(value),
                self.kind.derive(value),
                self._text(metadata, self.kind.own_factors(made.value, made.metadata)),
            )
            body = ",".join(part for part in parts if part)
            key = key if name is not None else None
            yield Draft(index, made.value, name, key, body, metadata, Mapped(row, made), member=row.member)
            index += 1

    def reasons(self, draft: Draft, copies: int) -> list[Reason]:
        """Return the reasons against an entry, in their fixed order. A field that could not be made has one only."""
        row, made = draft.origin
        if made is None:
            where = f"member {row.member}" if row.member else f"line {row.line}"
            reason = Reason("row_unreadable", row.pointer, f"{where} cannot be read: {row.problem}")
            return sort([*self.shared, reason])
        metadata = draft.metadata
        found = self.kind.check(made.value, copies, metadata.values)
        if found or made.problems:
            blamed = [problem.pointer for problem in made.problems]
            found = [self.kind.name_declaration(each, made.value) for each in self.kind.excuse(found, blamed)]
            found += [Reason(*problem) for problem in made.problems]
        found += metadata.reasons
        if metadata.run_factors or metadata.listed_factors:
            own = self.kind.own_factors(made.value, made.metadata)
            found += contradictions({"factors": own}, {"factors": {**metadata.run_factors, **metadata.listed_factors}})
        return sort([*self.shared, *_relocate(found, row, made)]) if found else self.shared

    def _metadata(self, made: MappedEntry) -> Metadata:
        manifest, name = self._settings.manifest, made.value.get(self.kind.name, "")
        listed = manifest.files.get(name, _NOTHING) if manifest is not None else _NOTHING
        own = self.kind.own_metadata(made.value, listed)
        own = {**made.metadata, **own} if own else made.metadata
        key = (
            name if listed else None,
            *((k, type(v), v if isinstance(v, str) else repr(v)) for k, v in own.items() if k != "factors"),
        )
        known = self._known.get(key)
        if known is None:
            if len(self._known) > _MOST_KEPT:
                self._known.clear()
            known = self._known[key] = self._gather(own, listed)
        return known

    def _gather(self, own: dict[str, Any], listed: dict[str, Any]) -> Metadata:
        """Gather metadata: the manifest's file comes before the row, the row before the run."""
        run = self._settings.run
        scalars = {key: value for key, value in own.items() if key != "factors"}
        values = gather(self._settings, {}, {**scalars, **{k: v for k, v in listed.items() if k != "factors"}})
        found = [*self.kind.check_row_metadata(values, contradictions(scalars, {**run, **listed}))]
        text = self.kind.prefix + dumps(self.kind.select_metadata(values))[1:-1]
        return Metadata(values, text, found, run.get("factors", _NOTHING), listed.get("factors", _NOTHING))

    def _text(self, metadata: Metadata, own: dict[str, str]) -> str:
        """Return the metadata of a record as text. Entries of one row share their factors, and so the text."""
        if own is not self._factors[0] or metadata is not self._factors[1]:
            factors = self.kind.merge_factors(own, metadata.run_factors, metadata.listed_factors)
            text = f'{metadata.text},"factors":{dumps(factors)}' if factors else metadata.text
            self._factors = (own, metadata, text)
        return self._factors[2]

    def _source(self, index: int, row: Row, part: str, *, first: bool, answer: str | None = None) -> str:
        text = f'{self._start}{index},"pointer":{quoted(row.pointer + part)},"line":{row.line}'
        if row.member:
            text += f',"member":{quoted(row.member)}'
        if answer is not None:
            digest = hashlib.sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()
            text += f',"answer_sha256":"{digest}"'
        if not first:
            return text
        if row.gap != ("\n" if index else ""):
            text += f',"gap":{quoted(row.gap)}'
        try:
            return f'{text},"text":{quoted(row.raw.decode("utf-8"))}'
        except UnicodeDecodeError:
            return f'{text},"bytes":"{base64.b64encode(row.raw).decode("ascii")}"'

    def _steps_text(self, steps: tuple[RecordedStep, ...]) -> str:
        text = self._steps.get(steps)
        if text is None:
            done = [{"take": s.take, "put": s.put} | ({"as": s.how} if s.how else {}) for s in steps]
            if len(self._steps) > _MOST_KEPT:
                self._steps.clear()
            text = self._steps[steps] = dumps(done)
        return text


def _relocate(reasons: list[Reason], row: Row, made: MappedEntry) -> list[Reason]:
    """Return the reasons with pointers to where the values were written; to the part or row where there is none."""
    written = {step.put: step.take for step in made.steps}
    return [reason._replace(pointer=_place(row, made, written.get(reason.pointer, ""))) for reason in reasons]


def _place(row: Row, made: MappedEntry, take: str) -> str:
    if take.startswith("/"):
        return row.pointer + take
    return row.pointer + made.part + (take.removeprefix("part:") if take.startswith("part:") else "")
