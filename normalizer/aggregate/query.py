"""The SQL that every engine runs unchanged. Sums are of integers, so all engines give the same result.

From the lines of records an engine makes

    parsed     one row per VALID record, made once for a command by `parsed_lines`
    records    the same with the levels of one query
    judged     one row per judge of an artifact, in a group: sums over the judge's records
    units      one row per unit of a group: an artifact with its judges averaged, or a record

Averages of unequal numbers of records or judges are put on a common denominator, so that sums stay integers.
"""

from collections.abc import Iterable
from copy import copy
from fractions import Fraction
from math import lcm

from normalizer.aggregate.keys import DIMENSION, FACTOR, Level
from normalizer.aggregate.parsed_lines import (
    COLUMNS,
    MOST_SHORT,
    WIDE,
    Fields,
    greatest_total,
    most_places,
    sql_literal,
)
from normalizer.documents.rubric import Rubric
from normalizer.errors import CannotRun

_DOUBLE_DIGITS = 15
"""Decimal digits that a double preserves; engines read JSON numbers as doubles."""
_MOST = 10**38
"""Upper bound of an engine's widest integer, DECIMAL(38,0)."""


class Query:
    """SQL over the records of one rubric."""

    def __init__(self, rubric: Rubric, by: tuple[str, ...], where: dict[str, Level], cluster: str | None) -> None:
        self.rubric = rubric
        self.by = by
        self._where = where
        self.cluster = cluster
        self.fields = Fields(tuple(rubric.dimensions), aside=tuple(sorted(rubric.aside)))
        self.table = ""
        """The name of `records` on an engine; see `on`."""
        scales = [dimension.scale for dimension in rubric.dimensions.values()]
        self.places = most_places(rubric)
        self.low, self.high = (int(end.scaleb(self.places)) for end in rubric.bounds())
        self._greatest = greatest_total(rubric)
        whole = max((len(str(int(max(abs(scale.minimum), abs(scale.maximum))))) for scale in scales), default=0)
        self.fits_doubles = whole + self.places <= _DOUBLE_DIGITS
        """Whether engines can read the scores exactly."""
        self.measures = [f"s{number}" for number in range(len(scales))] + ["t"]
        self.keys = [f"k{number}" for number in range(len(by))]

    def on(self, table: str) -> "Query":
        """Return this query over the engine's table `records` of that name."""
        bound = copy(self)
        bound.table = table
        return bound

    def ungroup(self) -> "Query":
        """Return this query with all records as one group."""
        whole = copy(self)
        whole.by, whole.keys = (), []
        return whole

    def records(self, parsed: str) -> str:
        """Return the SQL of `records`, from what was parsed."""
        columns = [f"{column_of(name)} AS k{number}" for number, name in enumerate(self.by)]
        columns += [f"{self._item()} AS c", f"{self._mark_chosen()} AS chosen"]
        return f"SELECT *, {', '.join(columns)} FROM {parsed}"

    def kinds(self, without: str | None = None) -> str:
        """Return SQL that counts the records of each group by kind, without the judge `without` if given."""
        columns = ", ".join([*self.keys, "chosen", "phase", "protocol", "self", "off", "judge_kind", "leg"])
        condition = "" if without is None else f" WHERE {not_by(without)}"
        return f"SELECT {columns}, COUNT(*) FROM {self.table}{condition} GROUP BY {columns}"

    def select_judged(self, eligible: str) -> str:
        """Return the SQL of `judged`, over eligible records."""
        columns = [*self.keys, "artifact", "generator", "judge"]
        whole = self.sum_type(1)
        # Spark sums 64 bits in 64 bits: long scores are widened first.
        long = {name: _wide(name) if whole == WIDE else name for name in self.measures}
        sums = [f"CAST(SUM({long[name]}) AS {whole}) AS {name}" for name in self.measures]
        sums += ["COUNT(*) AS m", "CAST(SUM(self) AS BIGINT) AS selfs", "MIN(named) AS n1", "MAX(named) AS n2"]
        sums += self._items("c", "c", "SUM(CASE WHEN c IS NULL THEN 1 ELSE 0 END)")
        return f"SELECT {', '.join(columns + sums)} FROM {self.table} WHERE {eligible} GROUP BY {', '.join(columns)}"

    def find_differing_names(self, judged: str) -> str:
        """Return SQL for the artifacts of units whose records differ in factors."""
        unit = ", ".join([*self.keys, "artifact", "generator"])
        return f"SELECT artifact FROM {judged} GROUP BY {unit} HAVING MIN(n1) <> MAX(n2)"

    def factors_of_names(self, names: str, eligible: str) -> str:
        """Return SQL for the artifact, generator, levels and factors of records of the artifacts that SQL selects."""
        where = f"{eligible} AND named IS NOT NULL AND artifact IN ({names})"
        columns = ", ".join(["artifact", "generator", *self.keys, "factors"])
        return f"SELECT {columns} FROM {self.table} WHERE {where}"

    def artifacts(self, judged: str, repeats: Iterable[int]) -> tuple[str, int]:
        """Return the SQL of artifacts with the sums of their judges' averages, and their denominator."""
        common, share = find_shares("m", repeats)
        columns = [*self.keys, "artifact", "generator"]
        whole = self.sum_type(common)
        if "judge_model" in self.by:  # every group has one judge, so that `judged` has its artifacts already
            values = [f"CAST({name} AS {whole}) * {share} AS {name}" for name in self.measures]
            values += ["m AS records", "1 AS judges", "n1", "n2", "c", "c2", "c0"]
            return f"SELECT {', '.join(columns + values)} FROM {judged}", common
        sums = [f"CAST(SUM(CAST({name} AS {whole}) * {share}) AS {whole}) AS {name}" for name in self.measures]
        sums += ["CAST(SUM(m) AS BIGINT) AS records", "COUNT(*) AS judges", "MIN(n1) AS n1", "MAX(n2) AS n2"]
        sums += self._items("c", "c2", "SUM(c0)")
        return f"SELECT {', '.join(columns + sums)} FROM {judged} GROUP BY {', '.join(columns)}", common

    def verdicts(self, judged: str, repeats: Iterable[int]) -> tuple[str, int]:
        """Return the SQL of `verdicts`, one row per judge of an artifact, without groups, and its denominator."""
        common, share = find_shares("m", repeats)
        values = [f"{_wide(name)} * {share} AS {name}" for name in self.measures]
        columns = ", ".join(["artifact", "generator", "judge", "m", "selfs", *values])
        return f"SELECT {columns} FROM {judged} WHERE judge IS NOT NULL", common

    def artifact_units(self, artifacts: str, judges: Iterable[int], before: int) -> tuple[str, int]:
        """Return the SQL of `units` that are artifacts, and the further denominator; `before` is that of the sums."""
        common, share = find_shares("judges", judges)
        whole = self.sum_type(before * common)
        values = [f"CAST({name} AS {whole}) * {share} AS {name}" for name in self.measures]
        return f"SELECT {', '.join([*self.keys, 'c', _ALONE, 'records', *values])} FROM {artifacts}", common

    def record_units(self, eligible: str) -> str:
        """Return the SQL of `units` that are records."""
        values = [f"CAST({name} AS {self.sum_type(1)}) AS {name}" for name in self.measures]
        columns = ", ".join([*self.keys, "c", _ALONE, "1 AS records", *values])
        return f"SELECT {columns} FROM {self.table} WHERE {eligible}"

    def judges(self, eligible: str) -> str:
        """Return SQL that counts the judges of each group."""
        columns = "".join(f"{key}, " for key in self.keys)
        group = f" GROUP BY {', '.join(self.keys)}" if self.keys else ""
        return f"SELECT {columns}COUNT(DISTINCT judge) FROM {self.table} WHERE {eligible}{group}"

    def moments(self, units: str, common: int) -> str:
        """Return SQL for counts and sums of each group; see `Moments` for their order."""
        columns = [*self.keys, "COUNT(*)", "SUM(records)"]
        columns += [f"SUM(CASE WHEN t = {end * common} THEN 1 ELSE 0 END)" for end in (self.low, self.high)]
        for name in self.measures:
            square = f"{_wide(name)} * {_wide(name)}"
            columns += [f"SUM({name})", f"SUM({square})", f"MIN({name})", f"MAX({name})"]
        return _select_groups(columns, units, self.keys)

    def moments_fit(self, units: int, common: int) -> bool:
        """Whether sums of squares fit into an engine's integers."""
        return (self._greatest * common) ** 2 * max(units, 1) < _MOST

    def sums_fit(self, units: int, common: int) -> bool:
        """Whether sums fit into an engine's integers."""
        return self._greatest * common * max(units, 1) < _MOST

    def histogram(self, units: str, measure: str) -> str:
        """Return SQL that counts the units of each group by the value of a measure."""
        return _select_groups([*self.keys, measure, "COUNT(*)", "SUM(records)"], units, [*self.keys, measure])

    def items(self, units: str) -> str:
        """Return the SQL of `items`: the sums of each item of each group. A unit without a level has its artifact."""
        sums = [f"SUM({name}) AS {name}" for name in self.measures]
        return _select_groups([*self.keys, "COUNT(*) AS size", *sums], units, [*self.keys, "c", "a"])

    def item_histogram(self, items: str, measure: str) -> str:
        """Return SQL that counts the items of each group by their number of units and the sum of a measure."""
        columns = [*self.keys, "size", measure]
        return _select_groups([*columns, "COUNT(*)"], items, columns)

    def distinct(self, eligible: str, columns: tuple[str, ...], apart: tuple[str, ...] = ()) -> str:
        """Return SQL for the values of columns in each group; groups that differ only in the keys `apart` are one."""
        keys = [key for key, name in zip(self.keys, self.by, strict=True) if name not in apart]
        return f"SELECT DISTINCT {', '.join([*keys, *columns])} FROM {self.table} WHERE {eligible}"

    def count_distinct(self, eligible: str, columns: tuple[str, ...], apart: tuple[str, ...] = ()) -> str:
        """Return SQL that counts what `distinct` gives, for each group."""
        keys = [key for key, name in zip(self.keys, self.by, strict=True) if name not in apart]
        return _select_groups([*keys, "COUNT(*)"], f"({self.distinct(eligible, columns, apart)}) AS d", keys)

    def scale(self, place: int) -> tuple[Fraction, Fraction]:
        """Return the least and the greatest value of a measure."""
        scales = [dimension.scale for dimension in self.rubric.dimensions.values()]
        ends = self.rubric.bounds() if place == len(scales) else (scales[place].minimum, scales[place].maximum)
        return Fraction(ends[0]), Fraction(ends[1])

    def sum_type(self, common: int) -> str:
        """Return the type of sums in units of one over `common`. Those of usual scales fit into 64 bits, which take
        half the memory."""
        return "BIGINT" if self._greatest * common < MOST_SHORT else WIDE

    def _items(self, least: str, most: str, none: str) -> list[str]:
        """Return the levels of the key of items, and how many records have none; without a key nothing is kept."""
        if self.cluster is None:
            return ["CAST(NULL AS STRING) AS c", "CAST(NULL AS STRING) AS c2", "0 AS c0"]
        return [f"MIN({least}) AS c", f"MAX({most}) AS c2", f"{none} AS c0"]

    def _item(self) -> str:
        """Return the level of the key of items; an empty one, such as that of an empty cell, is none."""
        if self.cluster is None:
            return "NULL"
        level = column_of(self.cluster)
        return level if self.cluster == "phase" else f"NULLIF({level}, '')"

    def _mark_chosen(self) -> str:
        conditions = [f"rubric = {sql_literal(self.rubric.name)}"]
        for name, level in self._where.items():
            if name in ("rubric", DIMENSION):
                continue
            is_it = "IS NULL" if level is None else f"= {level if isinstance(level, int) else sql_literal(level)}"
            conditions.append(f"{column_of(name)} {is_it}")
        for number, dimension in enumerate(self.rubric.dimensions.values()):
            conditions += [f"s{number} IS NOT NULL"] if dimension.optional else []
        return f"CASE WHEN {' AND '.join(conditions)} THEN 1 ELSE 0 END"


