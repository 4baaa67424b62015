"""The two sides of a gate whose ledgers hold comparisons: rates of one generator against a common baseline.

Each side compares its generator with the baseline. Verdicts are paired by item, judge and order shown, so that neither
a judge nor the favour of the first place can make a difference.
"""

from collections import defaultdict
from fractions import Fraction

from normalizer.aggregate.eligibility import Levels
from normalizer.aggregate.summary import Options
from normalizer.calibration.labels import Values
from normalizer.errors import CannotRun
from normalizer.gate.sides import MUST_AGREE, Side
from normalizer.ledger.reader import Ledger
from normalizer.preferences.comparisons import DECIDED, Compared, facing
from normalizer.preferences.reading import read_comparisons
from normalizer.statistics.spread import mean_of

MEASURE = "rate"
"""The one measure of comparisons: the rate of the side's generator against the baseline, a draw being half a win."""
KEYS = (*MUST_AGREE, "criterion")
"""Keys whose levels must be the same on both sides."""


def read(name: str, ledger: Ledger, options: Options, baseline: str | None, mix: frozenset[str]) -> Side:
    """Read one side. Raises CannotRun without a baseline, with several generators against it, or with none."""
    found = read_comparisons([ledger], options.by, options.where, options.rules, split=KEYS)
    generator, rival = _generator(name, found, baseline)
    width = len(options.by)
    cells: dict[tuple[str, Levels], dict[str, list[Fraction]]] = defaultdict(lambda: defaultdict(list))
    own = []
    for levels, group in found.groups.items():
        for one in facing(group, generator, rival):
            if one.winner in DECIDED:
                judge = "" if "judge_model" in mix else one.judge or ""
                cells[one.item, levels[:width]][f"{one.first} {judge}"].append(one.score)
                own.append(one.self_judged)
    if not own:
        raise CannotRun(f"{name} has no decided comparison of {generator} with {rival}")
    if all(own):
        raise CannotRun(f"all records of {name} are self-judged, which must not be the sole basis of a verdict")
    items: dict[tuple[str, Levels], dict[str, Values]] = {
        at: {cell: (mean_of(scores),) for cell, scores in sorted(given.items())} for at, given in cells.items()
    }
    levels_of = {key: {levels[width + place] for levels in found.groups} for place, key in enumerate(KEYS)}
    return Side(name, items, frozenset(), {}, levels_of, None, found.left_out, found.records)


def _generator(name: str, found: Compared, baseline: str | None) -> tuple[str, str]:
    """Return the side's generator and the baseline."""
    names = sorted({each for group in found.groups.values() for one in group for each in (one.a, one.b)})
    if not names:
        raise CannotRun(f"{name} has no comparison that counts")
    if baseline is None:
        raise CannotRun(
            f"the ledgers hold comparisons: say with --baseline NAME what both sides were compared with; {name} has "
            f"{', '.join(names)}"
        )
    others = sorted({one.b for group in found.groups.values() for one in facing(group, baseline)})
    if len(others) != 1:
        told = f"compares {' and '.join(others)} with {baseline}" if others else f"has no comparison with {baseline}"
        raise CannotRun(
            f"{name} {told}: a side is one generator compared with the baseline, and its generators are "
            f"{', '.join(names)}; normalize the runs into ledgers of their own"
        )
    return others[0], baseline
