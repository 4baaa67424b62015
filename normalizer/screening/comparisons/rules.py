"""Screen comparisons: find the reasons against each entry of a bundle of comparisons.

The schema checks shapes; this module checks duplicates, the manifest's list of items, whether the outcome can be
derived, and the constraints that the phase enforces. An unknown order is not wrong by itself: only a verdict about
positions needs the order.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

import contract_spec as spec

from normalizer.documents import phases
from normalizer.documents.dialect import original
from normalizer.documents.lossless import Number, dumps, exact_value, to_builtin
from normalizer.documents.pointers import steps_of
from normalizer.documents.settings import Settings
from normalizer.screening import bundle_rules
from normalizer.screening.bundle import Bundle
from normalizer.screening.comparisons.records import about, generators, order_of, verdict_winner
from normalizer.screening.reasons import Reason, first_per_pointer, sort
from normalizer.screening.records import Entry, Metadata

_SCHEMA = "eval/comparison_bundle.json#/$defs/comparison_entry"
_TWO_SCORES = "eval/comparison_bundle.json#/$defs/two_scores"
_VERDICTS = "a, b, draw, both_bad, a preference from 1 to 2, an object with the scores a and b, or null"


class ComparisonScreen:
    """Screens the entries of one bundle of comparisons."""

    def __init__(self, bundle: Bundle, entries: list[Entry], settings: Settings) -> None:
        self._bundle = bundle
        self._rules = ComparisonRules(bundle, settings)
        values = [entry.value for entry in entries]
        compared = [value for value in values if type(value) is dict]
        self._identities = Counter(identity(bundle, value) for value in compared)
        taken = bundle_rules.taken_away(bundle)
        self.shared = sort(list(bundle_rules.reasons(bundle, values, taken, settings)))
        """Reasons that every record of the bundle has."""
        items = {value["item"] for value in compared if type(value.get("item")) is str}
        self.unblamed = self._rules.listing(items)
        """Reasons that no record has."""

    def reasons(self, index: int, entry: Entry, metadata: Metadata) -> list[Reason]:
        """Everything wrong with an entry, its bundle's reasons included, in the fixed order."""
        value = entry.value
        copies = self._identities[identity(self._bundle, value)] if type(value) is dict else 1
        found = self._rules.check(value, copies, metadata.values)
        found += bundle_rules.conflicts(entry.conflicts)
        at = f"{self._bundle.entries_at}/{index}"
        found = [reason._replace(pointer=at + original(reason.pointer, entry.moved)) for reason in found]
        return sort([*self.shared, *found]) if found else self.shared


