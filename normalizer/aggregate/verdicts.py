"""Verdicts: what each judge says of each artifact, its repeated records averaged; and pairs of them, counted."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction

from normalizer.aggregate.engine import Engine
from normalizer.aggregate.query import Query

_SAME = "a.artifact = b.artifact AND a.generator IS NOT DISTINCT FROM b.generator"

Joint = Counter[tuple[int, int]]
"""How often two judges gave a pair of values."""


@dataclass(slots=True)
class Shared:
    """What two judges share."""

    n: int = 0
    self_judged: bool = False
    repeated: bool = False


@dataclass(slots=True)
class JointValues:
    """The pairs of values of one measure."""

    pairs: dict[tuple[str, str], Joint] = field(default_factory=lambda: defaultdict(Counter))
    coincidences: dict[tuple[int, int], Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    """Over all judges: each pair within an artifact weighs 1 / (its judges - 1); first value not above the second."""
    artifacts: int = 0
    """With two judges or more."""


class Verdicts:
    """Has the engine keep `verdicts`, from records grouped by nothing."""

    def __init__(self, engine: Engine, query: Query, eligible: str) -> None:
        self.engine = engine
        self.query = query
        engine.table("judged", query.judged(eligible))
        text, common = query.verdicts(int(row[0]) for row in engine.rows("SELECT DISTINCT m FROM judged"))
        engine.table("verdicts", text)
        engine.table("panels", "SELECT artifact, generator, COUNT(*) AS k FROM verdicts GROUP BY artifact, generator")
        self.denominator = common * 10**query.places

    def judges(self) -> dict[str, int]:
        """All judges, sorted, with how many artifacts they judged."""
        rows = self.engine.rows("SELECT judge, COUNT(*) FROM verdicts GROUP BY judge")
        return dict(sorted((judge, int(count)) for judge, count in rows))

    def shared(self) -> dict[tuple[str, str], Shared]:
        """What each pair of judges shares, as far as it shares anything."""
        text = (
            "SELECT a.judge, b.judge, COUNT(*), SUM(a.selfs + b.selfs), MAX(a.m), MAX(b.m) "  # noqa: S608
            f"FROM verdicts a JOIN verdicts b ON {_SAME} WHERE a.judge < b.judge GROUP BY a.judge, b.judge"
        )
        return {
            (first, second): Shared(int(n), selfs > 0, max(one, other) > 1)
            for first, second, n, selfs, one, other in self.engine.rows(text)
        }

    def joint(self, measure: str) -> JointValues:
        """All pairs of values of one measure."""
        text = (
            f"SELECT a.judge, b.judge, p.k, a.{measure}, b.{measure}, COUNT(*) "  # noqa: S608
            f"FROM verdicts a JOIN verdicts b ON {_SAME} "
            "JOIN panels p ON a.artifact = p.artifact AND a.generator IS NOT DISTINCT FROM p.generator "
            f"WHERE a.judge < b.judge GROUP BY a.judge, b.judge, p.k, a.{measure}, b.{measure}"
        )
        found = JointValues()
        artifacts = Fraction(0)
        for first, second, panel, one, other, count in self.engine.rows(text):
            values = int(one), int(other)
            found.pairs[first, second][values] += int(count)
            low, high = sorted(values)
            # Both orders of a pair count; of unequal values each order is a cell of its own.
            found.coincidences[low, high] += Fraction(int(count) * (2 if low == high else 1), int(panel) - 1)
            artifacts += Fraction(2 * int(count), int(panel) * (int(panel) - 1))
        found.artifacts = int(artifacts)
        return found
