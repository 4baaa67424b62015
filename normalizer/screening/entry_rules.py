"""Entries of single scores: what is wrong with each, and what a record says of it. A reason blames as few records as
possible.

The schema checks shapes; this module checks the constraints of the phase, which a schema cannot state. Whether a VALID
record may be aggregated is decided elsewhere (`protocol.eligibility`).
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import contract_spec as spec

from normalizer.containers.conversions import readable_by
from normalizer.documents import protocol
from normalizer.documents.lossless import Number, dumps, exact_value
from normalizer.documents.pointers import AppliedStep, escape, original
from normalizer.documents.rubric import Scale, exact_sum
from normalizer.documents.settings import Settings
from normalizer.screening.metadata import Judgements, artifact_member, find_missing_metadata
from normalizer.screening.reasons import Reason, find_shape_reasons, shorten

_SCHEMA = "eval/judge_bundle.json#/$defs/entry"
FIELDS = ("file", "scores", "evidence", "total", "notes")
"""The fields of an entry, in the order in which a record has them."""


class Scores(Judgements):
    """The kind of judgement that scores one answer by the dimensions of a rubric."""

    name = "file"
    fields = FIELDS
    unlisted = "the manifest's file {} has no entry"

    def __init__(self, settings: Settings, envelope: dict[str, Any]) -> None:
        super().__init__(settings, envelope)
        self._rubric = settings.rubric
        self._rubric_sha256 = settings.identity["rubric"]
        dimensions = settings.rubric.dimensions
        self._usual = {
            key: (Number if given.scale.labels is None else str, given.scale.spellings)
            for key, given in dimensions.items()
        }
        everywhere = "evidence_everywhere" in self.enforced
        asked = "rubric_evidence" in self.enforced
        self._to_quote = [key for key, given in dimensions.items() if everywhere or (asked and given.evidence_required)]
        self._optional = frozenset(settings.rubric.optional)

    def select_metadata(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the metadata that a record shows: with the digest of the rubric that it was screened under."""
        return {**values, "rubric_sha256": self._rubric_sha256}

    def identity(
        self, value: dict[str, Any], key: list[str] | None = None, own: dict[str, Any] | None = None
    ) -> tuple[str | None, str | None]:
        """Return the file of an entry and what tells it apart from others; nothing where it names no file."""
        file = value.get("file")
        if type(file) is not str:
            return None, None
        if own is None or key == ["file"]:
            return file, file
        known = {"file": file, **own.get("factors", {}), **own}
        return file, repr([known.get(name) for name in key or ()])

    def derive(self, value: dict[str, Any]) -> str:
        """Return the members that stand between the copied fields and the metadata."""
        return artifact_member(value.get("file"), self._manifest)

    def own_factors(self, value: dict[str, Any], own: dict[str, Any]) -> dict[str, str]:  # noqa: ARG002 - as comparisons
        """Return the factors that a row gives."""
        factors: dict[str, str] = own.get("factors", _NOTHING)
        return factors

    def merge_factors(self, own: dict[str, str], run: dict[str, str], listed: dict[str, str]) -> dict[str, str]:
        """Return all factors of a row's record."""
        return {**own, **run, **listed} if run or listed else own

    def check(self, value: Any, copies: int, metadata: dict[str, Any]) -> list[Reason]:  # noqa: ARG002 - as comparisons
        """Everything wrong with an entry, pointers as in the entry. `copies` entries of the bundle share its key."""
        found = [] if _is_plain(value) else find_shape_reasons(spec.violations(_SCHEMA, _outline(value)))
        if type(value) is dict:
            found += self._file(value.get("file"), copies)
            if type(value.get("scores")) is dict:
                found += self._scores(value["scores"])
                found += self._total(value["scores"], value.get("total"))
            found += self._evidence(value.get("evidence", {}), value.get("scores"))
        return found

    def _file(self, file: Any, copies: int) -> Iterator[Reason]:
        if type(file) is not str:
            return
        if copies > 1:
            yield Reason("file_duplicated", "/file", f"{copies} entries are for {dumps(file)}")
        if self._manifest is not None and file not in self._manifest.files and "manifest_files" in self.enforced:
            yield Reason("file_not_in_manifest", "/file", f"{dumps(file)} is not in the manifest")

    def _scores(self, scores: dict[str, Any]) -> Iterator[Reason]:
        if self._as_usual(scores):
            return
        dimensions = self._rubric.dimensions
        for key, score in scores.items():
            pointer = f"/scores/{escape(key)}"
            if key not in dimensions:
                if "rubric_keys" in self.enforced:
                    hint = ": a total belongs beside scores, not among them" if key == "total" else ""
                    message = f"{dumps(key)} is not a dimension of {self._rubric.name}{hint}"
                    yield Reason("dimension_unknown", pointer, message)
            elif type(score) in (str, Number) and "rubric_values" in self.enforced:
                scale = self._scale(key)
                if scale.worth(score) is None:
                    yield Reason("score_not_allowed", pointer, f"{key} must be {scale.words}, not {shorten(score)}")
        if "rubric_keys" in self.enforced:
            for key in dimensions:
                if key not in scores and key not in self._optional:
                    message = f"{key} is not scored, and the rubric {self._rubric.name} has it"
                    yield Reason("dimension_missing", f"/scores/{escape(key)}", message)

    def _as_usual(self, scores: dict[str, Any]) -> bool:
        """Fast path: whether every dimension has a score whose spelling is known to be allowed."""
        if len(scores) != len(self._usual):
            return False
        for key, score in scores.items():
            known = self._usual.get(key)
            if known is None or type(score) is not known[0] or score not in known[1]:
                return False
        return True

    def _total(self, scores: dict[str, Any], total: Any) -> Iterator[Reason]:
        if type(total) is not Number or "total_is_sum" not in self.enforced:
            return
        worths = [self._worth(key, scores[key]) for key in self._usual if key in scores]
        known = [worth for worth in worths if worth is not None]
        if len(known) < len(worths):
            return  # a sum over scores that are not on the scale is no sum: they have their own reasons
        right = exact_sum(known)
        if right != exact_value(total):
            yield Reason("total_mismatch", "/total", f"total is {shorten(total)}, but the scores add up to {right:f}")

    def _worth(self, key: str, score: Any) -> Decimal | None:
        kind, spellings = self._usual[key]
        return spellings[score] if type(score) is kind and score in spellings else self._scale(key).worth(score)

    def _scale(self, key: str) -> Scale:
        return self._rubric.dimensions[key].scale

    def _evidence(self, evidence: Any, scores: Any) -> Iterator[Reason]:
        if type(evidence) is not dict:
            return
        left_out = self._optional.difference(scores) if type(scores) is dict else ()
        for key in self._to_quote:
            if key in left_out:
                continue
            quote = evidence.get(key, "")
            if type(quote) is str and not quote.strip():
                yield Reason("evidence_missing", f"/evidence/{escape(key)}", f"{key} has no evidence")
        if "rubric_keys" in self.enforced and not evidence.keys() <= self._usual.keys():
            for key in evidence.keys() - self._usual.keys():
                message = f"{dumps(key)} is not a dimension of {self._rubric.name}"
                yield Reason("evidence_unknown", f"/evidence/{escape(key)}", message)

    def check_metadata(self, values: dict[str, Any], taken: dict[str, Any], moved: list[AppliedStep]) -> list[Reason]:
        """Return what is wrong with the metadata of a bundle's entry. `taken` is what the dialect moved away."""
        found = list(find_missing_metadata(values, self._phase, ("generator_model",)))
        label = values.get("self_judged")
        for stated in (values, {**values, **taken}) if label is not True else ():
            found += self_judging(stated)
        found = [reason._replace(pointer=original(reason.pointer, moved)) for reason in found]
        if taken.get("self_judged") is True and label is not True:
            message = "the bundle says self_judged: true, and neither the dialect nor the manifest keeps the label"
            found.append(Reason("self_judging_unlabelled", "/self_judged", message))
        return found

    def check_row_metadata(self, values: dict[str, Any], contradicted: Iterator[Reason]) -> list[Reason]:
        """Return what is wrong with the metadata of a row's entry."""
        found = [*find_missing_metadata(values, self._phase, ("judge_model", "generator_model"))]
        found += contradicted
        if values.get("self_judged") is not True:
            found += self_judging(values)
        if type(values.get("self_judged", False)) is not bool:
            found.append(Reason("entry_field_invalid", "/self_judged", "self_judged must be a boolean"))
        return found

    def excuse(self, found: list[Reason], blamed: list[str]) -> list[Reason]:
        """Return the reasons that are not about fields which could not be made."""
        return [
            reason
            for reason in found
            if reason.pointer not in blamed
            and not ("/scores" in blamed and reason.code == "dimension_missing")
            and not (reason.pointer == "/scores" and any(at.startswith("/scores") for at in blamed))
        ]

    def name_declaration(self, reason: Reason, value: dict[str, Any]) -> Reason:
        """Return the reason; of a score that is text where the scale has numbers, which declaration would read it."""
        name = reason.pointer.removeprefix("/scores/")
        score = value["scores"].get(name.replace("~1", "/").replace("~0", "~"))
        if reason.code != "score_not_allowed" or type(score) is not str or type(score) is Number:
            return reason
        patterns = readable_by(score)
        shown = dumps(score if len(score) <= 40 else score[:40] + "...")
        wanted = f'"number": ["{patterns[0]}"]' if patterns else '"labels", "number" or "failed"'
        return Reason("not_declared", reason.pointer, f"{shown} is text: declare {wanted} for it in the dialect")