def column_of(name: str) -> str:
    """Return the column of `parsed` that has the level of a key."""
    if name.startswith(FACTOR):
        return f"factors[{sql_literal(name.removeprefix(FACTOR))}]"
    return COLUMNS[name][1] if name in COLUMNS else name


_ALONE = "CASE WHEN c IS NULL THEN artifact END AS a"
"""The item of a unit without a level of the key of items: its artifact."""


def not_by(judge: str) -> str:
    """Return a condition that excludes the records of a judge."""
    return f"(judge IS NULL OR judge <> {sql_literal(judge)})"


def _wide(column: str) -> str:
    return f"CAST({column} AS {WIDE})"


def find_shares(column: str, counts: Iterable[int]) -> tuple[int, str]:
    """Return a common denominator for averages over these counts, and the factor of each count."""
    found = sorted(set(counts))
    common = lcm(*found) if found else 1
    if common >= _MOST:
        raise CannotRun("artifacts have too many different numbers of judges to be averaged exactly: use --unit record")
    if len(found) < 2:
        return common, "1"
    cases = " ".join(f"WHEN {count} THEN {common // count}" for count in found)
    return common, f"CASE {column} {cases} END"


def _select_groups(columns: list[str], table: str, keys: list[str]) -> str:
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join(columns)} FROM {table}{group}"
