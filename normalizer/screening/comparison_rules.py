"""Entries that compare two answers: what is wrong with each, and what a record says of it.

The schema checks shapes; this module checks duplicates, the manifest's list of items, whether the outcome can be
derived, and the constraints that the phase enforces. An unknown order is not wrong by itself: only a verdict about
positions needs the order. Such a verdict on answers that were shown in swapped order is turned back here and nowhere
else; `outcome.turned` records it.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import contract_spec as spec

from normalizer.documents.lossless import Number, dumps, exact_value, members, to_builtin
from normalizer.documents.rubric import exact_sum
from normalizer.documents.settings import Settings
from normalizer.ledger.line_format import COMPARISON_MARK
from normalizer.screening.metadata import Judgements, artifact_member, label_by_name
from normalizer.screening.reasons import Reason, find_shape_reasons, shorten

_OTHER = {"a": "b", "b": "a"}
_SHOWN_FIRST = {"ab": "a", "ba": "b"}


def generators(envelope: dict[str, Any], entry: dict[str, Any]) -> tuple[Any, Any]:
    """The generators of A and B; B's is the bundle's baseline where the entry names none."""
    return entry.get("a"), entry.get("b", envelope.get("baseline"))


def about(envelope: dict[str, Any], entry: dict[str, Any]) -> Any:
    """The meaning of `a` and `b` in the verdict: the answers by name, or the positions shown."""
    return entry.get("verdict_about", envelope.get("verdict_about", "answers"))


def outcome(envelope: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any] | None:
    """The verdict in the entry's own terms, or None where the entry does not say enough for one."""
    a, b = generators(envelope, entry)
    order, frame = entry.get("order", "unknown"), about(envelope, entry)
    if type(a) is not str or type(b) is not str or order not in (*_SHOWN_FIRST, "unknown") or not a or not b:
        return None
    if frame not in ("answers", "positions") or "verdict" not in entry:
        return None
    told = verdict_winner(entry["verdict"])
    if told is None:
        return None
    winner, share = told
    turned = frame == "positions" and order == "ba"
    if winner in _OTHER and frame == "positions" and order == "unknown":
        return None
    if turned:
        winner = _OTHER.get(winner, winner)
        share = None if share is None else exact_sum([Decimal(1), -share])
    found: dict[str, Any] = {"a": a, "b": b, "winner": winner}
    if share is not None:
        found["share"] = Number(f"{share:f}")
    return {**found, "shown_first": _SHOWN_FIRST.get(order, "unknown"), "turned": turned}


def verdict_winner(verdict: Any) -> tuple[str, Decimal | None] | None:
    """The winner a verdict names, and A's share where it is a preference; None where it is not a verdict."""
    if verdict is None:
        return "missing", None
    if type(verdict) is Number:
        preference = exact_value(verdict)
        if preference is None or not 1 <= preference <= 2:
            return None
        middle = Decimal("1.5")
        winner = "a" if preference < middle else "b" if preference > middle else "draw"
        return winner, exact_sum([Decimal(2), -preference])
    if type(verdict) is str:
        return (verdict, None) if verdict in ("a", "b", "draw", "both_bad") else None
    if type(verdict) is dict and verdict.keys() == {"a", "b"}:
        scores = [exact_value(score) if type(score) is Number else None for score in (verdict["a"], verdict["b"])]
        if scores[0] is None or scores[1] is None:
            return None
        return ("a" if scores[0] > scores[1] else "b" if scores[1] > scores[0] else "draw"), None
    return None


_SCHEMA = "eval/comparison_bundle.json#/$defs/comparison_entry"
_TWO_SCORES = "eval/comparison_bundle.json#/$defs/two_scores"
_VERDICTS = "a, b, draw, both_bad, a preference from 1 to 2, an object with the scores a and b, or null"
FIELDS = (
    "item",
    "a",
    "b",
    "verdict",
    "order",
    "verdict_about",
    "repeat",
    "criterion",
    "judge",
    "own_output",
    "levels",
    "length",
    "evidence",
    "notes",
)
"""The fields of an entry, in the order in which a record has them."""
_OWN = {"judge": "judge_model", "own_output": "self_judged"}
"""Fields by which an entry gives its own value of the run's metadata."""
_OF_SCORES = ("generator_model", "rubric")
_NOTHING: dict[str, str] = {}


