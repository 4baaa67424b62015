"""One draft for each entry of a bundle of comparisons: fields copied untouched, the outcome derived from them.

The outcome says who won in the entry's own terms. A verdict about positions, given on answers that were shown in
swapped order, is turned back here and nowhere else; `outcome.turned` records it.
"""

from decimal import Decimal
from typing import Any

from normalizer.documents.lossless import Number, dumps, exact_value, members
from normalizer.documents.rubric import exact_sum
from normalizer.screening.bundle import Bundle
from normalizer.screening.records import METADATA, Metadata, RecordDrafts, label_by_name

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

_NAMES = tuple(name for name in METADATA if name not in ("generator_model", "rubric"))
_OTHER = {"a": "b", "b": "a"}
_SHOWN_FIRST = {"ab": "a", "ba": "b"}


class ComparisonDrafts(RecordDrafts):
    """Makes the drafts of one bundle of comparisons."""

    fields = FIELDS

    def metadata_of(self, value: Any) -> Metadata:
        """Return the metadata of an entry, from the run's documents and the entry itself."""
        entry = value if type(value) is dict else {}
        item = entry.get("item")
        manifest = self._settings.manifest
        listed = manifest.files.get(item, {}) if manifest is not None and type(item) is str else {}
        own = {name: entry[key] for key, name in _OWN.items() if key in entry}
        own |= self.label_of(entry, listed)
        levels = entry.get("levels", {})
        key = dumps([own, levels, item if listed else None])
        known = self._by_file.get(key)
        if known is None:
            factors = {**listed.get("factors", {}), **levels} if type(levels) is dict else levels
            given = {**listed, **own, **({"factors": factors} if factors != {} else {})}
            known = self._by_file[key] = self.gather(given)
        return known

    def label_of(self, entry: dict[str, Any], listed: dict[str, Any]) -> dict[str, Any]:
        """Return the label of an entry whose run is labelled by name; nothing if it has a label, or no names."""
        envelope = self._bundle.envelope
        if not self._settings.labels_by_name or any("self_judged" in given for given in (envelope, listed)):
            return {}
        known = {**self._settings.run, **envelope, **listed}
        values = {"judge_model": entry.get("judge", known.get("judge_model"))}
        if "own_output" not in entry:
            label_by_name(values, *generators(self._bundle, entry))
        return {"self_judged": values["self_judged"]} if "self_judged" in values else {}

    def gather(self, file: dict[str, Any]) -> Metadata:
        """Return the metadata: values of the entry and the item before the bundle's, the bundle's before the run's."""
        plainly = type(file.get("factors", {})) is dict
        gathered = super().gather(file if plainly else {**file, "factors": {}})
        values = {key: value for key, value in gathered.values.items() if key in _NAMES}
        if not plainly:
            values["factors"] = file["factors"]
        ordered = {key: values[key] for key in _NAMES if key in values}
        return Metadata(ordered, '"kind":"comparison",' + dumps(ordered)[1:-1])

    def derived(self, value: dict[str, Any]) -> str:
        """Return the item's stable id and, if it can be derived, the outcome."""
        found = outcome(self._bundle, value)
        artifact = self.artifact(value.get("item"))
        if found is None:
            return artifact
        return f'{artifact}{"," if artifact else ""}"outcome":{{{members(found)}}}'


_OWN = {"judge": "judge_model", "own_output": "self_judged"}
"""Fields by which an entry gives its own value of the run's metadata."""


def generators(bundle: Bundle, entry: dict[str, Any]) -> tuple[Any, Any]:
    """The generators of A and B; B's is the bundle's baseline where the entry names none."""
    return entry.get("a"), entry.get("b", bundle.envelope.get("baseline"))


def order_of(entry: dict[str, Any]) -> Any:
    """The order shown, `unknown` where the entry records none."""
    return entry.get("order", "unknown")


def about(bundle: Bundle, entry: dict[str, Any]) -> Any:
    """The meaning of `a` and `b` in the verdict: the answers by name, or the positions shown."""
    return entry.get("verdict_about", bundle.envelope.get("verdict_about", "answers"))


def outcome(bundle: Bundle, entry: dict[str, Any]) -> dict[str, Any] | None:
    """The verdict in the entry's own terms, or None where the entry does not say enough for one."""
    a, b = generators(bundle, entry)
    order, frame = order_of(entry), about(bundle, entry)
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
