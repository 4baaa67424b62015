"""The SQL over comparisons that every engine runs unchanged.

    parsed        one row per VALID comparison of a ledger
    comparisons   the same with the levels of one query, and whether `--where` chooses it

Numbers are given to items and names in the order of their texts, so that the rest is arithmetic with whole numbers.
"""

from dataclasses import dataclass

from normalizer.aggregate.keys import FACTOR, INSTRUMENT, Level
from normalizer.aggregate.parsed_lines import BUNDLE, COLUMNS, ID, MEMBERS, Fields, sql_literal
from normalizer.preferences.verdicts import NONE, SHOWN, WINNERS

_OBJECTS = (
    ("outcome", ("a", "b", "winner", "share", "shown_first")),
    ("length", ("a", "b")),
    ("source", ("index",)),
)
FIELDS = Fields((), (*MEMBERS, "criterion", "repeat"), objects=_OBJECTS)
"""Members of a line that are read."""
_RENAMED = {name: column for name, column in COLUMNS.items() if name != "generator_model"}
_SELF = "self_judged = 'true' OR judge_model IN (outcome_a, outcome_b) OR judge_model = generator_model"
ROW = ("item", "a", "b", "winner", "share", "shown_first", "judge", "repeat", "criterion", "length_a", "length_b")
"""Columns of one comparison; `self` and `place` follow."""


def parse_comparisons(lines: str, *, ids: bool = False) -> str:
    """Return the SQL of `parsed`; with `ids`, the ids and bundles of comparisons are columns, too."""
    columns = [name for name in MEMBERS if name not in (*_RENAMED, "self_judged")]
    columns += [f"{expression} AS {column}" for expression, column in _RENAMED.values()]
    columns += [f"outcome_{name} AS {name}" for name in ("a", "b", "winner", "shown_first")]
    columns += [f"COALESCE(CAST(outcome_share AS DOUBLE), {NONE}) AS share"]
    columns += [f"COALESCE(TRY_CAST(length_{side} AS DOUBLE), {NONE}) AS length_{side}" for side in "ab"]
    columns += [
        "artifact AS item",
        "criterion",
        "COALESCE(CAST(TRY_CAST(repeat AS DECIMAL(38,0)) AS STRING), repeat, '0') AS repeat",
        "CAST(source_index AS BIGINT) AS place",
        f"CASE WHEN {_SELF} THEN 1 ELSE 0 END AS self",
        "factors",
        "0 AS off",
        *([ID, BUNDLE] if ids else []),
    ]
    return f"SELECT {', '.join(columns)} FROM {lines}"


