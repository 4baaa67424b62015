"""Rows of a container to candidates and reasons: what `records` and `entry_rules` do for judge bundles."""

import base64
import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from normalizer.containers.mapping import Made, Step
from normalizer.containers.number_text import readable_by
from normalizer.containers.readers.rows import Row
from normalizer.documents.lossless import Number, dumps, plain, quoted
from normalizer.documents.settings import Settings
from normalizer.screening import bundle_rules
from normalizer.screening.entry_rules import EntryRules, self_judging
from normalizer.screening.reasons import Reason, sort
from normalizer.screening.records import METADATA

_OWN = tuple(key for key in METADATA if key != "factors")
_NOTHING: dict[str, str] = {}
_MOST_KEPT = 4096
"""Metadata and steps kept for rows that have the same."""


class RunMetadata(NamedTuple):
    """Metadata of an entry without the factors of its own, and what is wrong with it by itself."""

    text: str
    reasons: list[Reason]
    factors: dict[str, str]
    """Of the run and of the manifest's file."""

    def with_factors(self, own: dict[str, str]) -> str:
        """The members as they stand in a record."""
        factors = {**own, **self.factors} if self.factors else own
        return f'{self.text},"factors":{dumps(factors)}' if factors else self.text


class RowRecords:
    """Makes candidates and finds their reasons, for the rows of one file."""

    def __init__(self, sha256: str, settings: Settings, dialect_name: str) -> None:
        self._settings = settings
        self._phase = bundle_rules.phase_of({}, settings)
        self._name = quoted(dialect_name)
        self._source = f'"source":{{"bundle_sha256":"{sha256}","index":'
        self.rules = EntryRules(settings, self._phase)
        self.shared = sort(
            [
                *bundle_rules.relaxed(settings.manifest, self._phase),
                *bundle_rules.recorded(settings.run, self._phase, ("protocol_version",)),
            ]
        )
        """Reasons that every record has."""
        self._metadata: dict[Any, RunMetadata] = {}
        self._steps: dict[tuple[Step, ...], str] = {}
        self._bare = self._gather({}, {}).with_factors({})

    def unreadable(self, index: int, row: Row) -> tuple[str, list[Reason]]:
        """The candidate and the reasons of a row that cannot be read."""
        where = f"member {row.member}" if row.member else f"line {row.line}"
        reason = Reason("row_unreadable", row.pointer, f"{where} cannot be read: {row.problem}")
        body = f"{self._source_text(index, row, '', first=True)}}},{self._bare}"
        return body, sort([*self.shared, reason])

    def candidate(self, index: int, row: Row, made: Made, copies: int, *, first: bool) -> tuple[str, list[Reason]]:
        """The candidate and the reasons of an entry. `first`: it is the first of its row."""
        metadata = self._known(made)
        own = made.metadata.get("factors", _NOTHING)
        value = made.value if made.value["scores"] else {k: v for k, v in made.value.items() if k != "scores"}
        source = self._source_text(index, row, made.part, first=first, answer=made.answer)
        parts = (
            f'{source},"dialect":{{"name":{self._name},"steps":{self._steps_text(made.steps)}}}}}',
            dumps(value)[1:-1],
            self._artifact(value.get("file")),
            metadata.with_factors(own),
        )
        found = self._found(made, copies) + metadata.reasons
        if metadata.factors:
            found += _contradictions({"factors": own}, {"factors": metadata.factors})
        reasons = self.shared
        if found:
            written = {step.put: step.take for step in made.steps}
            reasons = sort([*self.shared, *(self._placed(reason, row, made, written) for reason in found)])
        return ",".join(part for part in parts if part), reasons

    def _found(self, made: Made, copies: int) -> list[Reason]:
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

    def _as_declared(self, reason: Reason, made: Made) -> Reason:
        """A score that is text where the scale has numbers: say which declaration would read it."""
        name = reason.pointer.removeprefix("/scores/")
        score = made.value["scores"].get(name.replace("~1", "/").replace("~0", "~"))
        if reason.code != "score_not_allowed" or type(score) is not str or type(score) is Number:
            return reason
        patterns = readable_by(score)
        shown = dumps(score if len(score) <= 40 else score[:40] + "...")
        wanted = f'"number": ["{patterns[0]}"]' if patterns else '"labels", "number" or "failed"'
        return Reason("not_declared", reason.pointer, f"{shown} is text: declare {wanted} for it in the dialect")

    def _placed(self, reason: Reason, row: Row, made: Made, written: dict[str, str]) -> Reason:
        """The reason with a pointer to where the value was written; to the part or row where there is none."""
        take = written.get(reason.pointer, "")
        if take.startswith("/"):
            return reason._replace(pointer=row.pointer + take)
        if take.startswith("part:"):
            return reason._replace(pointer=row.pointer + made.part + take.removeprefix("part:"))
        return reason._replace(pointer=row.pointer + made.part)

    def _source_text(self, index: int, row: Row, part: str, *, first: bool, answer: str | None = None) -> str:
        text = f'{self._source}{index},"pointer":{quoted(row.pointer + part)},"line":{row.line}'
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

    def _steps_text(self, steps: tuple[Step, ...]) -> str:
        text = self._steps.get(steps)
        if text is None:
            done = [{"take": s.take, "put": s.put} | ({"as": s.how} if s.how else {}) for s in steps]
            if len(self._steps) > _MOST_KEPT:
                self._steps.clear()
            text = self._steps[steps] = dumps(done)
        return text

    def _artifact(self, file: Any) -> str:
        if type(file) is not str:
            return ""
        manifest = self._settings.manifest
        listed = manifest.files.get(file, {}) if manifest is not None else {}
        return f'"artifact":{quoted(listed.get("artifact", file))}'

    def _known(self, made: Made) -> RunMetadata:
        own = made.metadata
        manifest = self._settings.manifest
        file = made.value.get("file")
        listed = manifest.files.get(file, {}) if manifest is not None and type(file) is str else {}
        key = (file if listed else None, *(own.get(name) for name in _OWN))
        known = self._metadata.get(key)
        if known is None:
            if len(self._metadata) > _MOST_KEPT:
                self._metadata.clear()
            known = self._metadata[key] = self._gather(own, listed)
        return known

    def _gather(self, own: dict[str, Any], listed: dict[str, Any]) -> RunMetadata:
        """The manifest's file comes before the row, the row before the run."""
        run = self._settings.run
        values = {
            key: next(given[key] for given in (listed, own, run) if key in given)
            for key in METADATA
            if key != "factors" and (key in listed or key in own or key in run)
        }
        values.setdefault("phase", Number("0"))
        values.setdefault("rubric", self._settings.rubric.name)
        ordered = {key: values[key] for key in METADATA if key in values}
        found = [*bundle_rules.recorded(ordered, self._phase, ("judge_model", "generator_model"))]
        scalars = {key: value for key, value in own.items() if key != "factors"}
        found += [*_contradictions(scalars, {**run, **listed})]
        if ordered.get("self_judged") is not True:
            found += self_judging(ordered)
        if type(ordered.get("self_judged", False)) is not bool:
            found.append(Reason("entry_field_invalid", "/self_judged", "self_judged must be a boolean"))
        factors = {**run.get("factors", {}), **listed.get("factors", {})}
        return RunMetadata(dumps(ordered)[1:-1], found, factors)


def _contradictions(own: dict[str, Any], others: dict[str, Any]) -> Iterator[Reason]:
    """Where a row and the manifest or --set both give a value they must agree."""
    for key, given in own.items():
        if key == "factors":
            known = others.get("factors", {})
            differing = [
                (f"factors.{n}", level, known[n]) for n, level in given.items() if known.get(n, level) != level
            ]
        else:
            differing = [(key, given, others[key])] if plain(others.get(key, given)) != plain(given) else []
        for label, one, other in differing:
            message = f"{label} is {dumps(one)} in the row and {dumps(other)} in the manifest or --set"
            yield Reason("manifest_contradiction", f"/{label.replace('.', '/', 1)}", message)
