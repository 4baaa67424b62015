"""The SQL that every engine runs unchanged. Sums are of integers, so all engines give the same result.

An engine provides a view `lines` (see `Fields`), whose columns are strings as in the records. From it are made

    records    one row per VALID record: levels, members that the rules need, scores as integers in the scale's unit
    judged     one row per judge of an artifact, in a group: sums over the judge's records
    units      one row per unit of a group: an artifact with its judges averaged, or a record

Averages of unequal numbers of records or judges are put on a common denominator, so that sums stay integers.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from normalizer.aggregate import eligibility
from normalizer.aggregate.keys import FACTOR, Level
from normalizer.documents.rubric import Rubric, Scale
from normalizer.errors import CannotRun

_DOUBLE_DIGITS = 15
"""Decimal digits that a double preserves; engines read JSON numbers as doubles."""
_MOST = 10**38
"""Upper bound of an engine's widest integer, DECIMAL(38,0)."""
_WIDE = "DECIMAL(38,0)"


def places_of(scale: Scale) -> int:
    """Return the decimal places of the values of a scale."""
    listed = [scale.unit] if scale.values is None else list(scale.values)
    if scale.labels is not None:
        listed = list(scale.labels.values())
    exponents = [value.normalize().as_tuple().exponent for value in listed]
    return max(0, *(-exponent for exponent in exponents if isinstance(exponent, int)))


MEMBERS = (
    "artifact",
    "eval_id",
    "file",
    "generator_model",
    "judge_kind",
    "judge_model",
    "judge_prompt_version",
    "leg",
    "phase",
    "protocol_version",
    "rubric",
    "run_id",
    "self_judged",
)
"""Members of a record that queries read, besides scores and factors."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The columns of `lines`: members of a record by name, scores `d0`, `d1`... and factors `f0`, `f1`... by number.

    `named_factors` are all factors as a sorted JSON list, if only its file's name says which artifact a record is of.
    """

    dimensions: tuple[str, ...]
    factors: tuple[str, ...]
    members: tuple[str, ...] = MEMBERS


