"""Means of groups without spreads, for statistics that compute them many times."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from normalizer.aggregate import keys
from normalizer.aggregate.eligibility import Kind, Levels, Rules
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.groups import Found, find_groups, without
from normalizer.aggregate.query import Query, not_by
from normalizer.aggregate.summary import Options
from normalizer.aggregate.units import Group, Numbers
from normalizer.ledger.open_ledgers import OpenLedgers


@dataclass(slots=True)
class GroupMeans:
    """Means of groups under the rules of `aggregate.eligibility`."""

    found: Found
    groups: dict[Levels, Group]
    denominator: int

    @classmethod
    def of(cls, engine: Engine, given: OpenLedgers, query: Query, options: Options) -> "GroupMeans":
        """Compute the means from prepared records."""
        found = find_groups(engine, query, given, options.where)
        numbers = Numbers(engine, query, options.rules.condition(), options.unit)
        return cls(found, numbers.groups(), numbers.denominator)

    def without(self, judge: str, engine: Engine, query: Query, options: Options) -> "GroupMeans":
        """Return the means without the records of one judge."""
        found = without(judge, engine, query, self.found)
        numbers = Numbers(engine, query, f"{options.rules.condition()} AND {not_by(judge)}", options.unit)
        return GroupMeans(found, numbers.groups(), numbers.denominator)

    def levels(self) -> list[Levels]:
        """Return all groups, sorted."""
        return sorted(self.found.valid, key=keys.sort_key)

    def group(self, levels: Levels, rules: Rules) -> Group:
        """Return a group; empty if the rules give it no number."""
        refused = rules.only_self_judged(self.found.valid.get(levels) or _NOTHING)
        return Group() if refused else self.groups.get(levels, Group())

    def mean(self, levels: Levels, rules: Rules, place: int = -1) -> Fraction | None:
        """Return the mean of a measure, by default the total."""
        group = self.group(levels, rules)
        return group.mean(self.denominator, place) if group.n else None


_NOTHING: Counter[Kind] = Counter()
