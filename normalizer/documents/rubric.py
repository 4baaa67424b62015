"""The scoring scale: which score a dimension allows, and what it is worth."""

import re
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

from normalizer.documents.lossless import Number, exact_value

MOST = Decimal(10) ** 12
PLACES = Decimal(1).scaleb(-12)
_EXACT = Context(prec=100)
_FEW = 1000
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
"""A number as JSON spells it."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The allowed scores of one dimension. Labels are strings, all other scores are numbers."""

    words: str
    """Allowed values, in words that follow `must be`."""
    spellings: dict[str, Decimal]
    """Spellings that are known to be allowed, with their values: a fast path."""
    labels: dict[str, Decimal] | None
    values: frozenset[Decimal] | None
    minimum: Decimal
    maximum: Decimal
    unit: Decimal
    """Every score is a multiple of this."""

    def worth(self, score: Any) -> Decimal | None:
        """Return the exact value of a score, or None if it is not allowed."""
        if self.labels is not None:
            return self.labels.get(score) if type(score) is str else None
        value = exact_value(score) if type(score) is Number else None
        if value is None or not self.minimum <= value <= self.maximum:
            return None
        if self.values is not None and value not in self.values:
            return None
        # The value has the places of the scale, whatever zeros it was written with.
        counted = value.quantize(self.unit, context=_EXACT)
        return counted if counted == value else None


@dataclass(frozen=True, slots=True)
class Dimension:
    """A dimension: its scale, whether every entry must quote evidence for it, and whether one may leave it out."""

    scale: Scale
    evidence_required: bool
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Rubric:
    """The dimensions by key, in the rubric's order."""

    name: str
    dimensions: dict[str, Dimension]
    aside: frozenset[str] = frozenset()
    """Dimensions of the scale that the numbers of this rubric are not about."""

    @property
    def optional(self) -> list[str]:
        """The dimensions that an entry may leave out."""
        return [key for key, dimension in self.dimensions.items() if dimension.optional]

    def narrow(self, dimension: str | None) -> "Rubric":
        """Return the rubric of this dimension alone; of None, that of the total: of all that are not optional."""
        kept = {
            key: each
            for key, each in self.dimensions.items()
            if key == dimension or (dimension is None and not each.optional)
        }
        return Rubric(self.name, kept, frozenset(self.dimensions.keys() - kept.keys()))

    def bounds(self) -> tuple[Decimal, Decimal]:
        """The least and the greatest total."""
        scales = [dimension.scale for dimension in self.dimensions.values()]
        return exact_sum([s.minimum for s in scales]), exact_sum([s.maximum for s in scales])


def exact_sum(values: list[Decimal]) -> Decimal:
    """The sum, without rounding."""
    total = Decimal(0)
    for value in values:
        total = _EXACT.add(total, value)
    return total


def rubric_of(document: dict[str, Any]) -> Rubric:
    """Return the rubric that a document declares. Its numbers are `Number`s, and `rubric_mistakes` must be empty."""
    return Rubric(
        document["name"],
        {
            key: Dimension(_scale(given["scale"]), given.get("evidence_required", False), given.get("optional", False))
            for key, given in document["dimensions"].items()
        },
    )


def rubric_mistakes(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Return mistakes of a rubric that its schema accepts, as pointers and sentences."""
    found = []
    for key, given in document["dimensions"].items():
        scale, at = given["scale"], f"/dimensions/{key}/scale"
        numbers = [scale[name] for name in ("minimum", "maximum") if name in scale]
        numbers += [*scale.get("values", []), *scale.get("labels", {}).values()]
        beyond = [number for number in numbers if exact_value(number) is None]
        if beyond:
            found += [(at, f"{key}: {number} has an exponent beyond all arithmetic") for number in beyond]
            continue
        if "minimum" in scale and Decimal(scale["minimum"]) > Decimal(scale["maximum"]):
            found.append((at, f"{key}: minimum {scale['minimum']} is above maximum {scale['maximum']}"))
        for number in numbers:
            if Decimal(number).quantize(PLACES, context=_EXACT) != Decimal(number):
                found.append((at, f"{key}: {number} has more than 12 decimal places"))
        if scale["kind"] == "decimals":
            found += [(at, f"{key}: {sentence}") for sentence in _ends_off_the_scale(scale)]
        values = [Decimal(number) for number in scale.get("values", [])]
        if len(set(values)) < len(values):
            found.append((at, f"{key}: a value is listed twice"))
        for level in given.get("levels", {}):
            if not _is_score(level, _scale(scale)):
                found.append((f"/dimensions/{key}/levels", f"{key}: the level {level!r} is not a score of its scale"))
    return found


def _ends_off_the_scale(scale: dict[str, Any]) -> list[str]:
    """Return a sentence for each end of a scale of decimals that no score can have: bounds would be wrong."""
    places = int(Decimal(scale["places"]))
    step = Decimal(1).scaleb(-places)
    return [
        f"{name} {scale[name]} has more than {places} decimal places, so that no score can be it"
        for name in ("minimum", "maximum")
        if Decimal(scale[name]).quantize(step, context=_EXACT) != Decimal(scale[name])
    ]


def _is_score(level: str, scale: Scale) -> bool:
    if scale.labels is not None:
        return level in scale.labels
    return _NUMBER.fullmatch(level) is not None and scale.worth(Number(level)) is not None


def _scale(given: dict[str, Any]) -> Scale:
    kind = given["kind"]
    if kind == "labels":
        worths = {label: Decimal(number) for label, number in given["labels"].items()}
        words = "one of " + ", ".join(f'"{label}"' for label in worths)
        return Scale(words, worths, worths, None, min(worths.values()), max(worths.values()), PLACES)
    if kind == "values":
        worths = {str(number): Decimal(number) for number in given["values"]}
        values = frozenset(worths.values())
        return Scale("one of " + ", ".join(given["values"]), worths, None, values, min(values), max(values), PLACES)
    minimum, maximum = Decimal(given["minimum"]), Decimal(given["maximum"])
    ends = f"from {given['minimum']} to {given['maximum']}"
    if kind == "integers":
        some = range(int(minimum), int(min(maximum, minimum + _FEW)) + 1)
        spellings = {str(number): Decimal(number) for number in some}
        return Scale(f"a whole number {ends}", spellings, None, None, minimum, maximum, Decimal(1))
    places = int(Decimal(given["places"])) if kind == "decimals" else 12
    words = f"a number {ends} with at most {places} decimal places"
    return Scale(words, {}, None, None, minimum, maximum, Decimal(1).scaleb(-places))
