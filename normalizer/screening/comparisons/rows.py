"""Rows of a container to comparisons: drafts and reasons, as `row_records` makes them for single scores."""

from collections.abc import Collection
from typing import Any, NamedTuple

from normalizer.containers.mapping import MappedEntry
from normalizer.containers.readers.rows import Row
from normalizer.documents.lossless import dumps, members
from normalizer.documents.settings import Settings
from normalizer.ledger.line_format import COMPARISON_MARK
from normalizer.screening import bundle_rules
from normalizer.screening.bundle import COMPARISONS, Bundle
from normalizer.screening.comparisons.records import ComparisonDrafts
from normalizer.screening.comparisons.rules import ComparisonRules, identity
from normalizer.screening.reasons import Reason, sort
from normalizer.screening.row_records import contradictions
from normalizer.screening.row_sources import MOST_KEPT, RowSources, relocated, unreadable

_NOTHING: dict[str, Any] = {}


class _Known(NamedTuple):
    """Run metadata of a record without its factors, and what is wrong with it by itself."""

    values: dict[str, Any]
    text: str
    reasons: list[Reason]
    run: dict[str, str]
    """Factors of the run."""
    listed: dict[str, str]
    """Factors of the manifest's item."""

    @property
    def stated(self) -> dict[str, str]:
        """Factors that the row must not contradict."""
        return {**self.run, **self.listed} if self.run or self.listed else _NOTHING

    def with_levels(self, levels: dict[str, str]) -> str:
        """The members as they stand in a record."""
        factors = {**self.run, **levels, **self.listed} if self.run or self.listed else levels
        return f'{self.text},"factors":{{{members(factors)}}}' if factors else self.text


class RowComparisons:
    """Makes drafts and finds their reasons, for the rows of one file."""

    mark = COMPARISON_MARK
    """Further fields of the header line."""

    def __init__(self, sha256: str, settings: Settings) -> None:
        self._settings = settings
        stated = {"baseline": settings.run["baseline"]} if "baseline" in settings.run else {}
        self._run = Bundle({}, stated, [], "", [], [], COMPARISONS)
        """Stands for the bundle that a file of rows does not have."""
        self._drafts = ComparisonDrafts(self._run, sha256, settings)
        self._rules = ComparisonRules(self._run, settings)
        self._sources = RowSources(sha256, settings)
        phase = bundle_rules.phase_of({}, settings)
        self._shared = sort(
            [
                *bundle_rules.relaxed(settings.manifest, phase),
                *bundle_rules.missing_metadata({**settings.of_dialect, **settings.run}, phase, ("protocol_version",)),
            ]
        )
        self._by_name = settings.labels_by_name
        self._known: dict[Any, _Known] = {}
        self._levels: dict[str, str] | None = None
        self._last: _Known | None = None
        self._text = ""
        self._bare = self._drafts.gather({}).text

    def listing(self, seen: Collection[str]) -> list[Reason]:
        """The manifest's list against the items compared, as far as no record is to blame."""
        return self._rules.listing(seen)

    def identity(self, made: MappedEntry) -> tuple[str, str] | None:
        """The item of a comparison and what tells it apart from others; None where it names no item."""
        item = made.value.get("item")
        return None if item is None else (item, identity(self._run, made.value))

    def unreadable(self, index: int, row: Row) -> tuple[str, list[Reason]]:
        """The draft and the reasons of a row that cannot be read."""
        body = f"{self._sources.of_unreadable(index, row)},{self._bare}"
        return body, sort([*self._shared, unreadable(row)])

    def draft(self, index: int, row: Row, made: MappedEntry, copies: int, *, first: bool) -> tuple[str, list[Reason]]:
        """The draft and the reasons of a comparison. `first`: it is the first of its row."""
        value = made.value
        metadata = self._metadata(made)
        levels = value.get("levels", _NOTHING)
        parts = (
            self._sources.of_entry(index, row, made, first=first),
            members(value),
            self._drafts.derived(value),
            self._with_levels(metadata, levels),
        )
        found = [*metadata.reasons, *self._found(made, copies, metadata.values)]
        if metadata.stated:
            found += contradictions({"factors": levels}, {"factors": metadata.stated})
        reasons = sort([*self._shared, *relocated(found, row, made)]) if found else self._shared
        return ",".join(part for part in parts if part), reasons

    def _with_levels(self, metadata: _Known, levels: dict[str, str]) -> str:
        """The metadata of a record as text. Entries of one row share their levels, and so the text."""
        if levels is not self._levels or metadata is not self._last:
            self._levels, self._last = levels, metadata
            self._text = metadata.with_levels(levels)
        return self._text

    def _found(self, made: MappedEntry, copies: int, metadata: dict[str, Any]) -> list[Reason]:
        """Everything wrong with the entry. A field that could not be made has that reason only."""
        found = self._rules.check(made.value, copies, metadata)
        kept = [
            _as_declared(reason, made.value)
            for reason in found
            if not any(_concerns(reason.pointer, problem.pointer) for problem in made.problems)
        ]
        return kept + [Reason(*problem) for problem in made.problems]

    def _metadata(self, made: MappedEntry) -> _Known:
        """Return the record's run metadata, and reasons where the row contradicts the manifest or --set."""
        value = made.value
        manifest = self._settings.manifest
        item = value.get("item", "")
        listed = manifest.files.get(item, {}) if manifest is not None else {}
        by_name = self._drafts.label_of(value, listed) if self._by_name else _NOTHING
        label = value.get("own_output", by_name)
        key = (value.get("judge"), type(label), repr(label), tuple(made.metadata.items()), item if listed else None)
        known = self._known.get(key)
        if known is None:
            if len(self._known) > MOST_KEPT:
                self._known.clear()
            own = {**made.metadata, **{name: value[given] for given, name in _OWN.items() if given in value}, **by_name}
            known = self._known[key] = self._gather(own, listed)
        return known

    def _gather(self, own: dict[str, Any], listed: dict[str, Any]) -> _Known:
        run = self._settings.run
        gathered = self._drafts.gather({key: each for key, each in {**own, **listed}.items() if key != "factors"})
        values = {key: each for key, each in gathered.values.items() if key != "factors"}
        pointers = {"/judge_model": "/judge", "/self_judged": "/own_output"}
        reasons = [
            reason._replace(pointer=pointers.get(reason.pointer, reason.pointer))
            for reason in contradictions(own, {**run, **listed})
        ]
        text = f'"kind":"comparison",{dumps(values)[1:-1]}'
        return _Known(values, text, reasons, run.get("factors", {}), listed.get("factors", {}))


_OWN = {"judge": "judge_model", "own_output": "self_judged"}
"""Fields by which a row gives its own value of the run's metadata."""


def _concerns(pointer: str, problem: str) -> bool:
    """Whether a reason is about the field that a problem is about."""
    return (
        pointer == problem or pointer.startswith(f"{problem}/") or (pointer != "" and problem.startswith(f"{pointer}/"))
    )


def _as_declared(reason: Reason, value: dict[str, Any]) -> Reason:
    """A text that is no verdict or order: say which declaration would read it."""
    written = value.get(reason.pointer.removeprefix("/"))
    if reason.code != "entry_field_invalid" or reason.pointer not in ("/verdict", "/order") or type(written) is not str:
        return reason
    shown = dumps(written if len(written) <= 40 else written[:40] + "...")
    wanted = '"words", "number" or "failed"' if reason.pointer == "/verdict" else '"words"'
    return Reason("not_declared", reason.pointer, f"{shown} is text: declare {wanted} for it in the dialect")
