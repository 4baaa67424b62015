"""Paired contrasts: two levels of a key, compared on blocks that agree in the other keys."""

from collections import defaultdict
from fractions import Fraction
from itertools import combinations
from typing import Any

from normalizer.aggregate import cell_names, keys
from normalizer.aggregate.eligibility import Levels, Rules
from normalizer.aggregate.query import Query
from normalizer.documents.exact import rounded
from normalizer.statistics.group_means import GroupMeans
from normalizer.statistics.signflip import holm, sign_flip
from normalizer.statistics.spread import spread


def contrasts(query: Query, headline: GroupMeans, rules: Rules, seed: int, resamples: int) -> list[dict[str, Any]]:
    """Return every pair of levels of the first key, paired by the other keys: the total first, then dimensions."""
    blocks: dict[Levels, dict[str, Levels]] = defaultdict(dict)
    for levels in headline.levels():
        if levels[0] is not None and headline.group(levels, rules).n:
            blocks[levels[1:]][str(levels[0])] = levels
    all_levels = sorted({level for block in blocks.values() for level in block})
    measures = [
        ("total", -1),
        *((cell_names.dimension(name), place) for place, name in enumerate(query.rubric.dimensions)),
    ]
    tested: list[tuple[str, dict[str, Any], Fraction | None]] = []
    for measure, place in measures:
        for pair in combinations(all_levels, 2):
            differences: list[Fraction] = []
            for block in sorted(blocks, key=keys.sort_key):
                if pair[0] in blocks[block] and pair[1] in blocks[block]:
                    values = [headline.groups[blocks[block][level]].mean(headline.denominator, place) for level in pair]
                    differences.append(values[0] - values[1])
            alone = sum((pair[0] in block) != (pair[1] in block) for block in blocks.values())
            found, p = _contrast(query.by[0], pair, measure, differences, alone, seed, resamples)
            tested.append((measure, found, p))
    for family in (True, False):
        members = [(found, p) for measure, found, p in tested if (measure == "total") is family]
        for (found, _), corrected in zip(members, holm([p for _, p in members]), strict=True):
            found["p_holm"] = None if corrected is None else rounded(corrected)
    return [found for _, found, _ in tested]


def _contrast(
    key: str,
    pair: tuple[str, str],
    measure: str,
    differences: list[Fraction],
    alone: int,
    seed: int,
    resamples: int,
) -> tuple[dict[str, Any], Fraction | None]:
    found, reasons = spread(differences, "difference", "pair")
    tested = sign_flip(differences, seed, resamples) if differences else None
    if tested is None:
        reasons |= dict.fromkeys(("p", "p_holm", "method"), "there is no pair")
    document = {
        "key": key,
        "levels": list(pair),
        "measure": measure,
        "n": len(differences),
        "unpaired": alone,
        **found,
        "p": None if tested is None else rounded(tested.p),
        "p_holm": None,
        "method": None if tested is None else tested.method,
        "na": reasons,
    }
    return document, None if tested is None else tested.p