@dataclass(frozen=True, slots=True)
class ComparisonQuery:
    """SQL over the comparisons of one call."""

    by: tuple[str, ...]
    where: dict[str, Level]
    eligible: str = ""
    """The condition of comparisons that count."""
    table: str = ""
    """The name of `comparisons` on an engine."""

    @property
    def keys(self) -> list[str]:
        """Return the columns of levels."""
        return [f"k{number}" for number in range(len(self.by))]

    def comparisons(self, parsed: str) -> str:
        """Return the SQL of `comparisons`."""
        conditions = ["1 = 1"]
        for name, level in self.where.items():
            is_it = "IS NULL" if level is None else f"= {level if isinstance(level, int) else sql_literal(level)}"
            conditions.append(f"{_level(name)} {is_it}")
        columns = [f"{_level(name)} AS k{number}" for number, name in enumerate(self.by)]
        columns.append(f"CASE WHEN {' AND '.join(conditions)} THEN 1 ELSE 0 END AS chosen")
        return f"SELECT *, {', '.join(columns)} FROM {parsed}"

    def kinds(self) -> str:
        """Return SQL that counts comparisons by what the rules look at."""
        columns = "chosen, phase, protocol, self, judge_kind, leg"
        return f"SELECT {columns}, COUNT(*) FROM {self.table} GROUP BY {columns}"

    def distinct(self, *columns: str) -> str:
        """Return SQL for the values of columns that occur in comparisons that count."""
        return f"SELECT DISTINCT {', '.join(columns)} FROM {self.table} WHERE {self.eligible}"

    def count_mixed_instruments(self) -> str:
        """Return SQL that counts judges of groups that had several prompts, versions or settings."""
        whose = [*self.keys, "judge"]
        each = self.distinct(*whose, *INSTRUMENT)
        several = f"SELECT 1 AS one FROM ({each}) AS i GROUP BY {', '.join(whose)} HAVING COUNT(*) > 1"
        return f"SELECT COUNT(*) FROM ({several}) AS s"

    def number_texts(self, *columns: str) -> str:
        """Return SQL that numbers the texts of columns from 0, in their order."""
        texts = " UNION ".join(self.distinct(f"{column} AS text") for column in columns)
        return f"SELECT text, ROW_NUMBER() OVER (ORDER BY text) - 1 AS number FROM ({texts}) AS t"

    def groups(self) -> str:
        """Return SQL that numbers the groups from 0."""
        keys = ", ".join(self.keys)
        return f"SELECT *, ROW_NUMBER() OVER (ORDER BY {keys}) - 1 AS number FROM ({self.distinct(keys)}) AS g"

    def select_coded(self, items: str, names: str, groups: str | None) -> str:
        """Return the SQL of comparisons that count with numbers for texts, given the tables of these."""
        group, join = "0", ""
        if groups is not None:
            same = " AND ".join(f"r.{key} IS NOT DISTINCT FROM g.{key}" for key in self.keys)
            group, join = "g.number", f" JOIN {groups} AS g ON {same}"
        winner, first = _place("winner", WINNERS), _place("shown_first", SHOWN)
        columns = f"{group} AS grp, i.number AS item, a.number AS a, b.number AS b, {winner} AS winner"
        rest = f"{first} AS first, self, share, length_a, length_b, judge, repeat, criterion"
        tables = f"(SELECT * FROM {self.table} WHERE {self.eligible}) AS r{join} JOIN {items} AS i ON r.item = i.text"
        tables += "".join(f" JOIN {names} AS {side} ON r.{side} = {side}.text" for side in "ab")
        return f"SELECT {columns}, {rest} FROM {tables}"

    def rows(self) -> str:
        """Return SQL for every comparison that counts: levels, then the columns of ROW, `self` and `place`."""
        columns = ", ".join([*self.keys, *ROW, "self", "place"])
        return f"SELECT {columns} FROM {self.table} WHERE {self.eligible}"


def verdicts(coded: str) -> str:
    """Return SQL for the group and the columns of `Verdicts`, in an order that comparisons alone decide."""
    columns = "grp, item, a, b, winner, first, self, share, length_a, length_b"
    return f"SELECT {columns}, COUNT(*) AS times FROM {coded} GROUP BY {columns} ORDER BY {columns}"


def orders(coded: str) -> str:
    """Return SQL for the group and the columns of `Orders`. The answer whose name sorts first is A."""
    turned = " ".join(f"WHEN {at} THEN {1 - at}" for at in range(2))
    seen = "winner AS w, first AS f", f"CASE winner {turned} ELSE winner END AS w, 1 - first AS f"
    asked = "judge, repeat, criterion"
    known = SHOWN.index("unknown")
    both = " UNION ALL ".join(
        f"SELECT grp, item, {pair}, {asked}, {each} FROM {coded} WHERE first <> {known} AND {condition}"
        for pair, each, condition in (("a, b", seen[0], "a < b"), ("b AS a, a AS b", seen[1], "a >= b"))
    )
    places = [(first, winner) for first in range(2) for winner in range(len(WINNERS))]
    sums = [
        f"CAST(SUM(CASE WHEN f = {first} AND w = {winner} THEN 1 ELSE 0 END) AS BIGINT) AS v{first}{winner}"
        for first, winner in places
    ]
    counts = [f"v{first}{winner}" for first, winner in places]
    each = f"SELECT grp, item, {', '.join(sums)} FROM ({both}) AS s GROUP BY grp, item, a, b, {asked}"
    columns = f"grp, item, {', '.join(counts)}"
    shown = [" + ".join(f"v{first}{winner}" for winner in range(len(WINNERS))) for first in range(2)]
    where = " AND ".join(f"{each} > 0" for each in shown)
    return f"SELECT {columns}, COUNT(*) AS times FROM ({each}) AS o WHERE {where} GROUP BY {columns}"


def _place(column: str, texts: tuple[str, ...]) -> str:
    cases = " ".join(f"WHEN '{text}' THEN {place}" for place, text in enumerate(texts))
    return f"CASE {column} {cases} END"


def _level(name: str) -> str:
    if name.startswith(FACTOR):
        return f"factors[{sql_literal(name.removeprefix(FACTOR))}]"
    return _RENAMED[name][1] if name in _RENAMED else name
