"""Make drafts and reasons from the rows of a container, as `records` and `entry_rules` do for judge bundles."""

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from normalizer.containers.mapping import MappedEntry
from normalizer.containers.number_text import readable_by
from normalizer.containers.readers.rows import Row
from normalizer.documents.lossless import Number, dumps, members, to_builtin
from normalizer.documents.settings import Settings
from normalizer.screening import bundle_rules
from normalizer.screening.entry_rules import EntryRules, listing, self_judging
from normalizer.screening.reasons import Reason, sort
from normalizer.screening.records import METADATA, artifact_member, label_by_name
from normalizer.screening.row_sources import MOST_KEPT, RowSources, relocated, unreadable

_OWN = tuple(key for key in METADATA if key != "factors")
_NOTHING: dict[str, str] = {}


class RunMetadata(NamedTuple):
    """Metadata of an entry without the factors of its own, and what is wrong with it by itself."""

    text: str
    reasons: list[Reason]
    factors: dict[str, str]
    """Metadata of the run and of the manifest's file."""

    def with_factors(self, own: dict[str, str]) -> str:
        """The members as JSON text."""
        factors = {**own, **self.factors} if self.factors else own
        return f'{self.text},"factors":{dumps(factors)}' if factors else self.text


class RowRecords:
    """Makes drafts and finds their reasons, for the rows of one file."""

    mark = ""
    """Further fields of the header line."""

    def __init__(self, sha256: str, settings: Settings, key: list[str]) -> None:
        self._settings = settings
        self._phase = bundle_rules.phase_of({}, settings)
        self._key = key
        self._sources = RowSources(sha256, settings)
        self.rules = EntryRules(settings, self._phase)
        self.shared = sort(
            [
                *bundle_rules.relaxed(settings.manifest, self._phase),
                *bundle_rules.missing_metadata(
                    {**settings.of_dialect, **settings.run}, self._phase, ("protocol_version",)
                ),
            ]
        )
        """Reasons that every record has."""
        self._metadata: dict[Any, RunMetadata] = {}
        self._bare = self._gather({}, {}).with_factors({})

    def listing(self, seen: Collection[str]) -> list[Reason]:
        """The manifest's list against the files of the entries, as far as no record is to blame."""
        return sort(list(listing(self._settings.manifest, seen, self.rules.enforced, "")))

    def identity(self, made: MappedEntry) -> tuple[str, str] | None:
        """The file of an entry and what tells it apart from others; None where it names no file."""
        file = made.value.get("file")
        if file is None:
            return None
        if self._key == ["file"]:
            return file, file
        known = {"file": file, **made.metadata.get("factors", {}), **made.metadata}
        return file, repr([known.get(name) for name in self._key])

    def unreadable(self, index: int, row: Row) -> tuple[str, list[Reason]]:
        """The draft and the reasons of a row that cannot be read."""
        body = f"{self._sources.of_unreadable(index, row)},{self._bare}"
        return body, sort([*self.shared, unreadable(row)])

    def draft(self, index: int, row: Row, made: MappedEntry, copies: int, *, first: bool) -> tuple[str, list[Reason]]:
        """The draft and the reasons of an entry. `first`: it is the first of its row."""
        metadata = self._known(made)
        own = made.metadata.get("factors", _NOTHING)
        value = made.value if made.value["scores"] else {k: v for k, v in made.value.items() if k != "scores"}
        parts = (
            self._sources.of_entry(index, row, made, first=first),
            members(value),
            artifact_member(value.get("file"), self._settings.manifest),
            metadata.with_factors(own),
        )
        found = self._found(made, copies) + metadata.reasons
        if metadata.factors:
            found += contradictions({"factors": own}, {"factors": metadata.factors})
        reasons = self.shared
        if found:
            reasons = sort([*self.shared, *relocated(found, row, made)])
        return ",".join(part for part in parts if part), reasons

    def _found(self, made: MappedEntry, copies: int) -> list[Reason]:
        found = self.rules.check(made.value, copies)
        if not found and not made.problems:
            return found
        excused = {problem.pointer for problem in made.problems}
        kept = []
        for reason in found:
            if reason.pointer in excused or ("/scores" in excused and reason.code == "dimension_missing"):
                continue
            if reason.pointer == "/scores" and any(at.startswith("/scores") for at in excused):
                continue
            kept.append(self._as_declared(reason, made))
        return kept + [Reason(*problem) for problem in made.problems]

    def _as_declared(self, reason: Reason, made: MappedEntry) -> Reason:
        """A score that is text where the scale has numbers: say which declaration would read it."""
        name = reason.pointer.removeprefix("/scores/")
        score = made.value["scores"].get(name.replace("~1", "/").replace("~0", "~"))
        if reason.code != "score_not_allowed" or type(score) is not str or type(score) is Number:
            return reason
        patterns = readable_by(score)
        shown = dumps(score if len(score) <= 40 else score[:40] + "...")
        wanted = f'"number": ["{patterns[0]}"]' if patterns else '"labels", "number" or "failed"'
        return Reason("not_declared", reason.pointer, f"{shown} is text: declare {wanted} for it in the dialect")

    def _known(self, made: MappedEntry) -> RunMetadata:
        own = made.metadata
        manifest = self._settings.manifest
        file = made.value.get("file")
        listed = manifest.files.get(file, {}) if manifest is not None and type(file) is str else {}
        key = (file if listed else None, *(own.get(name) for name in _OWN))
        known = self._metadata.get(key)
        if known is None:
            if len(self._metadata) > MOST_KEPT:
                self._metadata.clear()
            known = self._metadata[key] = self._gather(own, listed)
        return known

    def _gather(self, own: dict[str, Any], listed: dict[str, Any]) -> RunMetadata:
        """The manifest's file comes before the row, the row before the run."""
        run = self._settings.run
        known = {**self._settings.of_dialect, **run, **own, **listed}
        values = {key: known[key] for key in METADATA if key != "factors" and key in known}
        values.setdefault("phase", Number("0"))
        if self._settings.labels_by_name:
            label_by_name(values, values.get("generator_model"))
        values.setdefault("rubric", self._settings.rubric.name)
        ordered = {key: values[key] for key in METADATA if key in values}
        found = [*bundle_rules.missing_metadata(ordered, self._phase, ("judge_model", "generator_model"))]
        scalars = {key: value for key, value in own.items() if key != "factors"}
        found += [*contradictions(scalars, {**run, **listed})]
        if ordered.get("self_judged") is not True:
            found += self_judging(ordered)
        if type(ordered.get("self_judged", False)) is not bool:
            found.append(Reason("entry_field_invalid", "/self_judged", "self_judged must be a boolean"))
        factors = {**run.get("factors", {}), **listed.get("factors", {})}
        return RunMetadata(dumps(ordered)[1:-1], found, factors)


def contradictions(own: dict[str, Any], others: dict[str, Any]) -> Iterator[Reason]:
    """Yield a reason for each value of a row that contradicts the manifest or --set."""
    for key, given in own.items():
        if key == "factors":
            known = others.get("factors", {})
            differing = [
                (f"factors.{n}", level, known[n]) for n, level in given.items() if known.get(n, level) != level
            ]
        else:
            differing = [(key, given, others[key])] if to_builtin(others.get(key, given)) != to_builtin(given) else []
        for label, one, other in differing:
            message = f"{label} is {dumps(one)} in the row and {dumps(other)} in the manifest or --set"
            yield Reason("manifest_contradiction", f"/{label.replace('.', '/', 1)}", message)