class Query:
    """SQL over the records of one rubric."""

    def __init__(self, rubric: Rubric, by: tuple[str, ...], where: dict[str, Level], cluster: str | None) -> None:
        self.rubric = rubric
        self.by = by
        self._where = where
        self.cluster = cluster
        named = [name for name in (*by, *where, *([cluster] if cluster else [])) if name.startswith(FACTOR)]
        self.fields = Fields(tuple(rubric.dimensions), tuple(dict.fromkeys(n.removeprefix(FACTOR) for n in named)))
        scales = [dimension.scale for dimension in rubric.dimensions.values()]
        self.places = max(places_of(scale) for scale in scales)
        self.low, self.high = (int(end.scaleb(self.places)) for end in rubric.bounds())
        self._greatest = sum(int(max(abs(s.minimum), abs(s.maximum)).scaleb(self.places)) for s in scales)
        whole = max(len(str(int(max(abs(scale.minimum), abs(scale.maximum))))) for scale in scales)
        self.fits_doubles = whole + self.places <= _DOUBLE_DIGITS
        """Whether engines can read the scores exactly."""
        self.measures = [f"s{number}" for number in range(len(scales))] + ["t"]
        self.keys = [f"k{number}" for number in range(len(by))]

    def records(self, *, worths: bool) -> str:
        """Return the SQL of `records`; with `worths`, lines have the values of labels instead of labels."""
        columns = [f"{self._level(name)} AS k{number}" for number, name in enumerate(self.by)]
        columns += [f"{self._item()} AS c"]
        columns += ["artifact", "generator_model AS generator", "judge_model AS judge"]
        columns += [f"{_PHASE} AS phase", "protocol_version AS protocol", f"{eligibility.SELF} AS self"]
        columns += [f"{_JUDGE_KIND} AS judge_kind", "leg", "named_factors"]
        columns += [f"{self._chosen()} AS chosen"]
        scores = [
            self._score(f"d{number}", dimension.scale, worths=worths)
            for number, dimension in enumerate(self.rubric.dimensions.values())
        ]
        columns += [f"{score} AS s{number}" for number, score in enumerate(scores)]
        inner = f"SELECT {', '.join(columns)} FROM lines"
        total = " + ".join(f"s{number}" for number in range(len(scores)))
        # A record off the scale has no total, which marks it.
        return f"SELECT *, {total} AS t, CASE WHEN {total} IS NULL THEN 1 ELSE 0 END AS off FROM ({inner}) AS r"

    def kinds(self, without: str | None = None) -> str:
        """Return SQL that counts the records of each group by kind, without the judge `without` if given."""
        columns = ", ".join([*self.keys, "chosen", "phase", "protocol", "self", "off", "judge_kind", "leg"])
        condition = "" if without is None else f" WHERE {not_by(without)}"
        return f"SELECT {columns}, COUNT(*) FROM records{condition} GROUP BY {columns}"

    def judged(self, eligible: str) -> str:
        """Return the SQL of `judged`, over eligible records."""
        columns = [*self.keys, "artifact", "generator", "judge"]
        sums = [f"SUM({_wide(name)}) AS {name}" for name in self.measures]
        sums += [
            "COUNT(*) AS m",
            "SUM(self) AS selfs",
            "MIN(c) AS c",
            "MAX(c) AS c2",
            "SUM(CASE WHEN c IS NULL THEN 1 ELSE 0 END) AS c0",
            "MIN(named_factors) AS n1",
            "MAX(named_factors) AS n2",
        ]
        return f"SELECT {', '.join(columns + sums)} FROM records WHERE {eligible} GROUP BY {', '.join(columns)}"

    def factors_of_names(self, eligible: str) -> str:
        """Return SQL for the artifact, generator and factors of units whose records differ in factors."""
        unit = ", ".join([*self.keys, "artifact", "generator"])
        differing = f"SELECT artifact FROM judged GROUP BY {unit} HAVING MIN(n1) <> MAX(n2)"
        where = f"{eligible} AND named_factors IS NOT NULL AND artifact IN ({differing})"
        columns = ", ".join(["artifact", "generator", *self.keys, "named_factors"])
        return f"SELECT DISTINCT {columns} FROM records WHERE {where} ORDER BY {columns}"

    def artifacts(self, repeats: Iterable[int]) -> tuple[str, int]:
        """Return the SQL of artifacts with the sums of their judges' averages, and their denominator."""
        common, share = _shares("m", repeats)
        columns = [*self.keys, "artifact", "generator"]
        sums = [f"SUM({name} * {share}) AS {name}" for name in self.measures]
        sums += ["SUM(m) AS records", "COUNT(*) AS judges", "MIN(c) AS c", "MAX(c2) AS c2", "SUM(c0) AS c0"]
        return f"SELECT {', '.join(columns + sums)} FROM judged GROUP BY {', '.join(columns)}", common

    def verdicts(self, repeats: Iterable[int]) -> tuple[str, int]:
        """Return the SQL of `verdicts`, one row per judge of an artifact, without groups, and its denominator."""
        common, share = _shares("m", repeats)
        values = [f"{name} * {share} AS {name}" for name in self.measures]
        columns = ", ".join(["artifact", "generator", "judge", "m", "selfs", *values])
        return f"SELECT {columns} FROM judged WHERE judge IS NOT NULL", common

    def artifact_units(self, judges: Iterable[int]) -> tuple[str, int]:
        """Return the SQL of `units` that are artifacts, and the further denominator."""
        common, share = _shares("judges", judges)
        values = [f"{name} * {share} AS {name}" for name in self.measures]
        return f"SELECT {', '.join([*self.keys, 'c', _ALONE, 'records', *values])} FROM artifacts", common

    def record_units(self, eligible: str) -> str:
        """Return the SQL of `units` that are records."""
        values = [f"{_wide(name)} AS {name}" for name in self.measures]
        columns = ", ".join([*self.keys, "c", _ALONE, "1 AS records", *values])
        return f"SELECT {columns} FROM records WHERE {eligible}"

    def judges(self, eligible: str) -> str:
        """Return SQL that counts the judges of each group."""
        columns = "".join(f"{key}, " for key in self.keys)
        group = f" GROUP BY {', '.join(self.keys)}" if self.keys else ""
        return f"SELECT {columns}COUNT(DISTINCT judge) FROM records WHERE {eligible}{group}"

    def moments(self, common: int) -> str:
        """Return SQL for counts and sums of each group; see `Moments` for their order."""
        columns = [*self.keys, "COUNT(*)", "SUM(records)"]
        columns += [f"SUM(CASE WHEN t = {end * common} THEN 1 ELSE 0 END)" for end in (self.low, self.high)]
        for name in self.measures:
            columns += [f"SUM({name})", f"SUM({name} * {name})", f"MIN({name})", f"MAX({name})"]
        return _grouped(columns, "units", self.keys)

    def moments_fit(self, units: int, common: int) -> bool:
        """Whether sums of squares fit into an engine's integers."""
        return (self._greatest * common) ** 2 * max(units, 1) < _MOST

    def sums_fit(self, units: int, common: int) -> bool:
        """Whether sums fit into an engine's integers."""
        return self._greatest * common * max(units, 1) < _MOST

    def histogram(self, measure: str) -> str:
        """Return SQL that counts the units of each group by the value of a measure."""
        return _grouped([*self.keys, measure, "COUNT(*)", "SUM(records)"], "units", [*self.keys, measure])

    def items(self) -> str:
        """Return the SQL of `items`: the sums of each item of each group. A unit without a level has its artifact."""
        sums = [f"SUM({name}) AS {name}" for name in self.measures]
        return _grouped([*self.keys, "COUNT(*) AS size", *sums], "units", [*self.keys, "c", "a"])

    def item_histogram(self, measure: str) -> str:
        """Return SQL that counts the items of each group by their number of units and the sum of a measure."""
        columns = [*self.keys, "size", measure]
        return _grouped([*columns, "COUNT(*)"], "items", columns)

    def distinct(self, eligible: str, columns: tuple[str, ...], apart: tuple[str, ...] = ()) -> str:
        """Return SQL for the values of columns in each group; groups that differ only in the keys `apart` are one."""
        keys = [key for key, name in zip(self.keys, self.by, strict=True) if name not in apart]
        return f"SELECT DISTINCT {', '.join([*keys, *columns])} FROM records WHERE {eligible}"

    def count_distinct(self, eligible: str, columns: tuple[str, ...], apart: tuple[str, ...] = ()) -> str:
        """Return SQL that counts what `distinct` gives, for each group."""
        keys = [key for key, name in zip(self.keys, self.by, strict=True) if name not in apart]
        return _grouped([*keys, "COUNT(*)"], f"({self.distinct(eligible, columns, apart)}) AS d", keys)

    def scale(self, place: int) -> tuple[Fraction, Fraction]:
        """Return the least and the greatest value of a measure."""
        scales = [dimension.scale for dimension in self.rubric.dimensions.values()]
        ends = self.rubric.bounds() if place == len(scales) else (scales[place].minimum, scales[place].maximum)
        return Fraction(ends[0]), Fraction(ends[1])

    def _level(self, name: str) -> str:
        if name.startswith(FACTOR):
            return f"f{self.fields.factors.index(name.removeprefix(FACTOR))}"
        return {"phase": _PHASE, "judge_kind": _JUDGE_KIND}.get(name, name)

    def _item(self) -> str:
        """Return the level of the key of items; an empty one, such as that of an empty cell, is none."""
        if self.cluster is None:
            return "NULL"
        level = self._level(self.cluster)
        return level if self.cluster == "phase" else f"NULLIF({level}, '')"

    def _chosen(self) -> str:
        conditions = [f"rubric = {sql_literal(self.rubric.name)}"]
        for name, level in self._where.items():
            if name == "rubric":
                continue
            is_it = "IS NULL" if level is None else f"= {level if isinstance(level, int) else sql_literal(level)}"
            conditions.append(f"{self._level(name)} {is_it}")
        return f"CASE WHEN {' AND '.join(conditions)} THEN 1 ELSE 0 END"

    def _score(self, column: str, scale: Scale, *, worths: bool) -> str:
        if scale.labels is not None and not worths:
            cases = " ".join(f"WHEN {sql_literal(label)} THEN '{worth:f}'" for label, worth in scale.labels.items())
            column = f"CASE {column} {cases} END"
        whole = "BIGINT" if self._greatest < 2**62 else _WIDE
        if self.places == 0:
            return f"CAST(TRY_CAST({column} AS DECIMAL(38,0)) AS {whole})"
        # A decimal of fixed places without its point is the integer number of units, on every engine.
        return f"CAST(REPLACE(CAST(TRY_CAST({column} AS DECIMAL(38,{self.places})) AS STRING), '.', '') AS {whole})"


_ALONE = "CASE WHEN c IS NULL THEN artifact END AS a"
"""The item of a unit without a level of the key of items: its artifact."""
_JUDGE_KIND = "COALESCE(judge_kind, 'model')"
_PHASE = "CAST(CAST(phase AS DECIMAL(38,12)) AS INT)"


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


def not_by(judge: str) -> str:
    """Return a condition that excludes the records of a judge."""
    return f"(judge IS NULL OR judge <> {sql_literal(judge)})"


def _wide(column: str) -> str:
    return f"CAST({column} AS {_WIDE})"


def _shares(column: str, counts: Iterable[int]) -> tuple[int, str]:
    """Return a common denominator for averages over these counts, and the factor of each count."""
    found = sorted(set(counts))
    common = lcm(*found) if found else 1
    if common >= _MOST:
        raise CannotRun("artifacts have too many different numbers of judges to be averaged exactly: use --unit record")
    if len(found) < 2:
        return common, "1"
    cases = " ".join(f"WHEN {count} THEN {common // count}" for count in found)
    return common, f"CASE {column} {cases} END"


def _grouped(columns: list[str], table: str, keys: list[str]) -> str:
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join(columns)} FROM {table}{group}"