class ComparisonRules:
    """Checks one comparison at a time against the constraints of a phase."""

    def __init__(self, bundle: Bundle, settings: Settings) -> None:
        self._bundle = bundle
        self._manifest = settings.manifest
        self._phase = bundle_rules.phase_of(bundle.envelope, settings)
        self._enforced = phases.enforced(self._phase, self._manifest.relaxed if self._manifest else frozenset())

    def check(self, value: Any, copies: int, metadata: dict[str, Any]) -> list[Reason]:
        """Everything wrong with an entry, pointers as in the entry. `copies` entries claim to be this comparison."""
        found = list(_shape(value))
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
        if unlisted and "manifest_files" in self._enforced:
            yield Reason("file_not_in_manifest", "/item", f"{dumps(item)} is not in the manifest")

    def _outcome(self, entry: dict[str, Any]) -> Iterator[Reason]:
        a, b = generators(self._bundle, entry)
        if b is None and "b" not in entry:
            yield Reason("generator_model_missing", "/b", "the entry names no b, and the bundle or run no baseline")
        if type(a) is str and a == b:
            yield Reason("generators_equal", "/a", f"both answers are of {dumps(a)}: give them different names")
        told = verdict_winner(entry.get("verdict"))
        verdict = entry.get("verdict")
        if told is None and type(verdict) is dict and not spec.violations(_TWO_SCORES, to_builtin(verdict)):
            yield Reason("entry_field_invalid", "/verdict", "verdict has a score that cannot be compared")
        sides = told is not None and told[0] in ("a", "b")
        if sides and about(self._bundle, entry) == "positions" and order_of(entry) == "unknown":
            message = "the verdict is about positions, and the order in which the answers were shown is not recorded"
            yield Reason("order_unknown", "/order", message)

    def _evidence(self, evidence: Any) -> Iterator[Reason]:
        if type(evidence) is not dict or "evidence_everywhere" not in self._enforced:
            return
        for side in ("a", "b"):
            quote = evidence.get(side, "")
            if type(quote) is str and not quote.strip():
                yield Reason("evidence_missing", f"/evidence/{side}", f"answer {side} has no evidence")

    def _judge(self, entry: dict[str, Any], values: dict[str, Any]) -> Iterator[Reason]:
        judge = values.get("judge_model")
        if judge is None and "judge_recorded" in self._enforced:
            message = f"phase {self._phase} needs a judge: judge_model in the bundle or manifest, or judge in the entry"
            yield Reason("judge_model_missing", "/judge", message)
        if judge is not None and judge in generators(self._bundle, entry) and values.get("self_judged") is not True:
            message = f"{dumps(judge)} judged its own output: label the run self_judged: true, or the entry own_output"
            yield Reason("self_judging_unlabelled", "/own_output", message)

    def listing(self, items: Collection[str]) -> list[Reason]:
        """The manifest's items against those compared, as far as no record is to blame."""
        return sort(list(self._listing(items)))

    def _listing(self, items: Collection[str]) -> Iterator[Reason]:
        if self._manifest is None:
            return
        at = self._bundle.entries_at
        for item in self._manifest.files:
            if item not in items:
                message = f"the manifest's item {dumps(item)} has no comparison"
                yield Reason("file_without_entry", at, message, item)
        if "manifest_files" not in self._enforced:
            for item in set(items) - self._manifest.files.keys():
                yield Reason("file_not_in_manifest", at, f"{dumps(item)} is not in the manifest", item)


def identity(bundle: Bundle, entry: dict[str, Any]) -> str:
    """Return a key that is equal for entries that claim to be one comparison.

    The names `a` and `b` may be swapped along with the order.
    """
    order = order_of(entry)
    repeat = entry.get("repeat", _FIRST)
    number = "0" if repeat is _FIRST else str(exact_value(repeat)) if type(repeat) is Number else dumps(repeat)
    names = [*generators(bundle, entry), *(entry.get(key) for key in ("item", "criterion", "judge"))]
    if not all(type(name) is str or name is None for name in names):
        names = [dumps(name) for name in names]
    a, b, *rest = names
    shown = (a, b) if order == "ab" else (b, a) if order == "ba" else ("unknown", a, b)
    # Python's spelling of texts tells them apart as JSON's does, and is faster.
    return repr((shown, number, rest))


_FIRST = Number("0")


def _shape(value: Any) -> Iterator[Reason]:
    alike = _kind(value)
    if alike in _FITTING:
        return
    violations = spec.violations(_SCHEMA, to_builtin(value))
    if not violations and alike is not None and len(_FITTING) < _MOST_KINDS:
        _FITTING.add(alike)
    for violation in first_per_pointer(violations):
        if violation.pointer == "" and violation.keyword == "type":
            yield Reason("entry_not_an_object", "", f"the entry {violation.message}")
            continue
        kind = {"required": "missing", "additionalProperties": "unknown"}.get(violation.keyword, "invalid")
        name = ".".join(steps_of(violation.pointer))
        if violation.pointer == "/verdict" and kind == "invalid":
            yield Reason(
                "entry_field_invalid", "/verdict", f"verdict must be {_VERDICTS}, not {_short(value['verdict'])}"
            )
            continue
        yield Reason(f"entry_field_{kind}", violation.pointer, f"{name} {violation.message}")


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


def _short(verdict: Any) -> str:
    text = dumps(verdict)
    return text if len(text) <= 40 else f"{text[:40]}..."
