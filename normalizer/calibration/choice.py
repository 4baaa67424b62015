"""Find the judge or panel of judges that is closest to gold, and correct its loss for having been chosen.

Candidates are every judge, the mean, median and majority of all judges, and the mean of all but one. The loss is the
mean absolute difference from gold on the items that every judge labelled. The best of many candidates looks better than
it is: the corrected loss chooses on each bootstrap resample of the artifacts and measures on those left out of it.
"""

from collections import defaultdict
from fractions import Fraction
from typing import Any

from normalizer.aggregate.intervals import Method, draw_blocks
from normalizer.calibration.labels import Item, Labels, Values, consensus
from normalizer.documents.exact import round_exact
from normalizer.estimation.clusters import gather
from normalizer.statistics.signflip import holm, sign_flip
from normalizer.statistics.spread import mean_of

LEAST_ARTIFACTS = 10


def closest(labels: Labels, gold: dict[Item, Values], place: int, method: Method) -> dict[str, Any]:
    """All candidates, closest first, and the best one's loss corrected for the choice."""
    judges = [
        judge for judge in labels.judges() if not labels.gives_only_own(judge, _find_labelled(labels, judge, gold))
    ]
    items = [item for item in gold if labels.by_item.get(item, {}).keys() >= set(judges)]
    document: dict[str, Any] = {"items": len(items), "candidates": [], "best": None, "corrected_mae": None, "na": None}
    if len(judges) < 2 or not items:
        return {
            **document,
            "na": "fewer than two judges labelled outputs of other models than their own"
            if len(judges) < 2
            else "no item has the labels of all judges",
        }
    losses = {
        name: [abs(_panel(labels.by_item[item], members, rule, place) - gold[item][place]) for item in items]
        for name, members, rule in _candidates(judges)
    }
    order = sorted(losses, key=lambda name: (mean_of(losses[name]), name))
    best = order[0]
    artifacts = [artifact for artifact, _ in items]
    tests = [None if name == best else _p(losses[name], losses[best], artifacts, method.seed) for name in order]
    enough = len(set(artifacts)) >= LEAST_ARTIFACTS
    chosen, corrected = _resample_choices(losses, artifacts, method) if enough else ({}, None)
    for name, p in zip(order, holm(tests), strict=True):
        share = round_exact(chosen[name] / method.resamples) if chosen else None
        document["candidates"].append(
            {
                "name": name,
                "mae": round_exact(mean_of(losses[name])),
                "p_holm": None if p is None else round_exact(p),
                "chosen_share": share,
            }
        )
    document |= {"best": best, "corrected_mae": None if corrected is None else round_exact(corrected)}
    if corrected is None:
        document["na"] = f"fewer than {LEAST_ARTIFACTS} artifacts give no correction"
    return document


def _find_labelled(labels: Labels, judge: str, gold: dict[Item, Values]) -> list[Item]:
    return [item for item in gold if judge in labels.by_item.get(item, {})]


def _candidates(judges: list[str]) -> list[tuple[str, list[str], str]]:
    """Name, members and rule of each candidate."""
    found = [(judge, [judge], "mean") for judge in judges]
    found += [(f"panel {rule} of all", judges, rule) for rule in ("mean", "median", "majority")]
    if len(judges) > 2:
        found += [(f"panel mean without {out}", [one for one in judges if one != out], "mean") for out in judges]
    return found


def _panel(labels: dict[str, Values], members: list[str], rule: str, place: int) -> Fraction:
    return consensus([(labels[judge][place],) for judge in members], rule)[0]


def _p(one: list[Fraction], other: list[Fraction], artifacts: list[str], seed: int) -> Fraction:
    """Return p of the sign-flip test, the answers about one artifact changing sign together."""
    return sign_flip(gather([x - y for x, y in zip(one, other, strict=True)], artifacts).sums(), seed).p


def _resample_choices(
    losses: dict[str, list[Fraction]], artifacts: list[str], method: Method
) -> tuple[dict[str, Fraction], Fraction]:
    """Return how often each candidate is chosen, and the mean loss of the chosen one on the artifacts left out.

    Candidates that are equally close share the choice. The answers about one artifact are drawn together, artifacts in
    an order that names do not decide.
    """
    import numpy as np

    names = sorted(losses)
    ranked = sorted(names, key=lambda name: (mean_of(losses[name]), name))
    answers: dict[str, list[tuple[Fraction, ...]]] = defaultdict(list)
    for artifact, *each in zip(artifacts, *(losses[name] for name in ranked), strict=True):
        answers[artifact].append(tuple(each))
    drawn_together = sorted(sorted((sorted(each), each) for each in some) for some in answers.values())
    sizes = np.array([len(some) for some in drawn_together])
    sums = [[float(sum(column)) for column in zip(*(each for _, each in some), strict=True)] for some in drawn_together]
    table = np.array(sums).T[[ranked.index(name) for name in names]]
    chosen = dict.fromkeys(names, Fraction(0))
    outside: list[float] = []
    for drawn in (row for block in draw_blocks(method, table.shape[1]) for row in block):
        often = np.bincount(drawn, minlength=table.shape[1])
        loss = (table * often).sum(axis=1)
        winners = np.flatnonzero(loss <= loss.min() + 1e-9).tolist()
        for winner in winners:
            chosen[names[winner]] += Fraction(1, len(winners))
        left = often == 0
        if left.any():
            outside.append(float(table[winners][:, left].sum(axis=1).mean() / sizes[left].sum()))
    return chosen, Fraction(sum(outside) / len(outside))