_NOTHING: dict[str, str] = {}


def self_judging(values: dict[str, Any]) -> list[Reason]:
    """Return a reason if the judge judged its own output without a label."""
    if not protocol.judges_itself(values):
        return []
    message = f"{dumps(values['judge_model'])} judged its own output, which must be labelled self_judged: true"
    return [Reason("self_judging_unlabelled", "/self_judged", message)]


def _is_plain(value: Any) -> bool:
    """Fast path: True only if the schema accepts the entry. False says nothing."""
    if type(value) is not dict:
        return False
    known = 2
    file, scores = value.get("file"), value.get("scores")
    if type(file) is not str or not file or type(scores) is not dict or not scores:
        return False
    for score in scores.values():
        if type(score) is not Number:
            return False
    if "evidence" in value:
        known += 1
        evidence = value["evidence"]
        if type(evidence) is not dict:
            return False
        for quote in evidence.values():
            if type(quote) is not str:
                return False
    for name, kind in (("total", Number), ("notes", str)):
        if name in value:
            known += 1
            if type(value[name]) is not kind:
                return False
    return len(value) == known


def _outline(value: Any) -> Any:
    """Return the value with 0 for every number: the schema checks that it is a number, never which."""
    kind = type(value)
    if kind is dict:
        return {
            key: inner if type(inner) is str else 0 if type(inner) is Number else _outline(inner)
            for key, inner in value.items()
        }
    if kind is list:
        return [_outline(inner) for inner in value]
    return 0 if kind is Number else value
