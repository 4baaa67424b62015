"""How well people agree with each other, and judges with the same people: each annotator is left out in turn.

An annotator is compared with the consensus of the others, and every judge with that same consensus on the same items.
Only these two may be put beside each other: gold has the annotator's own label in it, so that a judge that repeats it
would seem to do better than the annotator can.
"""

from typing import Any

from normalizer.aggregate.eligibility import ALONE
from normalizer.calibration.labels import Item, LabelStudy, PairsByItem, Values, consensus
from normalizer.calibration.measures import compare_items


def ceiling(study: LabelStudy) -> dict[str, Any]:
    """Return each annotator, and each judge, against the consensus of the other annotators."""
    rows, judges = [], []
    for annotator in study.annotated.judges():
        others = _consensus_without(study, annotator)
        if not others:
            continue
        own = _against(study, annotator, others, study.annotated.by_item)
        rows.append({"annotator": annotator, "n": len(own), **compare_items(own, study)})
        for judge in study.judged.judges():
            given = _against(study, judge, others, study.judged.by_item)
            shared = {item: own[item] for item in given}
            why = ALONE if given and study.judged.gives_only_own(judge, given) else None
            judges.append(
                {
                    "judge": judge,
                    "annotator": annotator,
                    "n": len(given),
                    "as_judge": compare_items({} if why else given, study, why=why),
                    "as_annotator": compare_items(shared, study),
                }
            )
    return {"annotators": rows, "judges": judges, "na": None if rows else "no item has two annotators"}


def _consensus_without(study: LabelStudy, annotator: str) -> dict[Item, Values]:
    """Return the consensus of the others on each item that the annotator and another one labelled."""
    found = {}
    for item, given in study.annotated.by_item.items():
        others = [values for name, values in given.items() if name != annotator]
        if annotator in given and others:
            found[item] = consensus(others, study.rule)
    return found


def _against(
    study: LabelStudy, name: str, others: dict[Item, Values], labels: dict[Item, dict[str, Values]]
) -> PairsByItem:
    at = study.place
    return {
        item: (labels[item][name][at], values[at]) for item, values in others.items() if name in labels.get(item, {})
    }
