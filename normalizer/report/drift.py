"""Drift: one judge under two of its versions (prompt, protocol), on the artifacts that both versions judged.

Versions are compared, not put together, so that they may be of different phases; where they are, it is said.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations
from typing import Any

from normalizer.aggregate import keys
from normalizer.aggregate.eligibility import ALONE, Rules
from normalizer.aggregate.groups import is_selected
from normalizer.aggregate.summary import Options
from normalizer.documents.exact import round_exact
from normalizer.documents.rubric import Rubric
from normalizer.report.record_status import RecordStatus
from normalizer.statistics.spread import describe_differences, mean_of

_OF_A_VERSION = ("phase", "judge_prompt_version", "protocol_version", "run_id")
"""Keys of versions, which a selection may name and this comparison ignores."""

_VERSIONED = ("judge_prompt", "protocol")
Version = tuple[str, str]
Judged = dict[tuple[str, str], list[RecordStatus]]
"""The records of artifacts, each known by its name and its generator, as units are."""


def drift(records: Iterable[RecordStatus], rubric: Rubric, options: Options) -> list[dict[str, Any]]:
    """Every pair of versions of every judge; differences are second minus first."""
    where = {name: level for name, level in options.where.items() if name not in _OF_A_VERSION}
    judged: dict[str, dict[Version, Judged]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for each in records:
        judge, artifact = each.plain.get("judge_model"), each.plain.get("artifact")
        counts = each.kind is not None and options.rules.admits(each.kind) and each.status != "duplicate"
        if counts and judge is not None and artifact is not None and is_selected(each.plain, where):
            prompt, protocol = (keys.level(each.plain.get(f"{name}_version"), " / ") for name in _VERSIONED)
            generator = keys.level(each.plain.get("generator_model"))
            judged[judge][prompt, protocol][artifact, generator].append(each)
    found = []
    for judge in sorted(judged):
        for pair in combinations(sorted(judged[judge]), 2):
            found.append(_drift(judge, pair, [judged[judge][version] for version in pair], rubric, options.rules))
    return found


def _drift(
    judge: str, pair: tuple[Version, Version], sides: list[Judged], rubric: Rubric, rules: Rules
) -> dict[str, Any]:
    shared = sorted(sides[0].keys() & sides[1].keys())
    met = Counter(each.kind for side in sides for artifact in shared for each in side[artifact] if each.kind)
    alone = bool(rules.only_self_judged(met))
    if alone:
        shared = []
    differences = [_mean(sides[1][artifact]) - _mean(sides[0][artifact]) for artifact in shared]
    least, greatest = map(Fraction, rubric.bounds())
    numbers, _ = describe_differences(differences, [name for name, _ in shared], greatest - least, "shared artifact")
    used = [[each for artifact in shared for each in side[artifact]] for side in sides]
    all_phases = [sorted({each.kind.phase for each in side if each.kind}) for side in used]
    dimensions = {}
    for name in rubric.dimensions:
        each = [_mean(sides[1][artifact], name) - _mean(sides[0][artifact], name) for artifact in shared]
        dimensions[name] = round_exact(mean_of(each)) if each else None
    same_protocol = pair[0][1] == pair[1][1]
    return {
        "judge": judge,
        "versions": [version[0] if same_protocol else " / ".join(version) for version in pair],
        "phases": all_phases,
        "n": len(shared),
        "difference": numbers.pop("mean"),
        **numbers,
        "equal": round_exact(Fraction(sum(not each for each in differences), len(shared))) if shared else None,
        "dimensions": dimensions,
        **({"na": dict.fromkeys(numbers["na"], ALONE)} if alone else {}),
        "places": sorted(each.place for side in used for each in side),
    }


def _mean(records: list[RecordStatus], dimension: str | None = None) -> Fraction:
    values = []
    for each in records:
        worths = each.worths or {}
        values.append(sum(worths.values(), Fraction(0)) if dimension is None else worths[dimension])
    return mean_of(values)
