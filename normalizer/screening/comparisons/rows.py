"""Rows of a container to comparisons: candidates and reasons, as `row_records` makes them for single scores."""

from collections.abc import Collection
from typing import Any

from normalizer.containers.mapping import Made, Mapping
from normalizer.containers.readers.rows import Row
from normalizer.documents.lossless import dumps
from normalizer.documents.settings import Settings
from normalizer.ledger.line_format import COMPARISON_MARK
from normalizer.screening import bundle_rules
from normalizer.screening.bundle import COMPARISONS, Bundle
from normalizer.screening.comparisons.records import ComparisonCandidates
from normalizer.screening.comparisons.rules import ComparisonRules, identity
from normalizer.screening.reasons import Reason, sort
from normalizer.screening.records import Metadata
from normalizer.screening.row_records import contradictions
from normalizer.screening.row_sources import MOST_KEPT, RowSources, placed, unreadable


class RowComparisons:
    """Makes candidates and finds their reasons, for the rows of one file."""

    mark = COMPARISON_MARK
    """Further fields of the header line."""

    def __init__(self, sha256: str, settings: Settings, mapping: Mapping) -> None:
        self._settings = settings
        stated = {"baseline": settings.run["baseline"]} if "baseline" in settings.run else {}
        self._run = Bundle({}, stated, [], "", [], [], COMPARISONS)
        """Stands for the bundle that a file of rows does not have."""
        self._candidates = ComparisonCandidates(self._run, sha256, settings)
        self._rules = ComparisonRules(self._run, settings)
        self._sources = RowSources(sha256, mapping.name)
        phase = bundle_rules.phase_of({}, settings)
        self._shared = sort(
            [
                *bundle_rules.relaxed(settings.manifest, phase),
                *bundle_rules.recorded(settings.run, phase, ("protocol_version",)),
            ]
        )
        self._known: dict[str, tuple[Metadata, list[Reason]]] = {}
        self._bare = self._candidates.gather({}).text

    def listing(self, seen: Collection[str]) -> list[Reason]:
        """The manifest's list against the items compared, as far as no record is to blame."""
        return self._rules.listing(seen)

    def identity(self, made: Made) -> tuple[str, str] | None:
        """The item of a comparison and what tells it apart from others; None where it names no item."""
        item = made.value.get("item")
        return None if item is None else (item, identity(self._run, made.value))

    def unreadable(self, index: int, row: Row) -> tuple[str, list[Reason]]:
        """The candidate and the reasons of a row that cannot be read."""
        body = f"{self._sources.of_unreadable(index, row)},{self._bare}"
        return body, sort([*self._shared, unreadable(row)])

    def candidate(self, index: int, row: Row, made: Made, copies: int, *, first: bool) -> tuple[str, list[Reason]]:
        """The candidate and the reasons of a comparison. `first`: it is the first of its row."""
        value = made.value
        metadata, found = self._metadata(made)
        parts = (
            self._sources.of_entry(index, row, made, first=first),
            dumps(value)[1:-1],
            self._candidates.derived(value),
            metadata.text,
        )
        found = [*found, *self._found(made, copies, metadata.values)]
        reasons = sort([*self._shared, *placed(found, row, made)]) if found else self._shared
        return ",".join(part for part in parts if part), reasons

    def _found(self, made: Made, copies: int, metadata: dict[str, Any]) -> list[Reason]:
        """Everything wrong with the entry. A field that could not be made has that reason only."""
        found = self._rules.check(made.value, copies, metadata)
        kept = [
            _as_declared(reason, made.value)
            for reason in found
            if not any(_concerns(reason.pointer, problem.pointer) for problem in made.problems)
        ]
        return kept + [Reason(*problem) for problem in made.problems]

    def _metadata(self, made: Made) -> tuple[Metadata, list[Reason]]:
        """Return the record's run metadata, and reasons where the row contradicts the manifest or --set."""
        value = made.value
        manifest = self._settings.manifest
        listed = manifest.files.get(value.get("item", ""), {}) if manifest is not None else {}
        own = dict(made.metadata)
        own |= {name: value[key] for key, name in _OWN.items() if key in value}
        levels = value.get("levels", {})
        key = dumps([own, levels, value.get("item") if listed else None])
        known = self._known.get(key)
        if known is None:
            if len(self._known) > MOST_KEPT:
                self._known.clear()
            factors = {**levels, **listed.get("factors", {})}
            given = {**own, **listed, **({"factors": factors} if factors else {})}
            run = self._settings.run
            others = {**run, **listed, "factors": {**run.get("factors", {}), **listed.get("factors", {})}}
            differing = contradictions({**own, "factors": levels}, others)
            pointers = {"/judge_model": "/judge", "/self_judged": "/own_output"}
            reasons = [reason._replace(pointer=pointers.get(reason.pointer, reason.pointer)) for reason in differing]
            known = self._known[key] = (self._candidates.gather(given), reasons)
        return known


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
