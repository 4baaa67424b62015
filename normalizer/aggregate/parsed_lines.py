"""The columns of records on an engine: what it reads from lines, and what is stored of each record, once for a command.

Levels and names stay text, scores become integers in the scale's unit, so that all engines compute with the same.
"""

from dataclasses import dataclass, replace

from normalizer.aggregate import eligibility
from normalizer.documents.rubric import Rubric, Scale

WIDE = "DECIMAL(38,0)"
"""An engine's widest integer."""
_SHORT_DIGITS = 9
"""Digits of numbers that fit into 32 bits, which take half the memory of a sum's state."""
MOST_SHORT = 2**22
"""Totals below this, in units, have sums of 64 bits over a million million records."""
MEMBERS = (
    "artifact",
    "eval_id",
    "file",
    "generator_model",
    "judge_kind",
    "judge_model",
    "judge_prompt_sha256",
    "judge_prompt_version",
    "judge_settings",
    "judge_version",
    "leg",
    "phase",
    "protocol_version",
    "rubric",
    "run_id",
    "self_judged",
)
"""Members of a record that queries read, besides scores and factors."""
ID = "record_id"
BUNDLE = "source_bundle_sha256"


@dataclass(frozen=True, slots=True)
class Fields:
    """The columns of lines: members of a record by name, scores `d0`, `d1`... by number, and the map `factors`.

    `named` is a hash of all factors, if only its file's name says which artifact a record is of.
    """

    dimensions: tuple[str, ...]
    members: tuple[str, ...] = MEMBERS
    aside: tuple[str, ...] = ()
    """Further dimensions that scores may have."""
    objects: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Objects and their members, which are columns such as `outcome_winner`."""

    @property
    def nested(self) -> dict[str, tuple[str, ...]]:
        """Return all objects of fixed members that lines have, and these members."""
        objects = dict(self.objects)
        return objects | {"source": tuple(dict.fromkeys(("bundle_sha256", "line", *objects.get("source", ()))))}

    def with_ids(self) -> "Fields":
        """Return these columns, and those of the records' ids and bundles, which only lists of records need."""
        source = ("source", (*dict(self.objects).get("source", ()), "bundle_sha256"))
        others = tuple(each for each in self.objects if each[0] != "source")
        return replace(self, members=(*self.members, ID), objects=(*others, source))


COLUMNS = {
    "generator_model": ("generator_model", "generator"),
    "judge_model": ("judge_model", "judge"),
    "protocol_version": ("protocol_version", "protocol"),
    "phase": ("CAST(CAST(phase AS DECIMAL(38,12)) AS INT)", "phase"),
    "judge_kind": ("COALESCE(judge_kind, 'model')", "judge_kind"),
}
"""Members that `parsed` has under another name or in another type."""


def places_of(scale: Scale) -> int:
    """Return the decimal places of the values of a scale."""
    listed = [scale.unit] if scale.values is None else list(scale.values)
    if scale.labels is not None:
        listed = list(scale.labels.values())
    exponents = [value.normalize().as_tuple().exponent for value in listed]
    return max(0, *(-exponent for exponent in exponents if isinstance(exponent, int)))


def most_places(rubric: Rubric) -> int:
    """Return the decimal places of the unit that all scores of a rubric are counted in."""
    return max((places_of(dimension.scale) for dimension in rubric.dimensions.values()), default=0)


def greatest_total(rubric: Rubric) -> int:
    """Return how great a total may be, in units, whatever its sign."""
    scales = [dimension.scale for dimension in rubric.dimensions.values()]
    places = most_places(rubric)
    return sum(int(max(abs(scale.minimum), abs(scale.maximum)).scaleb(places)) for scale in scales)


def parse_records(rubric: Rubric, lines: str, *, worths: bool, ids: bool = False) -> str:
    """Return the SQL of `parsed`; with `worths`, lines have the values of labels instead of labels."""
    columns = [name for name in MEMBERS if name not in (*COLUMNS, "self_judged")]
    columns += [f"{expression} AS {column}" for expression, column in COLUMNS.values()]
    columns += [f"{eligibility.SELF} AS self", "named", "factors", *([ID, BUNDLE] if ids else [])]
    scores = [
        _score(f"d{number}", dimension.scale, rubric, worths=worths)
        for number, dimension in enumerate(rubric.dimensions.values())
    ]
    columns += [f"{score} AS s{number}" for number, score in enumerate(scores)]
    inner = f"SELECT {', '.join(columns)} FROM {lines}"
    total = " + ".join(f"CAST(s{number} AS {whole_type(rubric)})" for number in range(len(scores))) or "0"
    if greatest_total(rubric) < MOST_SHORT:
        total = f"TRY_CAST({total} AS INT)"
    # A record off the scale has no total, which marks it.
    return f"SELECT *, {total} AS t, CASE WHEN {total} IS NULL THEN 1 ELSE 0 END AS off FROM ({inner}) AS r"


def _score(column: str, scale: Scale, rubric: Rubric, *, worths: bool) -> str:
    if scale.labels is not None and not worths:
        cases = " ".join(f"WHEN {sql_literal(label)} THEN '{worth:f}'" for label, worth in scale.labels.items())
        column = f"CASE {column} {cases} END"
    whole, digits, places = whole_type(rubric), 38, most_places(rubric)
    if greatest_total(rubric) < MOST_SHORT:
        # DuckDB reads 1e-10 as 1 before it moves the point, which takes one digit more than places.
        whole, digits = "INT", max(_SHORT_DIGITS, places + 1)
    exact = f"TRY_CAST({column} AS DECIMAL({digits},{places}))"
    # A decimal of fixed places without its point is the integer number of units, on every engine.
    units = exact if places == 0 else f"REPLACE(CAST({exact} AS STRING), '.', '')"
    return f"CAST({units} AS {whole})"


def whole_type(rubric: Rubric) -> str:
    """Return the type of a total of the rubric, in units."""
    return "BIGINT" if greatest_total(rubric) < 2**62 else WIDE


def sql_literal(text: str) -> str:
    """Return an SQL string literal. Characters that engines read differently are written by their code."""
    parts = []
    plain = ""
    for char in text:
        if char in "'\\\x7f" or char < " ":
            parts += [f"'{plain}'", f"CHR({ord(char)})"]
            plain = ""
        else:
            plain += char
    parts.append(f"'{plain}'")
    return parts[0] if len(parts) == 1 else f"CONCAT({', '.join(parts)})"
