"""WildBench's weighted macro mean: the mean of each group of tasks, averaged with the weight of the group.

An item counts in each group of its tags. The macro mean is therefore a weighted mean of items, the weight of an item
being the sum, over its groups, of the group's weight by the number of values in it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import lcm

from normalizer.documents.recipes import RECIPES, Recipe
from normalizer.errors import CannotRun
from normalizer.estimation.clusters import Clusters

_MACRO = RECIPES["wildbench-macro"]
GROUPS: dict[str, str] = _MACRO["groups"]
QUARTERS: dict[str, int] = _MACRO["quarters"]


def read_tasks(recipe: Recipe) -> dict[str, frozenset[str]]:
    """Return the groups of tasks of each item, from its `primary_tag` and `secondary_tags`. Raises CannotRun."""
    found = {}
    for row in recipe.rows:
        item = row.get("id", row.get("session_id"))
        tags = [row.get("primary_tag"), *(row.get("secondary_tags") or [])]
        unknown = [tag for tag in tags if tag not in GROUPS]
        if item is None or unknown:
            raise CannotRun(
                f"a row of the recipe's file has {'no id' if item is None else f'the tag {unknown[0]}'}: it needs id, "
                f"primary_tag and secondary_tags, the tags being {', '.join(sorted(GROUPS))}"
            )
        found[str(item)] = frozenset(GROUPS[tag] for tag in tags)
    return found


def weigh(values: Mapping[str, Iterable[Fraction]], tasks: Mapping[str, frozenset[str]]) -> Clusters:
    """Return the items as clusters whose sizes are their weights, given the values of each item.

    Raises CannotRun for an item without tags, and where a group of tasks has no value.
    """
    lists = {item: list(each) for item, each in values.items()}
    missing = sorted(item for item in lists if item not in tasks)
    if missing:
        raise CannotRun(f"the file of the recipe has no tags for item {missing[0]}")
    sizes: Counter[str] = Counter()
    for item, each in lists.items():
        sizes.update({group: len(each) for group in tasks[item]})
    empty = [group for group in sorted(QUARTERS) if not sizes[group]]
    if lists and empty:
        raise CannotRun(f"no item is of the tasks {' and '.join(empty)}, and the macro score needs all five groups")
    common = lcm(*sizes.values())
    counts: Counter[tuple[Fraction, int]] = Counter()
    for item, each in lists.items():
        weight = sum(QUARTERS[group] * common // sizes[group] for group in tasks[item])
        counts[weight * sum(each, Fraction(0)), weight * len(each)] += 1
    return Clusters(counts)