class Comparisons(Judgements):
    """The kind of judgement that says which of two answers is better."""

    name = "item"
    fields = FIELDS
    mark = COMPARISON_MARK
    prefix = '"kind":"comparison",'
    unlisted = "the manifest's item {} has no comparison"

    def __init__(self, settings: Settings, envelope: dict[str, Any]) -> None:
        super().__init__(settings, envelope)
        self._settings, self._envelope = settings, envelope
        self._by_name = settings.labels_by_name

    def identity(
        self,
        value: dict[str, Any],
        key: list[str] | None = None,  # noqa: ARG002 - as scores
        own: dict[str, Any] | None = None,  # noqa: ARG002 - as scores
    ) -> tuple[str | None, str | None]:
        """Return the item of a comparison and what tells it apart from others."""
        item = value.get("item")
        return (item if type(item) is str else None), identity(self._envelope, value)

    def derive(self, value: dict[str, Any]) -> str:
        """Return the item's stable id and, if it can be derived, the outcome."""
        found = outcome(self._envelope, value)
        artifact = artifact_member(value.get("item"), self._manifest)
        if found is None:
            return artifact
        return f'{artifact}{"," if artifact else ""}"outcome":{{{members(found)}}}'

    def own_metadata(self, value: dict[str, Any], listed: dict[str, Any]) -> dict[str, Any]:
        """Return the run metadata that fields of an entry give; its label where the run is labelled by name."""
        own = {name: value[key] for key, name in _OWN.items() if key in value}
        given = (self._envelope, listed)
        if not self._by_name or "own_output" in value or any("self_judged" in part for part in given):
            return own
        known = {**self._settings.run, **self._envelope, **listed}
        values = {"judge_model": value.get("judge", known.get("judge_model"))}
        label_by_name(values, *generators(self._envelope, value))
        return {**own, **({"self_judged": values["self_judged"]} if "self_judged" in values else {})}

    def own_factors(self, value: dict[str, Any], own: dict[str, Any]) -> dict[str, str]:  # noqa: ARG002 - as scores
        """Return the factors that a row gives."""
        levels: dict[str, str] = value.get("levels", _NOTHING)
        return levels

    def merge_factors(self, own: dict[str, str], run: dict[str, str], listed: dict[str, str]) -> dict[str, str]:
        """Return all factors of a row's record."""
        return {**run, **own, **listed} if run or listed else own

    def select_metadata(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the metadata that a record shows."""
        return {key: value for key, value in values.items() if key not in _OF_SCORES}

    def check(self, value: Any, copies: int, metadata: dict[str, Any]) -> list[Reason]:
        """Everything wrong with an entry, pointers as in the entry. `copies` entries claim to be this comparison."""
        found = _find_shape_reasons(value)
        if type(value) is dict:
            found += self._item(value, copies)
            found += self._outcome(value)
            found += self._evidence(value.get("evidence", {}))
            found += self._judge(value, metadata)
        return found

    def _item(self, entry: dict[str, Any], copies: int) -> Iterator[Reason]:
        if copies > 1:
            message = f"{copies} entries are for this item, pair, order, judge and repeat: number them with repeat"
            yield Reason("comparison_duplicated", "", message)
        item = entry.get("item")
        unlisted = self._manifest is not None and type(item) is str and item not in self._manifest.files
        if unlisted and "manifest_files" in self.enforced:
            yield Reason("file_not_in_manifest", "/item", f"{dumps(item)} is not in the manifest")

    def _outcome(self, entry: dict[str, Any]) -> Iterator[Reason]:
        a, b = generators(self._envelope, entry)
        if b is None and "b" not in entry:
            yield Reason("generator_model_missing", "/b", "the entry names no b, and the bundle or run no baseline")
        if type(a) is str and a == b:
            yield Reason("generators_equal", "/a", f"both answers are of {dumps(a)}: give them different names")
        told = verdict_winner(entry.get("verdict"))
        verdict = entry.get("verdict")
        if told is None and type(verdict) is dict and not spec.violations(_TWO_SCORES, to_builtin(verdict)):
            yield Reason("entry_field_invalid", "/verdict", "verdict has a score that cannot be compared")
        sides = told is not None and told[0] in ("a", "b")
        if sides and about(self._envelope, entry) == "positions" and entry.get("order", "unknown") == "unknown":
            message = "the verdict is about positions, and the order in which the answers were shown is not recorded"
            yield Reason("order_unknown", "/order", message)

    def _evidence(self, evidence: Any) -> Iterator[Reason]:
        if type(evidence) is not dict or "evidence_everywhere" not in self.enforced:
            return
        for side in ("a", "b"):
            quote = evidence.get(side, "")
            if type(quote) is str and not quote.strip():
                yield Reason("evidence_missing", f"/evidence/{side}", f"answer {side} has no evidence")

    def _judge(self, entry: dict[str, Any], values: dict[str, Any]) -> Iterator[Reason]:
        judge = values.get("judge_model")
        if judge is None and "judge_recorded" in self.enforced:
            message = f"phase {self._phase} needs a judge: judge_model in the bundle or manifest, or judge in the entry"
            yield Reason("judge_model_missing", "/judge", message)
        if judge is not None and judge in generators(self._envelope, entry) and values.get("self_judged") is not True:
            message = f"{dumps(judge)} judged its own output: label the run self_judged: true, or the entry own_output"
            yield Reason("self_judging_unlabelled", "/own_output", message)

    def check_row_metadata(self, values: dict[str, Any], contradicted: Iterator[Reason]) -> list[Reason]:  # noqa: ARG002 - as scores
        """Return what is wrong with the metadata of a row's entry."""
        pointers = {f"/{name}": f"/{field}" for field, name in _OWN.items()}
        return [reason._replace(pointer=pointers.get(reason.pointer, reason.pointer)) for reason in contradicted]

    def excuse(self, found: list[Reason], blamed: list[str]) -> list[Reason]:
        """Return the reasons that are not about fields which could not be made."""
        return [reason for reason in found if not any(_concerns(reason.pointer, at) for at in blamed)]

    def name_declaration(self, reason: Reason, value: dict[str, Any]) -> Reason:
        """Return the reason; of a text that is no verdict or order, the declaration that would read it."""
        at, written = reason.pointer, value.get(reason.pointer.removeprefix("/"))
        if reason.code != "entry_field_invalid" or at not in ("/verdict", "/order") or type(written) is not str:
            return reason
        shown = dumps(written if len(written) <= 40 else written[:40] + "...")
        wanted = '"words", "number" or "failed"' if at == "/verdict" else '"words"'
        return Reason("not_declared", at, f"{shown} is text: declare {wanted} for it in the dialect")


def _concerns(pointer: str, problem: str) -> bool:
    """Whether a reason is about the field that a problem is about."""
    return (
        pointer == problem or pointer.startswith(f"{problem}/") or (pointer != "" and problem.startswith(f"{pointer}/"))
    )


def identity(envelope: dict[str, Any], entry: dict[str, Any]) -> str:
    """Return a key that is equal for entries that claim to be one comparison.

    The names `a` and `b` may be swapped along with the order.
    """
    order = entry.get("order", "unknown")
    repeat = entry.get("repeat", _FIRST)
    number = "0" if repeat is _FIRST else str(exact_value(repeat)) if type(repeat) is Number else dumps(repeat)
    names = [*generators(envelope, entry), *(entry.get(key) for key in ("item", "criterion", "judge"))]
    if not all(type(name) is str or name is None for name in names):
        names = [dumps(name) for name in names]
    a, b, *rest = names
    shown = (a, b) if order == "ab" else (b, a) if order == "ba" else ("unknown", a, b)
    # Python's spelling of texts tells them apart as JSON's does, and is faster.
    return repr((shown, number, rest))


_FIRST = Number("0")


def _find_shape_reasons(value: Any) -> list[Reason]:
    alike = _kind(value)
    if alike in _FITTING:
        return []
    violations = spec.violations(_SCHEMA, to_builtin(value))
    if not violations and alike is not None and len(_FITTING) < _MOST_KINDS:
        _FITTING.add(alike)
    return [
        reason._replace(message=f"verdict must be {_VERDICTS}, not {shorten(value['verdict'])}")
        if reason[:2] == ("entry_field_invalid", "/verdict")
        else reason
        for reason in find_shape_reasons(violations)
    ]


_TEXTS = frozenset(("item", "a", "b", "criterion", "judge"))
"""Fields that may hold any text but an empty one."""
_WORDS = frozenset(("verdict", "order", "verdict_about"))
"""Fields that hold one of a few words."""
_FITTING: set[tuple[Any, ...]] = set()
"""Kinds of entries that the schema was asked about and accepts."""
_MOST_KINDS = 1000


def _kind(value: Any) -> tuple[Any, ...] | None:
    """Return a key that is equal for entries on which the schema decides alike: same fields and words, any texts.

    None for entries that have to be validated each time.
    """
    if type(value) is not dict:
        return None
    kind: list[str] = []
    for name, inner in value.items():
        if name == "levels" and type(inner) is dict:
            allowed = all(type(level) is str for level in inner.values())
        else:
            allowed = type(inner) is str and (name in _WORDS or name == "notes" or (name in _TEXTS and inner != ""))
        if not allowed:
            return None
        kind += (name, inner) if name in _WORDS else (name,)
    return tuple(kind)
