"""Verdicts of comparisons as labels: an item is a pair of answers, its value who was preferred.

The value is that of the generator whose name sorts first: 1 for a win, 1/2 for a draw, 0 for a loss; measures count it
in both directions, so that they do not depend on names. A judge that was
asked several times, in both orders or again, has preferred the answer that has more of its verdicts, a draw being half
of one; a judge that contradicts itself when the order is swapped has said a draw. `both_bad` and missing verdicts are
no labels.
"""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from normalizer.aggregate.eligibility import MIXABLE, Levels, Rules
from normalizer.aggregate.keys import INSTRUMENT
from normalizer.aggregate.summary import Options
from normalizer.calibration.identity import group_by_instrument
from normalizer.calibration.labels import Identities, Item, Labels, Values
from normalizer.ledger.reader import Ledger
from normalizer.preferences.comparisons import DECIDED, Compared, Comparison
from normalizer.preferences.reading import read_comparisons
from normalizer.statistics.spread import mean_of

MEASURE = "preference"
_Found = dict[Item, dict[str, list[Fraction]]]


class PreferenceLabels(NamedTuple):
    """The labels of models and of people, and what is in neither."""

    judged: Labels
    annotated: Labels
    gold_kinds: set[str]
    """The kinds of judges that gold is of."""
    flags: set[str]
    left_out: dict[str, int]
    records: int
    identities: Identities
    """The instruments of models, with the pairs of answers that each compared."""


def read(ledgers: list[Ledger], options: Options, models: Rules, people: Rules) -> PreferenceLabels:
    """Read the verdicts of models and of people. Raises CannotRun as `read_comparisons` does."""
    judged = read_comparisons(ledgers, options.by, options.where, models, split=INSTRUMENT)
    annotated = read_comparisons(ledgers, options.by, options.where, people, split=("judge_kind",))
    either = replace(models, judge_kinds=models.judge_kinds | people.judge_kinds, mix=frozenset(MIXABLE))
    every = read_comparisons(ledgers, options.by, options.where, either)
    width = len(options.by)
    return PreferenceLabels(
        _labels(judged, width),
        _labels(annotated, width),
        {str(levels[width]) for levels in annotated.groups},
        {*judged.flags, *annotated.flags},
        every.left_out,
        every.records,
        group_by_instrument(
            (one.judge, levels[width:], _name_item(one))
            for levels, comparisons in judged.groups.items()
            for one in comparisons
            if one.winner in DECIDED and one.judge is not None
        ),
    )


def _labels(found: Compared, width: int) -> Labels:
    whole: _Found = defaultdict(lambda: defaultdict(list))
    groups: dict[Levels, _Found] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    own: dict[tuple[Item, str], bool] = {}
    for levels, comparisons in found.groups.items():
        for one in comparisons:
            if one.winner not in DECIDED or one.judge is None:
                continue
            item = _name_item(one)
            for labels in (whole, groups[levels[:width]]):
                labels[item][one.judge].append(one.score if one.a < one.b else one.turn().score)
            label = item, one.judge
            own[label] = own.get(label, True) and one.self_judged
    by_group = {levels: _collect_preferences(labels) for levels, labels in groups.items()}
    return Labels(_collect_preferences(whole), by_group, frozenset(label for label, alone in own.items() if alone))


def _name_item(one: Comparison) -> Item:
    """Return the item of a comparison: what was asked, and the two answers in the order of their names."""
    pair = " against ".join(sorted((one.a, one.b)))
    return one.item, pair if one.criterion is None else f"{pair}, {one.criterion}"


def _collect_preferences(found: _Found) -> dict[Item, dict[str, Values]]:
    return {
        item: {judge: (_label(mean_of(scores)),) for judge, scores in sorted(found[item].items())}
        for item in sorted(found)
    }


def _label(mean: Fraction) -> Fraction:
    return Fraction(1, 2) if mean == Fraction(1, 2) else Fraction(mean > Fraction(1, 2))
