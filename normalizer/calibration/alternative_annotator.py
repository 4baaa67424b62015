"""Whether a judge may take the place of a person: the alternative-annotator test of Calderon, Reichart and Dror (2025,
arXiv 2501.10970).

For each annotator, on each item: is the judge at least as close to the other annotators as this annotator is, by the
root of the mean squared difference, and the other way round? The judge wins against an annotator if the share of items
on which it is at least as close is not lower by more than epsilon, tested one-sided by Student's t with errors by item.
Where fewer than ten items differ from the others, t passes too many judges, 20 % instead of 5 % in simulated studies of
30 items: the test is then the one that holds for all distributions (Gaffke's, `estimation.intervals`).
The winning rate is the share of annotators it wins against, at a false discovery rate of 5 % (Benjamini and Yekutieli
2001); from one half on, the judge may stand in for an annotator. The advantage is the mean share of items on which it
is at least as close.
"""

from collections import Counter
from fractions import Fraction
from typing import Any

from normalizer.aggregate.eligibility import ALONE
from normalizer.calibration.labels import Item, LabelStudy
from normalizer.documents.exact import round_exact
from normalizer.estimation.clusters import Clusters, gather, robust_variance
from normalizer.estimation.intervals import DirichletMean, points_of
from normalizer.estimation.paired_test import edge_point
from normalizer.statistics.spread import mean_of

EPSILON = Fraction(1, 10)
"""By how much a person may be closer more often: the authors propose 0.1 for lay annotators, 0.2 for experts."""
LEAST_ANNOTATORS = 3
LEAST_ITEMS = 30
LEAST_DIFFERENT = 10
"""So many items must differ from the most frequent outcome for Student's t."""
_RATE = Fraction(1, 20)


def try_alternatives(study: LabelStudy) -> dict[str, Any]:
    """Return the test of each judge."""
    judges = [{"judge": judge, **_test_judge(study, judge)} for judge in study.judged.judges()]
    return {"epsilon": round_exact(EPSILON), "judges": judges}


def _test_judge(study: LabelStudy, judge: str) -> dict[str, Any]:
    rows = []
    for annotator in study.annotated.judges():
        closer = _compare(study, judge, annotator)
        if closer:
            rows.append((annotator, closer))
    document: dict[str, Any] = {"annotators": [], "winning_rate": None, "advantage": None, "passes": None, "na": None}
    items = {item for _, closer in rows for item in closer}
    if items and study.judged.gives_only_own(judge, items):
        return {**document, "na": ALONE}
    if len(rows) < LEAST_ANNOTATORS:
        return {**document, "na": f"fewer than {LEAST_ANNOTATORS} annotators share items with two others"}
    if min(len({artifact for artifact, _ in closer}) for _, closer in rows) < LEAST_ITEMS:
        return {**document, "na": f"an annotator shares fewer than {LEAST_ITEMS} items with two others and the judge"}
    ps = [find_p([person - judge for judge, person in closer.values()], list(closer)) for _, closer in rows]
    wins = find_discoveries(ps)
    shares = [[mean_of([each[side] for each in closer.values()]) for side in (0, 1)] for _, closer in rows]
    document["annotators"] = [
        {
            "annotator": annotator,
            "n": len(closer),
            "judge_as_close": round_exact(share[0]),
            "annotator_as_close": round_exact(share[1]),
            "p": round_exact(Fraction(p)),
            "wins": won,
        }
        for (annotator, closer), share, p, won in zip(rows, shares, ps, wins, strict=True)
    ]
    rate = Fraction(sum(wins), len(wins))
    advantage = mean_of([share[0] for share in shares])
    document |= {
        "winning_rate": round_exact(rate),
        "advantage": round_exact(advantage),
        "passes": rate >= Fraction(1, 2),
    }
    return document


def _compare(study: LabelStudy, judge: str, annotator: str) -> dict[Item, tuple[Fraction, Fraction]]:
    """Return for each item whether the judge is at least as close to the others as the annotator, and the reverse."""
    found = {}
    for item, given in study.annotated.by_item.items():
        others = [values[study.place] for name, values in given.items() if name != annotator]
        labels = study.judged.by_item.get(item, {})
        if annotator in given and len(others) > 1 and judge in labels:
            far = [
                sum((label[study.place] - other) ** 2 for other in others)
                for label in (labels[judge], given[annotator])
            ]
            found[item] = Fraction(far[0] <= far[1]), Fraction(far[1] <= far[0])
    return found


def find_p(differences: list[Fraction], items: list[Item]) -> float:
    """Return the one-sided p-value against a mean of `EPSILON` or more."""
    from scipy.special import stdtr

    clusters = gather(differences, [artifact for artifact, _ in items])
    if clusters.clusters < 2:
        return 1.0
    counts = [count for _, count in _means(clusters).most_common()]
    if sum(counts[1:]) < LEAST_DIFFERENT:
        points = points_of(clusters.counts.items())
        unseen = edge_point(1.0, clusters.values / clusters.clusters)
        return 1 - DirichletMean([*points, unseen]).chance_at_most(float(EPSILON))
    square, freedom = robust_variance(clusters)
    return float(stdtr(freedom, float(clusters.mean - EPSILON) / float(square) ** 0.5))


def _means(clusters: Clusters) -> Counter[Fraction]:
    found: Counter[Fraction] = Counter()
    for (total, size), count in clusters.counts.items():
        found[total / size] += count
    return found


def find_discoveries(ps: list[float]) -> list[bool]:
    """Return which hypotheses are rejected at a false discovery rate of 5 %, whatever their dependence."""
    m = len(ps)
    harmonic = sum((Fraction(1, rank) for rank in range(1, m + 1)), Fraction(0))
    bounds = [float(_RATE * rank / (m * harmonic)) for rank in range(1, m + 1)]
    passed = [p for p, bound in zip(sorted(ps), bounds, strict=True) if p <= bound]
    return [bool(passed) and p <= passed[-1] for p in ps]
