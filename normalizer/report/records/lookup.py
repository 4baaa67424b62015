"""Look up the records that a number about scores is made of. The engine says which, by the rules of that number."""

from collections.abc import Iterable
from functools import cache, cached_property
from typing import Any

from normalizer.aggregate.eligibility import Levels
from normalizer.aggregate.paired_cells import match_columns, pair_cells
from normalizer.aggregate.parsed_lines import BUNDLE, sql_literal
from normalizer.aggregate.query import column_of
from normalizer.report.records.record_table import Behind, RecordTable, join_behind
from normalizer.statistics.contrasts import JUDGE
from normalizer.statistics.judge_scores import match_answers

OWN = "role = ''"
"""The records of the ledgers that the page is about."""
COUNTED = "status = 'counted'"
ADMITTED = f"{OWN} AND status IN ('counted', 'self_judged')"
_SCREENED = ("counted", "self_judged", "diagnostic", "off_scale", "other_judge_kind", "invalid")


class RecordLookup:
    """Looks records up in the engine's table of a page."""

    def __init__(self, table: RecordTable, width: int = 0, about: str = OWN) -> None:
        """`width` is the number of keys of the headline's groups, `about` the condition of the page's own records."""
        self.table = table
        self._about = about
        self._keys = [f"k{number}" for number in range(width)]
        self._group_by = cache(table.group)

    @cached_property
    def _groups(self) -> dict[Any, Behind]:
        return self.table.group([*self._keys, "status"], self._about)

    @cached_property
    def _judges_of_groups(self) -> dict[Any, Behind]:
        return self.table.group([*self._keys, "judge"], ADMITTED)

    @cached_property
    def _statuses(self) -> dict[Any, Behind]:
        return self.table.group(["status", "valid"], self._about)

    @cached_property
    def _bundles(self) -> dict[Any, Behind]:
        return self.table.group([BUNDLE], self._about)

    @cached_property
    def _pairs(self) -> dict[Any, Behind]:
        """The records of every two judges on the answers that both judged."""
        judged = f"SELECT DISTINCT artifact, generator, judge FROM {self.table.name} WHERE {ADMITTED}"
        joined = (
            f"(SELECT a.*, LEAST(a.judge, b.judge) AS one, GREATEST(a.judge, b.judge) AS other "
            f"FROM {self.table.name} AS a JOIN ({judged}) AS b ON {match_answers('a', 'b')} AND a.judge <> b.judge)"
        )
        return self.table.group(["one", "other"], ADMITTED, joined)

    def group(self, levels: Levels, status: str = "counted") -> Behind:
        """Return the records of a group of that status."""
        return self._groups.get((*levels, status), Behind())

    def group_with(self, levels: Levels, ids: str) -> Behind:
        """Return the counted records of a group that are in the engine's table `ids`."""
        conditions = [_is(key, level) for key, level in zip(self._keys, levels, strict=True)]
        among = f"record_id IN (SELECT record_id FROM {ids})"
        return self.table.find(" AND ".join([self._about, "status = 'counted'", among, *conditions]))

    def without(self, levels: Levels, judge: str) -> Behind:
        """Return the admitted records of a group that another judge made."""
        found = self._judges_of_groups.items()
        return join_behind(each for key, each in found if key[:-1] == levels and key[-1] != judge)

    def bundle(self, sha256: str) -> Behind:
        """Return the records of a bundle."""
        return self._bundles.get((sha256,), Behind())

    def of_status(self, *statuses: str, valid: Iterable[int] = (0, 1)) -> Behind:
        """Return all records of these statuses, or of all if none is named, VALID or INVALID or both."""
        found = self._statuses.items()
        return join_behind(
            each for (status, is_valid), each in found if (status in statuses or not statuses) and is_valid in valid
        )

    def find_blamed(self, code: str) -> Behind:
        """Return the INVALID records that have a reason."""
        return self.table.find(f"{self._about} AND codes LIKE '% {code} %'")

    def find_screened(self, key: str, level: Any, *, invalid: bool) -> Behind:
        """Return the records of the selection with that level, or only the INVALID ones."""
        listed = ", ".join(f"'{status}'" for status in (("invalid",) if invalid else _SCREENED))
        found = self._group_by((column_of(key),), f"{OWN} AND status IN ({listed})")
        return found.get((level,), Behind())

    def by_judge(self, judge: str) -> Behind:
        """Return the records of a judge."""
        return self._group_by(("judge",), ADMITTED).get((judge,), Behind())

    def count_levels(self, column: str) -> int:
        """Return how many levels the counted records have in a column."""
        [(count,)] = self.table.engine.rows(
            f"SELECT COUNT(DISTINCT {column}) FROM {self.table.name} WHERE {self._about} AND {COUNTED}"
        )
        return int(count)

    def count_factor_levels(self) -> dict[str, int]:
        """Return how many levels each factor of the counted records has."""
        entries = f"SELECT UNNEST(MAP_ENTRIES(factors)) AS e FROM {self.table.name} WHERE {OWN} AND {COUNTED}"
        rows = self.table.engine.rows(f"SELECT e.key, COUNT(DISTINCT e.value) FROM ({entries}) AS f GROUP BY e.key")
        return {name: int(count) for name, count in rows}

    def share_artifacts(self) -> bool:
        """Whether two generators have an artifact in common."""
        shared = f"SELECT artifact FROM {self.table.name} WHERE {OWN} AND {COUNTED} GROUP BY artifact"
        several = f"{shared} HAVING COUNT(DISTINCT generator) > 1"
        [(count,)] = self.table.engine.rows(f"SELECT COUNT(*) FROM ({several}) AS s")
        return int(count) > 0

    def pair(self, first: str, second: str) -> Behind:
        """Return the records of both judges on the answers they share."""
        return self._pairs.get(tuple(sorted((first, second))), Behind())

    def find_shared(self) -> Behind:
        """Return all records of answers that more than one judge judged."""
        judged = f"SELECT DISTINCT artifact, generator, judge FROM {self.table.name} WHERE {ADMITTED}"
        several = f"SELECT artifact, generator FROM ({judged}) AS j GROUP BY artifact, generator HAVING COUNT(*) > 1"
        return self.table.find(f"{ADMITTED} AND {self._among(several)}")

    def own(self, judge: str, *sides: bool) -> Behind:
        """Return the records of a judge and the other judges, on answers of its own model (True) or of others."""
        return self.table.find(" OR ".join(f"({self._own(judge, int(own))})" for own in sides))

    def _own(self, judge: str, own: int) -> str:
        name, answers = sql_literal(judge), f"SELECT artifact, generator FROM {self.table.name} WHERE {ADMITTED}"
        mine = self._among(f"{answers} AND judge = {name} AND self = {own}")
        crossed = f"judge IS DISTINCT FROM {name} AND self = 0"
        met = self._among(f"{answers} AND {crossed}")
        return f"{ADMITTED} AND {mine} AND (({crossed}) OR (judge = {name} AND {met}))"

    def _among(self, answers: str) -> str:
        """Return the condition of records about the answers that SQL selects."""
        return f"EXISTS (SELECT 1 FROM ({answers}) AS x WHERE {match_answers('x', 't')})"

    def contrast(self, key: str, levels: list[str], paired_by: list[str]) -> Behind:
        """Return the records of two levels, in the blocks that have both."""
        return self._contrasts(key, tuple(paired_by)).get(tuple(sorted(levels)), Behind())

    @cache  # noqa: B019 (a lookup lives as long as its page)
    def _contrasts(self, key: str, paired_by: tuple[str, ...]) -> dict[Any, Behind]:
        """Return the records of every two levels of a key."""
        names = paired_by if JUDGE in (key, *paired_by) else (*paired_by, JUDGE)
        levels = [f"{column_of(name)} AS b{number}" for number, name in enumerate(names)]
        columns = ", ".join([f"CAST({column_of(key)} AS STRING) AS level", *levels])
        records = f"(SELECT *, {columns} FROM {self.table.name} WHERE {ADMITTED})"
        blocks = [f"b{number}" for number in range(len(names))]
        text = (
            f"SELECT level, {', '.join(blocks)}, MIN(self) AS own FROM {records} AS r WHERE level IS NOT NULL "
            f"GROUP BY level, {', '.join(blocks)}"
        )
        with self.table.engine.call():
            cells = self.table.engine.table("cells", text)
            pairs = self.table.engine.table("pairs", pair_cells(cells, blocks, blocks[: len(paired_by)]))
            joined = (
                f"{records} AS r JOIN {pairs} AS p ON {match_columns('r', 'p', blocks)} AND r.level IN (p.one, p.other)"
            )
            return self.table.group(["one", "other"], source=f"(SELECT r.number, p.one, p.other FROM {joined})")


def _is(column: str, level: Any) -> str:
    if level is None:
        return f"{column} IS NULL"
    return f"{column} = {level if isinstance(level, int) else sql_literal(level)}"
