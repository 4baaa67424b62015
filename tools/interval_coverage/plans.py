"""Whether studies of the planned size show what they were planned for."""

import random
from fractions import Fraction

from normalizer.estimation.clusters import gather
from normalizer.estimation.paired_test import SPREAD, examine_differences
from normalizer.gate.verdict import Terms, decide
from normalizer.noise.designs import Square, cluster_effect
from normalizer.noise.sample_size import PowerTarget, items_needed, power_of
from normalizer.statistics.spread import variance_of
from tools.interval_coverage import Study, question


def _exactly(value: float) -> Fraction:
    return Fraction(round(value * 10**6), 10**6)


def _margin(deviation: float, margin: str) -> Study:
    """Whether a system as good passes a gate that was planned for its margin."""
    pairs = Square(_exactly(deviation**2), 1).items(PowerTarget(margin=float(margin), reach=10.0))

    def draw(rng: random.Random) -> bool:
        gaps = [_exactly(rng.gauss(0, deviation)) for _ in range(pairs)]
        return decide(gather(gaps), Terms(Fraction(10), Fraction(margin), 0.05)).passes

    return question(f"plan: margin of {margin}, deviation {deviation:g}: an unchanged system passes", draw, "80 %")


def _safe(items: int, gap: float) -> Study:
    """Whether the study that a pilot of so many items plans with the safe variance has its power."""

    def draw(rng: random.Random) -> bool:
        pilot = [_exactly(rng.gauss(0, 1)) for _ in range(items)]
        planned = Square(variance_of(pilot), items - 1).items(PowerTarget(gap), safe=True)
        return power_of(gap, 1.0, planned, 0.05) >= 0.8

    return question(f"plan: pilot of {items} items, safe: the study has its power", draw, "80 %")


def _clustered(size: int, icc: float, gap: float) -> Study:
    """Whether a study with clusters, planned from a pilot of 200 clusters, finds the difference."""
    spread = icc**0.5, (1 - icc) ** 0.5

    def values(rng: random.Random, clusters: int, centre: float) -> list[list[Fraction]]:
        found = []
        for _ in range(clusters):
            level = rng.gauss(centre, spread[0])
            found.append([_exactly(rng.gauss(level, spread[1])) for _ in range(size)])
        return found

    def draw(rng: random.Random) -> bool:
        labels: dict[tuple[str, str | None], list[Fraction]] = {}
        names: dict[str, str | None] = {}
        for place, cluster in enumerate(values(rng, 200, 0.0)):
            for at, gap_of_item in enumerate(cluster):
                artifact = f"{place}-{at}"
                names[artifact] = str(place)
                labels[artifact, "x"], labels[artifact, "y"] = [Fraction(0)], [-gap_of_item]
        effect = cluster_effect(labels, names)
        assert effect is not None
        items = items_needed(gap, float(effect["design_effect"]) ** 0.5, power=0.8, alpha=0.05)
        study = values(rng, -(-items // size), gap)
        flat = [(value, place) for place, cluster in enumerate(study) for value in cluster]
        found = gather([value for value, _ in flat], [place for _, place in flat])
        return examine_differences(found, Fraction(10), SPREAD).interval[0] >= 0

    return question(f"plan: clusters of {size}, ICC {icc:g}, difference of {gap:g}: found", draw, "80 %")


STUDIES = [
    _margin(1.0, "0.5"),
    _margin(1.0, "0.3"),
    _safe(10, 0.3),
    _safe(30, 0.3),
    _clustered(4, 0.4, 0.3),
]
